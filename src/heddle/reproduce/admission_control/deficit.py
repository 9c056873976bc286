"""Fig. 2: what should be reserved for tasks by equations (2) and (3), and what AMs leave; when (3) can decide."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import partial
from statistics import fmean

import numpy as np
import polars as pl

from heddle.model.cluster import Cluster
from heddle.model.resources import MILLI, VCORES_MILLI
from heddle.model.workload import AM
from heddle.reproduce.admission_control.rounds import Batch
from heddle.reproduce.admission_control.settings import MIXED, Rounds
from heddle.reproduce.claims import Table, mean_text
from heddle.reproduce.drawing import Curve, draw_curves
from heddle.reproduce.lab import Findings, Part, Work
from heddle.run import simulate

STEP_MS = 1000
RARELY_PCT = 5.0  # of the time: what happens less often is not seen in a makespan


def reserve(total: float, ams: float, n_ams: int, tasks: float, n_tasks: int) -> float:
    """Equation (2), and (3) once where AMs already hold more than is left."""
    if not n_ams or not n_tasks:
        return 0.0
    average_am, average_task = ams / n_ams, tasks / n_tasks
    wanted = total * average_task / (average_am + average_task)
    return wanted * (wanted + ams) / total if wanted + ams > total else wanted


def over_time(
    jobs: Batch, cluster: Cluster, total_vcores: int, policy: str, seed: int
) -> tuple[list[float], list[float], list[float]]:
    """Seconds, vcores that should be left for tasks, and vcores that AMs leave."""
    run = simulate(jobs.jobs(seed), cluster, policy, seed=seed, record=True)
    held = run.attempts.join(run.shapes, on="shape").select(
        is_am=pl.col("kind") == AM,
        start=pl.col("allocated_at_ms"),
        end=pl.col("ended_at_ms"),
        vcores=pl.col(VCORES_MILLI) / MILLI,
    )
    end = held["end"].fill_null(0).max()
    times = np.arange(0, int(end if isinstance(end, int) else 0) + 1, STEP_MS)
    wanted, left = [], []
    for now in times.tolist():
        alive = held.filter((pl.col("start") <= now) & (pl.col("end").is_null() | (pl.col("end") > now)))
        ams, tasks = alive.filter("is_am")["vcores"], alive.filter(~pl.col("is_am"))["vcores"]
        wanted.append(reserve(total_vcores, float(ams.sum()), len(ams), float(tasks.sum()), len(tasks)))
        left.append(total_vcores - float(ams.sum()))
    return (times / 1000).tolist(), wanted, left


def deficit(rounds: Rounds) -> Part:
    seeds = rounds.lab.scored(rounds.known["why.deficit_seeds"], 1)
    plan: dict[Hashable, Work] = {
        (member, seed): partial(
            over_time,
            rounds.batches[member, MIXED],
            rounds.cluster(member),
            rounds.total_vcores,
            rounds.controlled,
            seed,
        )
        for member in rounds.members
        for seed in seeds
    }
    found = yield plan
    kind = rounds.first_start[0]
    seconds, wanted, left = found[kind, seeds[0]]
    looks = {member: {seed: _looks(*found[member, seed][1:]) for seed in seeds} for member in rounds.members}
    rows = tuple(
        (member, *(mean_text({seed: look[place] for seed, look in of.items()}) for place in (0, 1)))
        for member, of in looks.items()
    )
    return Findings(
        drawings=[
            draw_curves(
                "Fig. 2: what should be left for tasks, and what is",
                "time (s)",
                "vcores",
                [Curve("equations (2), (3)", seconds, wanted), Curve("what AMs leave", seconds, left)],
                f"Mixed sizes, jobs: {kind}, one seed. Where the first is above the second, there is a "
                "deficit: AMs that run cannot be taken back, and no further one starts.",
            )
        ],
        tables=[
            Table(
                "Why: when equation (3) can decide",
                ("jobs", "seconds with a deficit (%)", "seconds just after one (%)"),
                rows,
                what_deficits_say(
                    *(fmean(look[place] for of in looks.values() for look in of.values()) for place in (0, 1))
                ),
            )
        ],
    )


def _looks(wanted: Sequence[float], left: Sequence[float]) -> tuple[float, float]:
    """In percent of all seconds: those with a deficit, and those without one that come just after one."""
    lacks = np.asarray(wanted) > np.asarray(left)
    return 100 * float(lacks.mean()), 100 * float((lacks[:-1] & ~lacks[1:]).sum() / max(1, len(lacks)))


def what_deficits_say(lacking_pct: float, after_pct: float) -> str:
    """While AMs hold too much, (2) alone lets none start; (3) is left with the second in which that ends."""
    text = (
        f"Mixed sizes, looked at once a second. AMs hold more than (2) leaves them for {lacking_pct:.1f} % of the "
        f"time; then none may start, with (3) or without. It can decide in the second after such a time, which is "
        f"{after_pct:.1f} % of all:"
    )
    if after_pct < RARELY_PCT:
        return f"{text} too little to show in a makespan."
    return f"{text} often enough to show, so that this is not why it does not."
