"""A stand-in for the authors' day of tasks, which is not public: made to meet every fact that they published about it.

Each container is a job of its own, as in the authors' simulator: tasks are independent there, AMs tasks like others.
Every property has its own stream of random numbers: days that differ in one property are alike in all others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from heddle.model.resources import BASE_RESOURCES, MILLI
from heddle.model.workload import PERMYRIAD, Workload, segment_dtype
from heddle.traces.synthetic.arrivals import poisson_at_ms, span_for_load_ms
from heddle.traces.synthetic.one_stage import one_stage_jobs

Column = npt.NDArray[Any]
Levels = tuple[tuple[int, float], ...]  # until so many permyriad of the work, this part of the peak
ALL_AT_ONCE: Final = 0.0  # a load without end: everything is submitted at the beginning

# Names of the streams of random numbers, in an order that must not change.
_STREAMS: Final = ("jobs", "sizes", "durations", "memory", "cpu", "masters", "arrivals")


@dataclass(frozen=True)
class Day:
    """The tasks of one day; what was not published and had to be chosen are its fields."""

    tasks: int
    load: float  # reserved memory that arrives over what the nodes allow; ALL_AT_ONCE
    median_s: float  # of the tasks of careless users
    sizes: tuple[tuple[int, float], ...]  # MB that careless users reserve, and which part of jobs
    careful_mb: int
    levels: Levels  # use of memory over a task's life
    reservation: Literal["users", "extreme-fit"]
    allowed_mb: int  # of all nodes: what `load` is measured by
    fit_steps: tuple[int, int]  # MB and millicores to which an exact reservation is rounded up
    facts: tuple[tuple[str, float], ...]  # calibration, from the constants

    def jobs(self, seed: int) -> Workload:
        columns = self.columns(seed)
        reserved, duration_ms = self._reserved(columns), columns["duration_ms"]
        shapes, shape = np.unique(reserved, axis=0, return_inverse=True)
        random = _stream(seed, "arrivals")
        order = random.permutation(columns["n_jobs"])[columns["job"]]  # jobs in any order, their tasks together
        if self.load == ALL_AT_ONCE:
            submit_at_ms = np.zeros(len(duration_ms), np.int64)
        else:
            work_mb_ms = float((reserved[:, 0] * duration_ms).sum())
            span_ms = span_for_load_ms((work_mb_ms,), (float(self.allowed_mb),), self.load)
            submit_at_ms = poisson_at_ms(random, columns["n_jobs"], span_ms)[order]
        by_time = np.argsort(order, kind="stable")
        return one_stage_jobs(
            "usage-feedback-day",
            {"generator": "reproduce usage-feedback", "seed": seed, "parameters": repr(self)},
            submit_at_ms=submit_at_ms[by_time],
            n_tasks=1,
            shape=shape.reshape(-1)[by_time],
            shapes=shapes,
            duration_ms=duration_ms[by_time],
            user=columns["user"][by_time],
            users=[f"user-{number}" for number in range(int(self._fact("users")))],
            use=_use(self.levels, columns["peak_mb"][by_time], columns["vcores_milli"][by_time]),
        )

    def columns(self, seed: int) -> dict[str, Any]:
        """The properties of each container, jobs one after another."""
        fact = self._fact
        of_peak = mean_over_peak(self.levels)
        random = _stream(seed, "jobs")
        n_jobs = max(1, round(self.tasks / fact("containers_per_job")))
        careful = random.permutation(n_jobs) < fact("careful_jobs") * n_jobs
        n_tasks = random.integers(1, round(2 * fact("containers_per_job")) - 2, n_jobs)  # the AM comes on top
        n_careful, n_users = int(fact("careful_users")), int(fact("users"))
        user = np.where(careful, random.integers(0, n_careful, n_jobs), random.integers(n_careful, n_users, n_jobs))
        each = n_tasks + 1
        job = np.repeat(np.arange(n_jobs), each)
        is_am = np.zeros(len(job), bool)
        is_am[np.cumsum(each) - each] = True
        of_careful = careful[job] & ~is_am

        random = _stream(seed, "sizes")
        careless_mb = random.choice([mb for mb, _ in self.sizes], n_jobs, p=[part for _, part in self.sizes])
        reserved_mb = np.where(careful, self.careful_mb, careless_mb)[job]
        reserved_mb[is_am] = int(fact("am_mb"))

        random = _stream(seed, "durations")
        median_s = np.where(of_careful, self.median_s * fact("careful_longer"), self.median_s)
        sigma = np.where(of_careful, fact("careful_sigma"), fact("sigma"))
        duration_s = median_s * np.exp(sigma * random.normal(size=len(job)))
        duration_s = np.clip(duration_s, fact("shortest_s"), fact("longest_s"))
        longest = np.zeros(n_jobs)
        np.maximum.at(longest, job[~is_am], duration_s[~is_am])
        duration_s[is_am] = np.minimum(longest + fact("am_longer_s"), fact("longest_s"))

        random = _stream(seed, "memory")
        level = np.where(
            careful,
            random.uniform(fact("careful_low"), fact("careful_high"), n_jobs),
            random.beta(2.0, 12.0, n_jobs) * fact("careless_spread") + fact("careless_low"),
        )
        share = np.clip(level[job] * random.uniform(0.8, 1.2, len(job)), 0.01, of_peak)
        hungry = ~of_careful & ~is_am & (random.random(len(job)) < fact("hungry"))
        share[hungry] = random.uniform(0.5, of_peak, int(hungry.sum()))

        random = _stream(seed, "cpu")
        greedy = random.random(len(job)) < fact("greedy")
        cpu = np.where(greedy, 1.0 + random.beta(1.0, 3.0, len(job)), random.uniform(0.2, 1.0, len(job)))

        random = _stream(seed, "masters")
        n_ams = int(is_am.sum())
        share[is_am] = random.uniform(0.1, fact("am_highest"), n_ams) * of_peak  # its peak stays below
        cpu[is_am] = random.uniform(0.02, 0.2, n_ams)
        return {
            "n_jobs": n_jobs,
            "job": job,
            "user": user[job],
            "is_am": is_am,
            "reserved_mb": reserved_mb,
            "duration_ms": np.rint(duration_s * 1000).astype(np.int64),
            "share": share,
            "peak_mb": np.maximum(1, np.rint(reserved_mb * share / of_peak)).astype(np.int64),
            "vcores_milli": np.maximum(1, np.rint(cpu * MILLI)).astype(np.int64),
        }

    def _reserved(self, columns: Mapping[str, Any]) -> Column:
        """What each container reserves: what its user said, or exactly its maximum (V-B)."""
        if self.reservation == "users":
            vcores = np.full(len(columns["job"]), MILLI)
            return np.stack([columns["reserved_mb"], vcores], axis=1)
        return fitting(np.stack([columns["peak_mb"], columns["vcores_milli"]], axis=1), self.fit_steps)

    def _fact(self, name: str) -> float:
        return dict(self.facts)[name]


def published_facts(columns: Mapping[str, Any]) -> dict[str, float]:
    """What the authors published about their day, computed of this one."""
    reserved = columns["reserved_mb"] * columns["duration_ms"]
    used = reserved * columns["share"]
    job, user, duration_s = columns["job"], columns["user"], columns["duration_ms"] / 1000
    by_job = np.bincount(job, used) / np.bincount(job, reserved)
    users = np.bincount(user, reserved)
    by_user = np.bincount(user, used)[users > 0] / users[users > 0]
    return {
        "containers": float(len(job)),
        "containers_per_job": len(job) / columns["n_jobs"],
        "containers_p90": float(np.quantile(columns["share"], 0.9)),
        "jobs_p90": float(np.quantile(by_job, 0.9)),
        "users_below_35": float((by_user < 0.35).mean()),
        "am_most": float((columns["peak_mb"] / columns["reserved_mb"])[columns["is_am"]].max()),
        "cpu_below_1": float((columns["vcores_milli"] < MILLI).mean()),
        "cpu_most": float(columns["vcores_milli"].max() / MILLI),
        "used_of_reserved": float(used.sum() / reserved.sum()),
        "from_10_to_100_s": float(((duration_s >= 10) & (duration_s <= 100)).mean()),
        "shortest_s": float(duration_s.min()),
        "longest_s": float(duration_s.max()),
    }


def fitting(peak: Column, steps: tuple[int, int]) -> Column:
    """Reservations that just hold the peaks: rounded up, because a scheduler with 18,000 different requests crawls."""
    rounded: Column = -(-peak // np.array(steps)) * np.array(steps)
    return rounded


def _stream(seed: int, name: str) -> np.random.Generator:
    return np.random.default_rng([_STREAMS.index(name), seed])


def mean_over_peak(levels: Sequence[tuple[int, float]]) -> float:
    """Of use over a task's life."""
    starts = [0, *(until for until, _ in levels[:-1])]
    return sum((until - start) * part for start, (until, part) in zip(starts, levels, strict=True)) / PERMYRIAD


def _use(levels: Levels, peak_mb: Column, vcores_milli: Column) -> Column:
    """The levels of each task, one task after another."""
    n = len(levels)
    segments = np.zeros(n * len(peak_mb), segment_dtype(len(BASE_RESOURCES)))
    for place, (until, part) in enumerate(levels):
        segments["use"][place::n, 0] = np.maximum(1, np.rint(peak_mb * part))
        segments["use"][place::n, 1] = vcores_milli
        segments["until_permyriad"][place::n] = until
    segments["last"][n - 1 :: n] = 1
    return segments
