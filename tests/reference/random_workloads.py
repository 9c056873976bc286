"""Random small workloads with their clusters, for comparing simulators.

Sizes come from short lists, so that ties and contention are common. Every task fits the allowance of some node
that has its label.
"""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from heddle.model.cluster import Cluster
from heddle.model.workload import EXECUTORS, INNER, Workload
from heddle.traces.build import JobSpec, Profile, StageSpec, TaskSpec, Vector, build

from .features import Features
from .random_clusters import clusters

MEMORY_MB = (0, 256, 512, 1024, 1024, 2048)
VCORES_MILLI = (0, 500, 1000, 1000, 2000, 3000)
DURATIONS_MS = st.one_of(
    st.sampled_from((0, 500, 1000, 1000, 2000, 2500, 5000, 10_000, 20_000)), st.integers(0, 20_000)
)
SUBMISSIONS_MS = st.one_of(st.sampled_from((0, 0, 0, 500, 1000, 2000, 10_000)), st.integers(0, 20_000))


@st.composite
def pairs(draw: st.DrawFn, features: Features = Features()) -> tuple[Workload, Cluster]:  # noqa: B008
    """A workload and a cluster that can hold each of its tasks."""
    cluster = draw(clusters(features))
    maker = _JobMaker(draw, features, cluster)
    n_jobs = draw(st.integers(1, 8))
    jobs: list[JobSpec] = []
    for number in range(n_jobs):
        jobs.append(maker.job(number, jobs))
    return build("random", jobs, resources=cluster.resources), cluster


