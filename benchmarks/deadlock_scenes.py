"""Runs in which application masters fill the cluster, or do not: drawn from a seed, with other work before and between.

A *ramp* submits its jobs over five to ten minutes, evenly or ever faster, a *sudden* storm within ten seconds; both end
in the AM deadlock. A *quiet* run does not, whatever comes: nothing but ordinary work, more of it, a burst that fills
part of the room for AMs, a ramp that ends at half of that room at most, or a storm that an AM share holds back. A
*halted* ramp ends at 60 to 95 % of the room: until it does, it looks like one that goes on. Draws are repeated until
the run ends as it should: with the deadlock within half an hour, which is as far as the twin looks ahead, or well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import polars as pl

from heddle.model.cluster import YARN, Cluster
from heddle.model.workload import Workload
from heddle.record.run import Run
from heddle.run import simulate
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build
from heddle.traces.clusters import uniform_cluster

Family = Literal["ramp", "sudden", "quiet", "halted"]
FAMILIES: Final[tuple[Family, ...]] = ("ramp", "sudden", "quiet", "halted")
QUIET: Final = ("calm", "busy", "burst", "short ramp", "held back")  # in turn
STORM: Final = "rebuild"  # a name of its own
ORDINARY: Final = ("etl", "report", "scan")
_DEADLOCK: Final = "am-deadlock"
_TRIES: Final = 200
HORIZON_MS: Final = 30 * 60_000  # as far as the twin looks ahead
_QUIET_FOR_S: Final = 240.0  # after the last of a burst or a ramp


@dataclass(frozen=True)
class Scene:
    """`storm_at_ms`: the submissions of its storm, burst or ramp, in order.

    `told_until_ms`: work goes on for another horizon, so that it is known whether what was told until then came true.
    """

    family: Family
    kind: str
    workload: Workload
    cluster: Cluster
    policy: str
    specs: tuple[JobSpec, ...]
    storm_at_ms: tuple[int, ...]
    told_until_ms: int
    ended: Run

    @property
    def is_stuck(self) -> bool:
        return _ends_stuck(self.ended)

    @property
    def stuck_ms(self) -> int | None:
        """When the last AM found room; None: it does not end in the deadlock."""
        still_held = self.ended.attempts.filter(pl.col("ended_at_ms").is_null())
        return int(still_held["allocated_at_ms"].to_numpy().max()) if self.is_stuck else None

    @property
    def ends_as_it_should(self) -> bool:
        if self.family not in ("ramp", "sudden"):
            return self.ended.manifest["reason"] is None
        return self.stuck_ms is not None and self.stuck_ms - self.storm_at_ms[0] <= HORIZON_MS

    def with_the_first(self, count: int) -> bool:
        """Whether the run would end in the deadlock if nobody came after so many submissions."""
        return _ends_stuck(simulate(build("scene", self.specs[:count]), self.cluster, self.policy))


def scene(family: Family, number: int, seed: int) -> Scene:
    """The first draw of this number that ends as the family says."""
    for attempt in range(_TRIES):
        drawn = _draw(family, number, np.random.default_rng((seed, FAMILIES.index(family), number, attempt)))
        if drawn.ends_as_it_should:
            return drawn
    raise RuntimeError(f"no {family} run of number {number} in {_TRIES} draws")


def _draw(family: Family, number: int, random: np.random.Generator) -> Scene:
    kind = QUIET[number % len(QUIET)] if family == "quiet" else family
    nodes = int(random.integers(3, 8))
    node_mb = 8192 * int(random.integers(1, 3))
    share = 1.0 if kind != "held back" else float(random.choice((0.2, 0.3, 0.5)))
    if kind in ("ramp", "sudden"):
        share = float(random.choice((0.9, 1.0)))
    policy = f"{random.choice(('fair', 'capacity+leaf-order(default=fair)'))}+am-share(percent={share})"
    cluster = uniform_cluster(nodes, node_mb, node_mb // 512, timing=YARN, name="scene")
    storm_s = float(random.uniform(400, 900))
    am_mb = 512 * int(random.integers(2, 7))
    room = nodes * (node_mb // am_mb)  # of AMs alone
    spread_s = float(random.uniform(300, 600)) if kind in ("ramp", "short ramp", "halted", "held back") else 10.0
    size = {
        "calm": 0.0,
        "busy": 0.0,
        "burst": random.uniform(0.3, 0.8),
        "short ramp": random.uniform(0.2, 0.5),
        "halted": random.uniform(0.6, 0.95),
        "held back": random.uniform(1.2, 2.5),
        "ramp": random.uniform(1.5, 4.0),
        "sudden": random.uniform(1.1, 2.5),
    }[kind]
    load = float(random.uniform(0.5, 0.8) if kind == "busy" else random.uniform(0.1, 0.5))
    told_until_s = storm_s + spread_s + _QUIET_FOR_S
    jobs = _ordinary(random, load * nodes * node_mb, told_until_s + HORIZON_MS / 1000)
    name = STORM if random.random() < 0.5 else str(random.choice(ORDINARY))
    growth = random.uniform(0.5, 1.0) if "ramp" in kind or kind == "halted" else 1.0
    at_s = np.sort(storm_s + spread_s * random.random(round(size * room)) ** growth)
    task_mb, tasks = 512 * int(random.integers(2, 9)), int(random.integers(2, 9))
    jobs += [
        _job(random, f"{name}-9{place:04d}", at, am_mb, task_mb, tasks, float(random.uniform(20, 90)))
        for place, at in enumerate(at_s.tolist())
    ]
    specs = tuple(sorted(jobs, key=lambda job: job.submit_at_ms))
    workload = build("scene", specs)
    ended = simulate(workload, cluster, policy, record=True)
    storm_at_ms = tuple(round(1000 * at) for at in at_s)
    return Scene(family, kind, workload, cluster, policy, specs, storm_at_ms, round(1000 * told_until_s), ended)


def _ordinary(random: np.random.Generator, load_mb: float, end_s: float) -> list[JobSpec]:
    """Work that keeps so much memory busy on average; jobs of a name resemble each other."""
    kinds = {
        name: (
            512 * int(random.integers(1, 4)), 512 * int(random.integers(2, 7)), int(random.integers(2, 13)),
            float(random.uniform(20, 60)),
        )
        for name in ORDINARY
    }  # fmt: skip
    jobs, at_s, count = [], 0.0, 0
    while at_s < end_s:
        name = str(random.choice(ORDINARY))
        am_mb, task_mb, tasks, mean_s = kinds[name]
        work_mb_s = tasks * task_mb * mean_s + 1.5 * am_mb * mean_s
        jobs.append(_job(random, f"{name}-{count:04d}", at_s, am_mb, task_mb, tasks, mean_s))
        at_s += float(random.exponential(work_mb_s / load_mb))
        count += 1
    return jobs


def _job(
    random: np.random.Generator, name: str, at_s: float, am_mb: int, task_mb: int, tasks: int, mean_s: float
) -> JobSpec:
    lasts = [TaskSpec(max(1000, round(1000 * s))) for s in random.lognormal(np.log(mean_s), 0.4, tasks).tolist()]
    return JobSpec(name, round(1000 * at_s), [StageSpec("work", (task_mb, 1000), lasts)], am=(am_mb, 1000), user="ann")


def _ends_stuck(ended: Run) -> bool:
    return str(ended.manifest["reason"]).startswith(_DEADLOCK)
