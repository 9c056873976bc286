"""A synthetic workload fitted to a trace, and how well it fits (docs/traces/tools.md).

Gaps between submissions, tasks per job and durations are lognormal with a chance of 0; reservations are drawn from
those of the trace by how often jobs have them, and use is the share of the reservation that tasks of that shape had.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from heddle.model.errors import BadInput
from heddle.model.workload import INNER, NO_SEGMENTS, TASKS, Workload
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build, constant

_MOST_TASKS: Final = 2_000_000
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Lognormal:
    """With probability `zero` 0, else exp of a normal, not beyond the largest value that was seen."""

    zero: float
    mu: float
    sigma: float
    largest: float

    @classmethod
    def fitted(cls, values: Floats) -> Lognormal:
        positive = values[values > 0]
        if not len(positive):
            return cls(1.0, 0.0, 0.0, 0.0)
        logs = np.log(positive)
        return cls(1 - len(positive) / len(values), float(logs.mean()), float(logs.std()), float(positive.max()))

    def draw(self, random: np.random.Generator, n: int) -> Floats:
        drawn = np.minimum(np.exp(random.normal(self.mu, self.sigma, n)), self.largest) if self.largest else np.zeros(n)
        return np.where(random.uniform(size=n) < self.zero, 0.0, drawn)


@dataclass(frozen=True)
class Observed:
    """What is compared: one array of values for each quantity."""

    gap_s: Floats
    tasks_per_job: Floats
    duration_s: Floats
    memory_mb: Floats
    vcores: Floats

    @classmethod
    def of(cls, workload: Workload) -> Observed:
        stages = workload.stages
        works = np.isin(stages["kind"], (TASKS, INNER))
        per_job = np.bincount(stages["job"], stages["n_tasks"] * works, workload.n_jobs)
        stage = np.repeat(np.arange(len(stages)), stages["n_tasks"])
        own = works[stage]
        shape = workload.shapes[stages["shape"][stage[own]]]
        return cls(
            np.diff(workload.jobs["submit_at_ms"]) / 1000,
            per_job.astype(np.float64),
            workload.tasks["duration_ms"][own] / 1000,
            shape[:, 0].astype(np.float64),
            shape[:, 1] / 1000,
        )


def fit(workload: Workload, jobs: int | None, seed: int) -> tuple[Workload, dict[str, Any]]:
    """(a workload of as many jobs as asked for, or as the trace has; what was fitted and how well)."""
    if workload.n_jobs < 2:
        raise BadInput.of(workload.name, "one job is not enough to fit a distribution")
    seen = Observed.of(workload)
    gaps, counts, durations = (Lognormal.fitted(part) for part in (seen.gap_s, seen.tasks_per_job, seen.duration_s))
    n_jobs = jobs or workload.n_jobs
    random = np.random.default_rng(seed)
    n_tasks = np.maximum(1, np.round(counts.draw(random, n_jobs))).astype(np.int64)
    if n_tasks.sum() > _MOST_TASKS:
        raise BadInput.of("--jobs", f"would make {int(n_tasks.sum())} tasks; at most {_MOST_TASKS} are made")
    submit_ms = np.round(1000 * np.cumsum(np.concatenate([[0.0], gaps.draw(random, n_jobs - 1)]))).astype(np.int64)
    shapes, weights, shares = _shapes(workload)
    chosen = random.choice(len(shapes), n_jobs, p=weights)
    length_ms = np.round(1000 * durations.draw(random, int(n_tasks.sum()))).astype(np.int64)
    made = []
    place = 0
    for number in range(n_jobs):
        shape, share = shapes[chosen[number]], shares[chosen[number]]
        use = None if share is None else constant(*(round(amount * float(share[r])) for r, amount in enumerate(shape)))
        tasks = [TaskSpec(int(length), use) for length in length_ms[place : place + int(n_tasks[number])]]
        place += int(n_tasks[number])
        made.append(JobSpec(f"fitted-{number}", int(submit_ms[number]), [StageSpec("tasks", shape, tasks)]))
    parameters = {
        name: vars(one) for name, one in (("gap_s", gaps), ("tasks_per_job", counts), ("duration_s", durations))
    }
    about = {"source": "fit", "of": workload.name, "seed": seed, "parameters": parameters}
    fitted = build(f"fitted-{workload.name}", made, workload.resources, about)
    return fitted, {"parameters": parameters, "tests": tests(seen, Observed.of(fitted))}


def _shapes(workload: Workload) -> tuple[list[tuple[int, ...]], Floats, list[Floats | None]]:
    """(reservations, how often jobs have them in their largest stage, mean share used of each or None)."""
    stages = workload.stages
    own = np.flatnonzero(stages["kind"] == TASKS)
    if not len(own):
        raise BadInput.of(workload.name, "has no plain tasks (executors only): nothing to fit reservations to")
    order = own[np.lexsort((own, -stages["n_tasks"][own].astype(np.int64), stages["job"][own]))]
    largest = order[np.unique(stages["job"][order], return_index=True)[1]]
    numbers, counts = np.unique(stages["shape"][largest], return_counts=True)
    shape_of_task = np.repeat(stages["shape"], stages["n_tasks"])
    first = workload.tasks["first_segment"]
    shares: list[Floats | None] = []
    for number in numbers.tolist():
        mine = first[(shape_of_task == number) & (first != NO_SEGMENTS)]
        reserved = np.maximum(1, workload.shapes[number])
        shares.append(workload.segments["use"][mine].mean(axis=0) / reserved if len(mine) else None)
    return [tuple(workload.shapes[number].tolist()) for number in numbers], counts / counts.sum(), shares


def tests(one: Observed, other: Observed) -> dict[str, dict[str, float]]:
    """Two-sample Kolmogorov-Smirnov tests: the largest distance of the two distributions, and its p-value."""
    return {name: kolmogorov_smirnov(vars(one)[name], vars(other)[name]) for name in vars(one)}


def kolmogorov_smirnov(one: Floats, other: Floats) -> dict[str, float]:
    """The distance and the asymptotic probability of one as large if both came from the same distribution."""
    one, other = np.sort(one), np.sort(other)
    every = np.concatenate([one, other])
    below = np.searchsorted(one, every, side="right") / len(one) - np.searchsorted(other, every, side="right") / len(
        other
    )
    distance = float(np.abs(below).max())
    effective = np.sqrt(len(one) * len(other) / (len(one) + len(other)))
    scaled = (effective + 0.12 + 0.11 / effective) * distance
    k = np.arange(1, 101)
    probability = 2 * float(np.sum((-1.0) ** (k - 1) * np.exp(-2 * (k * scaled) ** 2))) if scaled > 0.2 else 1.0
    return {"distance": distance, "p": min(1.0, max(0.0, probability)), "n": float(len(one)), "m": float(len(other))}
