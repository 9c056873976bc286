"""Early reduces and rounds, as far as applications tell: then HaSTE knows on a live cluster what it knows simulated."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest

from heddle.policy.parse import parse_policy
from heddle.run import simulate
from heddle.sim.run import Run
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build
from heddle.traces.clusters import load_cluster
from heddle.yarn.live.controller import Controller
from heddle.yarn.live.kinds import Kind, Kinds, kinds_of, tags_of
from heddle.yarn.testbed.replay.plan import replay_jobs

from .conftest import Clock
from .fake_cluster import FakeApp
from .fake_rm import FakeRm

POLICY = "haste(initial=false,hold_reduces=true)"  # reduces wait for maps of their own job
SIZE = (1024, 1000)
SIZE_SEEN = (1024, 1)  # whole vcores
MAPS, REDUCES = 20, 10  # priorities
STAGES = {"map": MAPS, "reduce": REDUCES}
Task = tuple[int, int, int, int]  # job, priority, allocated and ended at


def mapreduce(name: str, maps: int, reduces: int, longer_ms: int) -> JobSpec:
    of_maps, of_reduces = ([TaskSpec(1000 + longer_ms * n) for n in range(many)] for many in (maps, reduces))
    stages = [
        StageSpec("map", SIZE, of_maps),
        StageSpec("reduce", SIZE, of_reduces, after=("map",), slow_start_permille=50),
    ]
    return JobSpec(name, 0, stages, am=(1, 0))


class Shown:
    """A simulated run of two MapReduce jobs, shown to a live controller event by event."""

    def __init__(self, rm: FakeRm, controller: Controller, clock: Clock, kind: str) -> None:
        self._rm, self._controller, self._clock = rm, controller, clock
        jobs = [mapreduce("a", 30, 9, 37), mapreduce("b", 24, 8, 53)]
        given = build("two", jobs), load_cluster("1x9218x9"), parse_policy(POLICY)
        run = simulate(*given, seed=0)
        self._again = Run(*given, 0, False)  # tells how many requests wait at each instant
        self._again.engine.start(self._again.handle)
        priorities = self._priorities = {
            stage: STAGES[name] for stage, name in run.stages.select("stage", "name").iter_rows() if name in STAGES
        }
        told = run.attempts.select("job", "stage", "allocated_at_ms", "ended_at_ms").sort("allocated_at_ms", "stage")
        self._tasks = [(job, priorities[stage], *at) for job, stage, *at in told.iter_rows() if stage in priorities]
        self._held: dict[int, str] = {}
        rm.add_node("a:1", 9218, 9)
        self._apps: list[FakeApp] = [rm.add_app() for _ in jobs]
        for app in self._apps:
            rm.start_am(app, "a:1", 1, 0)
            app.state, app.kind = "RUNNING", kind

    def decisions(self) -> list[tuple[bool, bool]]:
        """Of each instant in which one container was given out, and others waited: whether live the same request would
        have had it, and whether reduces waited.
        """
        found = []
        for now_ms in sorted({at for task in self._tasks for at in task[2:]}):
            self._clock.now_ms = now_ms
            for number, task in enumerate(self._tasks):
                if task[3] == now_ms:
                    self._rm.end_container(self._held.pop(number))
            keys = self._look(now_ms, given=False)
            given = [number for number, task in enumerate(self._tasks) if task[2] == now_ms]
            live = self._controller.live
            if len(given) == 1 and len(keys) > 1:
                asked = {stage: (int(live.view.stage_spec["job"][stage]), live.priority_of(stage)) for stage in keys}
                chosen = min((keys[stage], *of) for stage, of in asked.items())[1:]  # of equals by turn: reduces first
                found.append((chosen == self._tasks[given[0]][:2], REDUCES in map(live.priority_of, keys)))
            for number in given:
                job, priority = self._tasks[number][:2]
                self._held[number] = self._rm.allocate(self._apps[job], "a:1", *SIZE_SEEN, priority)
            self._look(now_ms, given=True)  # a container that comes and goes between two looks is never seen
        return found

    def _look(self, now_ms: int, *, given: bool) -> dict[int, int]:
        """`given`: what is given out in this instant has been."""
        self._again.go_on(now_ms)
        rows = self._again.sim.shown
        waiting = Counter() if given else Counter(task[:2] for task in self._tasks if task[2] == now_ms)
        for stage, priority in self._priorities.items():
            waiting[int(rows.stage_spec["job"][stage]), priority] += int(rows.stage["waiting"][stage])
        for job, app in enumerate(self._apps):
            app.asks = [(kind, *SIZE_SEEN, waiting[job, kind]) for kind in (MAPS, REDUCES) if waiting[job, kind]]
        return dict(self._controller.step().plan.request_keys or {})


def test_a_mapreduce_job_is_ordered_as_in_the_simulator(
    rm: FakeRm, control: Callable[..., Controller], clock: Clock
) -> None:
    found = Shown(rm, control(POLICY, shadow=True), clock, "MAPREDUCE").decisions()
    assert sum(reduces for _, reduces in found) >= 5
    assert all(same for same, _ in found)


def test_whose_reduces_nobody_can_tell_are_ordered_otherwise(
    rm: FakeRm, control: Callable[..., Controller], clock: Clock
) -> None:
    found = Shown(rm, control(POLICY, shadow=True), clock, "ANOTHER").decisions()
    assert not all(same for same, reduces in found if reduces)


@pytest.mark.parametrize(
    ("kind", "tags", "told"),
    [
        ("MAPREDUCE", "", Kinds({10: Kind(early=True)})),
        ("SPARK", "", Kinds()),
        ("HEDDLE", "mine,heddle-kinds:2ri0,heddle-kinds:3i1", Kinds({2: Kind(True), 3: Kind(False, 1)}, True)),
        ("HEDDLE", "heddle-kinds:2r", Kinds({2: Kind(True)})),
        ("MAPREDUCE", "heddle-kinds:x.-3.7q", Kinds()),
    ],
)  # fmt: skip
def test_what_types_and_tags_tell(kind: str, tags: str, told: Kinds) -> None:
    assert kinds_of(kind, tags) == told


def test_tags_say_what_they_were_made_of_as_far_as_yarn_allows() -> None:
    kinds = Kinds({priority: Kind(priority % 2 == 0, priority // 2) for priority in range(1, 60)}, iterative=True)
    tags = tags_of(kinds)
    assert len(tags) > 1
    assert max(map(len, tags)) <= 100
    assert kinds_of("HEDDLE", ",".join(tags)) == kinds
    assert tags_of(Kinds()) == []
    assert len(tags_of(Kinds({priority: Kind(True) for priority in range(1000)}))) == 10


def test_a_replayed_job_tells_its_kinds() -> None:
    early = mapreduce("early", 2, 1, 0)
    maps, reduces = early.stages
    rounds = JobSpec("rounds", 0, [maps, replace(reduces, iteration=1)], am=(1, 0), iterative=True)
    jobs, _ = replay_jobs(build("replayed", [early, rounds, JobSpec("plain", 0, [maps], am=(1, 0))]))
    assert [job.tags for job in jobs] == [("heddle-kinds:1r",), ("heddle-kinds:1ri1.2i0",), ()]
