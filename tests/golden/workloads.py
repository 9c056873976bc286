"""A random small workload for a cluster: sizes from short lists, so that ties and contention are common."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from heddle.model.cluster import Cluster
from heddle.model.workload import AM, EXECUTORS, INNER, NOT_RUNNING, TASKS, Workload
from heddle.traces.build import JobSpec, Profile, StageSpec, TaskSpec, Vector, build

from .clusters import POOL_LEAVES
from .draws import Draws

LONG_AGO_MS = 30_000  # by now every master that was started then is ready


def workload(draws: Draws, features: frozenset[str], cluster: Cluster) -> Workload:
    maker = _Maker(draws, features, cluster)
    jobs: list[JobSpec] = []
    for number in range(draws.between(1, 8)):
        jobs.append(maker.job(number, jobs))
    made = build("golden", jobs, resources=cluster.resources, about={})
    return _begun(draws, made, cluster, "sized" in features) if "begun" in features else made


class _Maker:
    def __init__(self, draws: Draws, features: frozenset[str], cluster: Cluster) -> None:
        self.draws, self.features, self.cluster = draws, features, cluster
        self.pick = draws.pick
        parents = {queue.name.rpartition(".")[0] for queue in cluster.queues}
        self.leaves = [
            queue.name for queue in cluster.queues if queue.name not in {"root", *parents, *POOL_LEAVES}
        ]  # "root" alone has no leaf of its own

    def job(self, number: int, before: list[JobSpec]) -> JobSpec:
        draws, has_am = self.draws, "ams" in self.features and self.draws.often(750)
        follows = "jobs-after-jobs" in self.features and before and draws.often(250)
        stages, iterative = self.stages(), draws.often(300)
        return JobSpec(
            name=f"job-{number}",
            submit_at_ms=self.pick(0, 0, 0, 500, 1000, 2000, 10_000, draws.between(0, 20_000)),
            stages=[replace(stage, iteration=i // 2 if iterative else 0) for i, stage in enumerate(stages)],
            am=self.demand("", largest=3) if has_am else None,
            am_use=self.use(0)[0][1] if has_am and "use" in self.features and draws.often(500) else None,
            queue=self.pick(*self.leaves, "root.new") if self.leaves else "root.default",
            user=self.pick("ann", "bob", "cyd") if self.leaves else "nobody",
            after=(self.pick(*before).name,) if follows else (),
            priority=self.pick(0, 0, 0, 1),
            iterative=iterative,
        )

    def stages(self) -> list[StageSpec]:
        kinds = [kind for kind in ("early", "early", "executors", "executors") if kind in self.features]
        kind = self.pick("plain", *kinds)
        if kind == "plain":
            return self.chain("stage", self.draws.between(1, 3))
        if kind == "early":
            maps = self.chain("map", self.pick(1, 1, 2))
            slow_start, shuffle_ms = self.pick(0, 50, 500, 1000), self.pick(0, 500, 2000)
            after = tuple(stage.name for stage in maps)
            return [*maps, replace(self.stage("reduce", after, slow_start), shuffle_ms=shuffle_ms)]
        idle = TaskSpec(0, self.profile(0) if self.draws.often(500) else None, None, 0)
        executors = replace(
            self.stage("executors", ()),
            tasks=[idle] * self.draws.between(1, 4),
            kind=EXECUTORS,
            slots=self.pick(1, 2, 3),
            idle_timeout_ms=self.pick(0, 500, 2000),
            shuffle_ms=0,
        )
        nothing = (0,) * len(self.cluster.resources)
        inner = self.chain("inner", self.draws.between(1, 2))
        return [executors, *(replace(stage, kind=INNER, demand=nothing, label="", shuffle_ms=0) for stage in inner)]

    def chain(self, prefix: str, count: int) -> list[StageSpec]:
        stages: list[StageSpec] = []
        for i in range(count):
            names = [stage.name for stage in stages] if "dag" in self.features else []
            stages.append(self.stage(f"{prefix}-{i}", self.draws.some(names, most=2)))
        return stages

    def stage(self, name: str, after: tuple[str, ...], slow_start_permille: int = -1) -> StageSpec:
        labelled = any(node.label == "red" for node in self.cluster.nodes)
        label = self.pick("", "red") if labelled else ""
        return StageSpec(
            name=name,
            demand=self.demand(label),
            tasks=self.tasks(),
            after=after,
            kind=TASKS,
            slow_start_permille=slow_start_permille,
            shuffle_ms=self.pick(0, 0, 0, 500, 1500),
            slots=1,
            idle_timeout_ms=0,
            iteration=0,
            label=label,
            after_bytes=tuple(self.bytes() for _ in after),
        )

    def tasks(self) -> list[TaskSpec]:
        recorded = self.draws.often(750)
        same = self.duration()  # tasks of one stage often last equally long
        durations = [self.pick(same, self.duration()) for _ in range(self.draws.between(1, 5))]
        return [
            TaskSpec(duration, self.profile(duration) if recorded else None, self.host(), self.bytes())
            for duration in durations
        ]

    def duration(self) -> int:
        if "preemption" in self.features and self.draws.often(600):
            return self.pick(8000, 15_000, 15_000)
        return self.pick(0, 500, 1000, 1000, 2000, 2500, 5000, 10_000, 20_000, self.draws.between(0, 20_000))

    def bytes(self) -> int:
        return self.pick(0, 1, 1000, 250_000, 250_000, 999_999, 2_000_000) if "network" in self.features else 0

    def host(self) -> str | None:
        if "locality" not in self.features or self.draws.often(500):
            return None
        return self.pick(*(node.name for node in self.cluster.nodes), "elsewhere")

    def profile(self, duration_ms: int) -> Profile | None:
        return self.use(duration_ms) if "use" in self.features else None

    def use(self, duration_ms: int) -> Profile:
        # A task of no duration has no time in which its use could change.
        cuts = self.draws.some((1, 2500, 3333, 5000, 9000), most=2) if duration_ms > 0 else ()
        more = (0,) * (len(self.cluster.resources) - 2)
        return tuple(
            (until, (self.pick(0, 128, 256, 512, 1024, 1500), self.pick(0, 250, 500, 1000, 1500, 2500), *more))
            for until in (*cuts, 10_000)
        )

    def demand(self, label: str, largest: int = 6) -> Vector:
        """A reservation that one node with the label can promise in full."""
        host = self.pick(*(node for node in self.cluster.nodes if label in ("", node.label)))
        memory = self.pick(*(0, 256, 512, 1024, 1024, 2048)[:largest])
        vcores = self.pick(*(0, 500, 1000, 1000, 2000, 3000)[:largest])
        return tuple(min(pair) for pair in zip((memory, vcores, self.pick(0, 0, 1, 2)), host.allowance, strict=False))


def _begun(draws: Draws, made: Workload, cluster: Cluster, oversold: bool) -> Workload:
    """Jobs that were submitted by 0 may have a master, and containers of their first stage, when the run begins.

    Unless `oversold`, they fit: a node that holds more than its allowance promises more, which is not for class A.
    """
    left = {node.name: np.array(node.allowance) * (1000 if oversold else 1) for node in cluster.nodes}
    running_on = np.full(len(made.tasks), NOT_RUNNING, np.int32)
    started_at_ms = np.zeros(len(made.tasks), np.int64)
    hosts = {name: number for number, name in enumerate(made.hosts)}
    for job in made.jobs:
        if job["submit_at_ms"] > 0 or job["n_after"] > 0 or draws.often(300):
            continue
        for stage in made.stages[job["first_stage"] : job["first_stage"] + 1 + job["has_am"]]:
            label, first = made.labels[stage["label"]], int(stage["first_task"])
            shape = made.shapes[stage["shape"]]
            for task in range(first, first + draws.between(1, int(stage["n_tasks"]))):
                fit = [
                    node.name
                    for node in cluster.nodes
                    if label in ("", node.label) and (left[node.name] >= shape).all()
                ]
                if not fit:
                    break
                name = draws.pick(*fit)
                left[name] -= shape
                running_on[task] = hosts.setdefault(name, len(hosts))
                started_at_ms[task] = -LONG_AGO_MS if stage["kind"] == AM else -draws.pick(0, 1, 700, 4000)
    return replace(made, running_on=running_on, started_at_ms=started_at_ms, hosts=tuple(hosts))