class _JobMaker:
    """Draws jobs that fit one cluster."""

    def __init__(self, draw: st.DrawFn, features: Features, cluster: Cluster) -> None:
        self.draw, self.features, self.cluster = draw, features, cluster
        parents = {queue.name.rpartition(".")[0] for queue in cluster.queues}
        self.leaves = [queue.name for queue in cluster.queues if queue.name not in parents and queue.name != "root"]

    def pick(self, *options: int) -> int:
        return self.draw(st.sampled_from(options))

    def job(self, number: int, before: list[JobSpec]) -> JobSpec:
        draw, features = self.draw, self.features
        after: tuple[str, ...] = ()
        if features.dag and before and draw(st.integers(0, 3)) == 0:
            after = (draw(st.sampled_from(before)).name,)
        has_am = features.ams and draw(st.integers(0, 3)) > 0
        stages = self.stages()
        iterative = self.pick(0, 0, 1) == 1
        if iterative:
            stages = [replace(stage, iteration=i // 2) for i, stage in enumerate(stages)]
        return JobSpec(
            f"job-{number}",
            draw(SUBMISSIONS_MS),
            stages,
            iterative=iterative,
            am=self.demand("", largest=3) if has_am else None,
            am_use=self.use(0)[0][1] if has_am and features.use and draw(st.booleans()) else None,
            queue=draw(st.sampled_from([*self.leaves, "root.new"])) if self.leaves else "root.default",
            user=draw(st.sampled_from(("ann", "bob", "cyd"))) if features.queues else "nobody",
            after=after,
            priority=self.pick(0, 0, 0, 1),
        )

    def stages(self) -> list[StageSpec]:
        kinds = ["plain"]
        kinds += ["early"] * 2 if self.features.early_stages else []
        kinds += ["executors"] * 2 if self.features.executors else []
        kind = self.draw(st.sampled_from(kinds))
        if kind == "early":
            return self.map_reduce()
        if kind == "executors":
            return self.spark()
        return self.plain(self.draw(st.integers(1, 3)), prefix="stage")

    def plain(self, n_stages: int, prefix: str) -> list[StageSpec]:
        stages: list[StageSpec] = []
        for i in range(n_stages):
            label = self.label()
            after = self.after(stages)
            stages.append(
                StageSpec(
                    f"{prefix}-{i}",
                    self.demand(label),
                    self.tasks(),
                    after=after,
                    after_bytes=self.sizes(len(after)),
                    shuffle_ms=self.pick(0, 0, 0, 500, 1500),
                    label=label,
                )
            )
        return stages

    def after(self, stages: list[StageSpec]) -> tuple[str, ...]:
        if not stages or not self.features.dag:
            return ()
        return tuple(sorted(self.draw(st.sets(st.sampled_from([stage.name for stage in stages]), max_size=2))))

    def map_reduce(self) -> list[StageSpec]:
        stages = self.plain(self.pick(1, 1, 2), prefix="map")
        before = tuple(stage.name for stage in stages)
        for i in range(self.pick(1, 1, 1, 2)):
            same = self.pick(0, 1) == 1  # Hadoop's defaults are equal
            label = stages[0].label if same else self.label()
            stages.append(
                StageSpec(
                    f"reduce-{i}",
                    stages[0].demand if same else self.demand(label),
                    self.tasks(),
                    after=before,
                    after_bytes=self.sizes(len(before)),
                    slow_start_permille=self.pick(0, 50, 500, 1000),
                    shuffle_ms=self.pick(0, 500, 2000),
                    label=label,
                )
            )
            before = self.pick(before, before, (f"reduce-{i}",))  # beside it, or after it
        return stages

    def spark(self) -> list[StageSpec]:
        label = self.label()
        executors = StageSpec(
            "executors",
            self.demand(label),
            [TaskSpec(0, self.profile(0) if self.draw(st.booleans()) else None)] * self.draw(st.integers(1, 4)),
            kind=EXECUTORS,
            slots=self.pick(1, 2, 3),
            idle_timeout_ms=self.pick(0, 500, 2000),
            label=label,
        )
        stages: list[StageSpec] = []
        nothing = (0,) * len(self.cluster.resources)
        for i in range(self.draw(st.integers(1, 2))):
            after, tasks = self.after(stages), self.tasks()
            sizes = self.sizes(len(after))
            stages.append(StageSpec(f"inner-{i}", nothing, tasks, after=after, after_bytes=sizes, kind=INNER))
        return [executors, *stages]

    def tasks(self) -> list[TaskSpec]:
        # Tasks of one stage often last equally long.
        same = self.draw(DURATIONS_MS)
        durations = [self.draw(st.one_of(st.just(same), DURATIONS_MS)) for _ in range(self.draw(st.integers(1, 5)))]
        recorded = self.features.use and self.pick(0, 1, 1, 1) == 1
        return [
            TaskSpec(duration, self.profile(duration) if recorded else None, self.host(), sum(self.sizes(1)))
            for duration in durations
        ]

    def sizes(self, count: int) -> tuple[int, ...]:
        """Bytes to move; a Mbit/s is 125 of them in a ms."""
        if not self.features.network:
            return ()
        return tuple(self.pick(0, 1, 1000, 250_000, 250_000, 999_999, 2_000_000) for _ in range(count))

    def host(self) -> str | None:
        if not self.features.locality or self.draw(st.booleans()):
            return None
        return self.draw(st.sampled_from([node.name for node in self.cluster.nodes] + ["elsewhere"]))

    def profile(self, duration_ms: int) -> Profile | None:
        return self.use(duration_ms) if self.features.use else None

    def use(self, duration_ms: int) -> Profile:
        # A task of no duration has no time in which its use could change.
        cuts = (
            self.draw(st.sets(st.sampled_from((1, 2500, 3333, 5000, 9000)), max_size=2)) if duration_ms > 0 else set()
        )
        extra = (0,) * (len(self.cluster.resources) - 2)
        return tuple(
            (until, (self.pick(0, 128, 256, 512, 1024, 1500), self.pick(0, 250, 500, 1000, 1500, 2500), *extra))
            for until in (*sorted(cuts), 10_000)
        )

    def label(self) -> str:
        has_red = any(node.label == "red" for node in self.cluster.nodes)
        return self.draw(st.sampled_from(("", "red"))) if has_red else ""

    def demand(self, label: str, largest: int = 6) -> Vector:
        """A reservation that one node with the label can promise in full."""
        hosts = [node for node in self.cluster.nodes if label == node.label]
        host = self.draw(st.sampled_from(hosts)).allowance
        wanted = (self.pick(*MEMORY_MB[:largest]), self.pick(*VCORES_MILLI[:largest]), self.pick(0, 0, 1, 2))
        return tuple(min(want, have) for want, have in zip(wanted, host, strict=False))
