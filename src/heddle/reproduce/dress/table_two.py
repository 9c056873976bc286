"""Table II: makespan, waits and completions of all Spark jobs against Capacity."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from heddle.reproduce import verdicts
from heddle.reproduce.claims import Claim
from heddle.reproduce.dress.compared import Mixes, Results, all_jobs, by_member, sooner, unless_stalled
from heddle.reproduce.dress.jobs import Kind
from heddle.reproduce.job_times import Floats, JobResults


def table_two(given: Mixes, runs: Results, policy: str) -> list[Claim]:
    known = given.known
    where: tuple[Kind, float] = ("spark", known["jobs.small_share"])
    makespan = sooner(given, runs, where, policy, all_jobs(lambda run: run.makespan_s))
    later = {member: {seed: -value for seed, value in seeds.items()} for member, seeds in makespan.items()}
    claims = [
        Claim(
            "II.1",
            "The makespan remains stable (Spark)",
            f"{known['claims.makespan_pct']:+g} %",
            "% change",
            unless_stalled(given, runs, where, policy, verdicts.sameness(later)),
            by_member(later),
        )
    ]
    rows: list[tuple[str, Callable[[JobResults], float], float]] = [
        ("mean wait", lambda run: _mean(run.wait_s), known["claims.mean_wait_sooner_pct"]),
        ("median wait", lambda run: _median(run.wait_s), known["claims.median_wait_sooner_pct"]),
        ("mean completion", lambda run: _mean(run.completion_s), known["claims.mean_completion_sooner_pct"]),
        ("median completion", lambda run: _median(run.completion_s), known["claims.median_completion_sooner_pct"]),
    ]
    for number, (what, of, paper) in enumerate(rows, 2):
        values = sooner(given, runs, where, policy, all_jobs(of))
        claims.append(
            Claim(
                f"II.{number}",
                f"The {what} of all jobs becomes shorter (Spark)",
                f"{paper:g} % shorter",
                "%",
                unless_stalled(given, runs, where, policy, verdicts.effect(values, paper)),
                by_member(values),
            )
        )
    return claims


def _mean(values: Floats) -> float:
    return float(np.mean(values))


def _median(values: Floats) -> float:
    return float(np.median(values))
