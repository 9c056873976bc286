"""What is known of a real cluster at an instant, from what an observer has seen until then.

A task is a container, a stage the containers of one kind, as in live records. How many are still to come no
ResourceManager tells: of MapReduce the AM does; of Spark the driver, as far as it has submitted jobs, and then its
containers are executors in which the tasks of its stages run (in_executors.py); of others an application of the same
name that has ended stands for it, else nobody knows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from heddle.check.present import Present
from heddle.model.cluster import YARN, Cluster
from heddle.model.workload import TASKS
from heddle.record_workload import SLACK_MS
from heddle.run import Executor
from heddle.twin.in_executors import in_executors
from heddle.twin.known import Application, Running, Snapshot, Stage
from heddle.twin.spark_stages import SparkTold
from heddle.yarn.live.things_seen import Ask, Size
from heddle.yarn.observe.history import MAPREDUCE
from heddle.yarn.observe.live_record import Kind, stage_name
from heddle.yarn.observe.merging import with_histories
from heddle.yarn.observe.outcomes import NOT_KNOWN, outcome_of
from heddle.yarn.observe.seen import AppLife, ContainerLife, Seen

MAP, REDUCE, AGAIN = "map", "reduce", "map again"
EARLY_REDUCES: Final = 50  # permille of maps after which reduces are asked for: MapReduce's default
SMALLEST_AM: Final[Size] = (1024, 1000)

Totals = Mapping[str, Mapping[str, int]]  # application -> stage -> tasks in all, as its AM tells


@dataclass(frozen=True)
class _Stretch:
    """A stage as seen, with the times that say what came before what."""

    stage: Stage
    first_ask_ms: int
    last_end_ms: int


@dataclass
class Watched:
    """`asks`: what applications wait for now; None: as far as it shows from containers that came later (a record)."""

    seen: Seen
    present: Present
    totals: Totals = field(default_factory=dict)
    asks: Mapping[str, Sequence[Ask]] | None = None
    masters: Mapping[str, Size] = field(default_factory=dict)  # of those that wait to start
    spark: Mapping[str, SparkTold] = field(default_factory=dict)
    spark_stages: Mapping[str, int] = field(default_factory=dict)  # that each had when it last told

    executor: Executor = "yarn-knobs"

    def __post_init__(self) -> None:
        self._seen = with_histories(self.seen)
        self._hosts = {node.name for node in self.present.cluster.nodes}
        self._of_app: dict[str, list[ContainerLife]] = defaultdict(list)
        for life in self._seen.containers.values():
            self._of_app[life.app].append(life)

    @property
    def cluster(self) -> Cluster:
        """Containers count from allocation to end: what comes between is part of their work."""
        return replace(self.present.cluster, timing=replace(YARN, launch_ms=0))

    @property
    def ended_ms(self) -> dict[str, int | None]:
        return {app.id: app.ended_at_ms for app in self._seen.apps.values()}

    def at(self, now_ms: int) -> Snapshot:
        """What was known then. Applications of queues that are gone are left out."""
        came = [app for app in self._seen.apps.values() if app.submitted_at_ms <= now_ms]
        present = self.present.with_queues_made_for(app.queue for app in came)
        apps = [(app, leaf) for app in came if (leaf := present.leaf(app.queue)) is not None]
        over = [self._application(app, leaf, now_ms, {}) for app, leaf in apps if _is_over(app, now_ms)]
        kin: dict[tuple[str, str], Application] = {}
        for one in sorted(over, key=lambda one: one.ended_at_ms or 0):
            if one.stages:
                kin[one.kind] = one
        live = [self._application(app, leaf, now_ms, kin) for app, leaf in apps if not _is_over(app, now_ms)]
        cluster = replace(self.cluster, queues=present.cluster.queues)
        return Snapshot(cluster, present.policy, max(0, now_ms - self._seen.began_ms), tuple(over + live))

    def _application(
        self, life: AppLife, leaf: str, now_ms: int, kin: Mapping[tuple[str, str], Application]
    ) -> Application:
        over = _is_over(life, now_ms)
        here = [one for one in self._of_app[life.id] if one.began_at_ms <= now_ms]
        masters = [one for one in here if one.is_am]
        running = [one for one in masters if _runs(one, now_ms)]
        app = Application(
            id=life.id, name=life.name, queue=leaf, user=life.user, submitted_at_ms=life.submitted_at_ms - now_ms,
            ended_at_ms=(life.ended_at_ms or 0) - now_ms if over else None,
            master=masters[-1].size if masters else self.masters.get(life.id, SMALLEST_AM),
            master_runs=self._running(running[-1], now_ms, 0) if running and not over else None,
        )  # fmt: skip
        if not over and not running:
            return replace(app, counted=False)
        stages = self._stages(life, [one for one in here if not one.is_am], now_ms, over)
        if over:
            return replace(app, stages=stages)
        return self._in_executors(app, stages, now_ms, kin) or self._counted(app, life, stages, kin.get(app.kind))

    def _in_executors(
        self, app: Application, stages: tuple[Stage, ...], now_ms: int, kin: Mapping[tuple[str, str], Application]
    ) -> Application | None:
        """By the stages that its driver tells; None: those of its name that have ended know better, or nobody."""
        told, past = self.spark.get(app.id), kin.get(app.kind)
        if told is None or (past is not None and self.spark_stages.get(past.id, 0) > len(told.stages)):
            return None
        made = in_executors(stages, told, now_ms)
        return None if made is None else replace(app, stages=made, in_part=True)

    def _stages(self, life: AppLife, here: Sequence[ContainerLife], now_ms: int, over: bool) -> tuple[Stage, ...]:
        kinds: dict[tuple[int, Size], list[ContainerLife]] = defaultdict(list)
        for one in here:
            kinds[one.priority, one.size].append(one)
        asked = self._asked(life.id, now_ms) if not over else {}
        for kind in asked:
            kinds.setdefault(kind, [])
        found: list[_Stretch] = []
        for kind in sorted(kinds, key=lambda kind: (-kind[0], kind[1])):
            maps_end_ms = max((one.last_end_ms for one in found), default=0) if life.kind == MAPREDUCE else 0
            found.append(self._stretch(life, kind, kinds[kind], asked.get(kind, 0), now_ms, maps_end_ms))
        if life.kind == MAPREDUCE:
            return _map_reduce([one.stage for one in found])
        return tuple(
            replace(one.stage, after=tuple(n for n, other in enumerate(found) if _is_before(other, one)))
            for one in found
        )

    def _stretch(
        self,
        life: AppLife,
        kind: tuple[int, Size],
        some: Sequence[ContainerLife],
        left: int,
        now_ms: int,
        maps_end_ms: int,
    ) -> _Stretch:
        """`maps_end_ms`: a reduce that began before has only held its container until then."""
        ended = [one for one in some if not _runs(one, now_ms)]
        well = [one for one in ended if int(outcome_of(one, life)) in (0, NOT_KNOWN)]
        name = stage_name(Kind(life.id, False, *kind), life)
        since_ms = maps_end_ms if name == REDUCE else 0
        stage = Stage(
            name=name, kind=TASKS, demand=self._sized(kind[1]), left=left,
            finished_ms=tuple(max(1, (one.ended_at_ms or 0) - max(one.began_at_ms, since_ms)) for one in well),
            running=tuple(self._running(one, now_ms, since_ms) for one in some if _runs(one, now_ms)),
        )  # fmt: skip
        first = min((one.asked_at_ms for one in some), default=now_ms)
        return _Stretch(stage, first, now_ms if len(ended) < len(some) or left else _last_ms(ended))

    def _counted(
        self, app: Application, life: AppLife, stages: tuple[Stage, ...], kin: Application | None
    ) -> Application:
        """With the tasks that are still to come, as its AM tells or as one of its name had."""
        told = self.totals.get(life.id)
        if told is not None:
            return replace(app, stages=_with_totals(stages, told))
        if kin is None:
            return replace(app, stages=stages, counted=False)
        known = {stage.name for stage in stages}
        grown = [
            replace(stage, left=max(stage.left, _count(kin, stage.name) - len(stage.finished_ms) - len(stage.running)))
            for stage in stages
        ]
        later = [stage for stage in kin.stages if stage.name not in known]
        place = {stage.name: number for number, stage in enumerate((*stages, *later))}
        for stage in later:
            after = tuple(place[kin.stages[one].name] for one in stage.after if kin.stages[one].name in place)
            grown.append(replace(stage, finished_ms=(), running=(), left=stage.n_tasks, after=after))
        return replace(app, stages=tuple(grown))

    def _asked(self, app: str, now_ms: int) -> dict[tuple[int, Size], int]:
        found: dict[tuple[int, Size], int] = defaultdict(int)
        if self.asks is not None:
            for ask in self.asks.get(app, ()):
                found[ask.priority, ask.size] += ask.containers
        else:
            for one in self._of_app[app]:
                if not one.is_am and one.asked_at_ms <= now_ms < one.began_at_ms:
                    found[one.priority, one.size] += 1
        return {kind: count for kind, count in found.items() if count}

    def _running(self, life: ContainerLife, now_ms: int, since_ms: int) -> Running:
        host = life.node.partition(":")[0]
        return Running(host if host in self._hosts else life.node, now_ms - max(life.began_at_ms, since_ms))

    def _sized(self, size: Size) -> tuple[int, ...]:
        return (*size, *[0] * (len(self.present.cluster.resources) - len(size)))


def _map_reduce(stages: Sequence[Stage]) -> tuple[Stage, ...]:
    """Reduces may start early, and then hold their containers until the last map has ended."""
    maps = tuple(number for number, stage in enumerate(stages) if stage.name in (MAP, AGAIN))
    return tuple(
        replace(stage, after=maps, slow_start_permille=EARLY_REDUCES) if stage.name == REDUCE and maps else stage
        for stage in stages
    )


def _with_totals(stages: tuple[Stage, ...], told: Mapping[str, int]) -> tuple[Stage, ...]:
    made = list(stages)
    for name, total in told.items():
        place = next((number for number, stage in enumerate(made) if stage.name == name), None)
        if place is not None:
            stage = made[place]
            made[place] = replace(stage, left=max(0, total - len(stage.finished_ms) - len(stage.running)))
        elif total and made:  # not asked for yet: as large as what is
            after = tuple(number for number, stage in enumerate(made) if stage.name in (MAP, AGAIN))
            early = EARLY_REDUCES if name == REDUCE else -1
            made.append(Stage(name, TASKS, made[0].demand, left=total, after=after, slow_start_permille=early))
    return tuple(made)


def _count(app: Application, name: str) -> int:
    return sum(stage.n_tasks for stage in app.stages if stage.name == name)


def _is_over(app: AppLife, now_ms: int) -> bool:
    return app.ended_at_ms is not None and app.ended_at_ms <= now_ms


def _runs(life: ContainerLife, now_ms: int) -> bool:
    return life.ended_at_ms is None or life.ended_at_ms > now_ms


def _is_before(one: _Stretch, other: _Stretch) -> bool:
    return one is not other and one.last_end_ms - SLACK_MS <= other.first_ask_ms and one.last_end_ms < other.last_end_ms


def _last_ms(some: Sequence[ContainerLife]) -> int:
    return max((one.ended_at_ms or 0 for one in some), default=0)
