"""Predicted against true release: equations (2) and (3) replayed on a recorded run, second by second.

The lever's own functions are fed with the starts and ends of containers; what they expect for the next second stands
beside what was really released in it. Both are compared in windows of the length that the paper uses.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt
import polars as pl

from heddle.model.cluster import Cluster
from heddle.model.resources import ONE
from heddle.model.workload import AM, INNER
from heddle.policy.lever import State
from heddle.policy.levers.dress_phases import PHASES, ROUND_MS, count_trailing, ends, job_release, starts
from heddle.record.run import Run
from heddle.reproduce import verdicts
from heddle.reproduce.claims import Claim
from heddle.reproduce.drawing import Curve, draw_curves
from heddle.reproduce.dress.compared import Mixes
from heddle.reproduce.dress.jobs import Kind, Twenty, paper_cluster
from heddle.reproduce.lab import Findings, Part, Work
from heddle.run import simulate

Floats = npt.NDArray[np.float64]
CONTAINER = ONE // 100  # all containers are equal here: any amount serves
SEEN_ABOVE = 5  # the paper's t_s and t_e


@dataclass(frozen=True)
class Release:
    """Containers released in each second: as predicted a second before, by (3) as printed, and truly."""

    predicted: Floats
    printed: Floats
    true: Floats


def release_of(run: Run, window_ms: int) -> Release:
    """What the phases of all jobs predict, replayed on the containers of a run."""
    tasks = run.attempts.filter(~pl.col("kind").is_in([AM, INNER])).filter(pl.col("ended_at_ms").is_not_null())
    events = sorted(
        [(at, 1, task, job) for task, job, at in tasks.select("task", "job", "allocated_at_ms").iter_rows()]
        + [(at, 0, task, job) for task, job, at in tasks.select("task", "job", "ended_at_ms").iter_rows()]
    )  # at one instant ends come before starts, as in the simulator
    jobs = State(job=PHASES).zeroed("job", run.jobs.height, n_resources=0)
    phase_of: dict[int, int] = {}
    seconds = events[-1][0] // ROUND_MS + 2
    predicted, printed, true = np.zeros(seconds), np.zeros(seconds), np.zeros(seconds)
    place = 0
    for second in range(seconds - 1):
        now_ms = second * ROUND_MS
        while place < len(events) and events[place][0] <= now_ms:
            at_ms, is_start, task, job = events[place]
            if is_start:
                phase_of[task] = starts(jobs[job], CONTAINER, at_ms, window_ms, SEEN_ABOVE)
            else:
                ends(jobs[job], phase_of.pop(task), CONTAINER, at_ms, window_ms, SEEN_ABOVE)
                true[-(-at_ms // ROUND_MS)] += 1
            place += 1
        for job in jobs:
            count_trailing(job, now_ms, window_ms)
        for values, literal in ((predicted, False), (printed, True)):
            values[second + 1] = sum(job_release(job, now_ms, window_ms, literal) for job in jobs) / CONTAINER
    return Release(predicted, printed, true)


def measure(jobs: Twenty, cluster: Cluster, policy: str, seed: int, window_ms: int) -> Release:
    return release_of(simulate(jobs.jobs(seed), cluster, policy, seed=seed, record=True), window_ms)


def release(given: Mixes) -> Part:
    cluster, known = paper_cluster(given.known), given.known
    window_ms = round(1000 * known["release.window_s"])
    kinds: tuple[Kind, ...] = ("spark", "map-reduce")
    of_kind = {kind: given.workloads[given.members_of(kind)[-1], kind, known["jobs.small_share"]] for kind in kinds}
    plan: dict[Hashable, Work] = {
        (kind, seed): partial(measure, of_kind[kind], cluster, given.dress, seed, window_ms)
        for kind in kinds
        for seed in given.seeds
    }
    found = yield plan
    seen = {kind: {seed: _seen_pct(found[kind, seed]) for seed in given.seeds} for kind in kinds}
    match: dict[str, dict[int, float]] = {
        kind: {seed: _correlation(found[kind, seed], known["release.window_s"]) for seed in given.seeds}
        for kind in kinds
    }
    printed = {
        kind: {
            seed: _correlation(
                replace(found[kind, seed], predicted=found[kind, seed].printed), known["release.window_s"]
            )
            for seed in given.seeds
        }
        for kind in kinds
    }
    unannounced = {
        kind: {seed: unannounced_pct(found[kind, seed], known["release.window_s"]) for seed in given.seeds}
        for kind in kinds
    }
    by_kind = "; ".join(
        f"{kind}: correlation {np.mean(list(match[kind].values())):.2f} (by (3) as printed "
        f"{np.mean(list(printed[kind].values())):.2f}), predicted in all "
        f"{np.mean(list(seen[kind].values())):.0f} % of what was released; "
        f"{np.mean(list(unannounced[kind].values())):.0f} % came in windows for which nothing was predicted"
        for kind in kinds
    )
    return Findings(
        claims=[
            Claim(
                "release",
                "Releases are predicted from phases",
                "no number given",
                "correlation",
                verdicts.not_judged(match),
                f"Predicted and true releases in windows of {known['release.window_s']:g} s. {by_kind}.",
            )
        ],
        drawings=[
            draw_curves(
                f"Predicted and true release: {kind}", "time (s)", "containers released so far",
                [
                    Curve("true", list(range(len(one.true))), np.cumsum(one.true).tolist()),
                    Curve("predicted", list(range(len(one.predicted))), np.cumsum(one.predicted).tolist(), dashed=True),
                ],
                "One seed; a prediction is for the next second.",
            )
            for kind, one in ((kind, found[kind, given.seeds[0]]) for kind in kinds)
        ],
    )  # fmt: skip


def _correlation(one: Release, window_s: float) -> float:
    """Of what was predicted and released in windows; 0 where one of them never changes."""
    predicted, true = _in_windows(one, window_s)
    if predicted.std() == 0 or true.std() == 0:
        return 0.0
    return float(np.corrcoef(predicted, true)[0, 1])


def unannounced_pct(one: Release, window_s: float) -> float:
    """The part of what was released in windows for which nothing had been predicted."""
    predicted, true = _in_windows(one, window_s)
    return 100 * float(true[predicted == 0].sum() / max(1.0, true.sum()))


def _in_windows(one: Release, window_s: float) -> tuple[Floats, Floats]:
    width = round(window_s)
    length = len(one.true) // width * width
    predicted, true = (values[:length].reshape(-1, width).sum(axis=1) for values in (one.predicted, one.true))
    return predicted, true


def _seen_pct(one: Release) -> float:
    return 100 * float(one.predicted.sum() / one.true.sum())
