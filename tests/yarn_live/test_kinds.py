"""Early reduces and rounds, as far as applications tell: then HaSTE knows on a live cluster what it knows simulated."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from heddle.policy.parse import parse_policy
from heddle.run import simulate
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build
from heddle.traces.clusters import load_cluster
from heddle.yarn.live.controller import Controller
from heddle.yarn.live.kinds import Kind, Kinds, kinds_of, tags_of
from heddle.yarn.testbed.replay.plan import replay_jobs

from .conftest import Clock
from .fake_cluster import FakeApp
from .fake_rm import FakeRm

POLICY = "haste(initial=false)"
SIZE = (1024, 1000)
SIZE_SEEN = (1024, 1)  # whole vcores
MAPS, REDUCES = 20, 10  # priorities
STAGES = {"map": MAPS, "reduce": REDUCES}
SLOW_START, RAMP_UP = 50, 500  # per mille, Hadoop's
Task = tuple[int, int, int, int]  # job, priority, allocated and ended at


def mapreduce(name: str, maps: int, reduces: int, longer_ms: int) -> JobSpec:
    of_maps, of_reduces = ([TaskSpec(1000 + longer_ms * n) for n in range(many)] for many in (maps, reduces))
    stages = [
        StageSpec("map", SIZE, of_maps),
        StageSpec("reduce", SIZE, of_reduces, after=("map",), slow_start_permille=SLOW_START),
    ]
    return JobSpec(name, 0, stages, am=(1, 0))


class Shown:
    """A simulated run of two MapReduce jobs, shown to a live controller event by event."""

    def __init__(self, rm: FakeRm, controller: Controller, clock: Clock, kind: str) -> None:
        self._rm, self._controller, self._clock = rm, controller, clock
        jobs = [mapreduce("a", 30, 9, 37), mapreduce("b", 24, 8, 53)]
        run = simulate(build("two", jobs), load_cluster("1x9218x9"), parse_policy(POLICY), seed=0)
        priorities = {
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
        self._asked = dict.fromkeys(range(len(jobs)), 0)  # reduces so far

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
                stage = min(keys, key=lambda stage: (keys[stage], stage))
                chosen = int(live.view.stage_spec["job"][stage]), live.priority_of(stage)
                found.append((chosen == self._tasks[given[0]][:2], REDUCES in map(live.priority_of, keys)))
            for number in given:
                job, priority = self._tasks[number][:2]
                self._held[number] = self._rm.allocate(self._apps[job], "a:1", *SIZE_SEEN, priority)
            self._look(now_ms, given=True)  # a container that comes and goes between two looks is never seen
        return found

    def _look(self, now_ms: int, *, given: bool) -> dict[int, int]:
        """`given`: what is given out in this instant has been."""
        for job, app in enumerate(self._apps):
            begun = [task for task in self._tasks if task[0] == job and task[2] < now_ms + given]
            of = {kind: [task for task in self._tasks if task[:2] == (job, kind)] for kind in (MAPS, REDUCES)}
            waiting = {kind: len(of[kind]) - sum(task[1] == kind for task in begun) for kind in (MAPS, REDUCES)}
            self._asked[job] = max(self._asked[job], self._may_ask(now_ms, of[MAPS], waiting[MAPS], begun, given))
            waiting[REDUCES] -= max(0, len(of[REDUCES]) - self._asked[job])
            app.asks = [(kind, *SIZE_SEEN, many) for kind, many in waiting.items() if many > 0]
        return dict(self._controller.step().plan.request_keys or {})

    @staticmethod
    def _may_ask(now_ms: int, maps: list[Task], waiting: int, begun: list[Task], given: bool) -> int:
        """How many reduces MapReduce's AM asks for: docs/semantics.md, early stages."""
        done = sum(task[3] <= now_ms for task in maps)
        if waiting == 0 and not given:  # it looks after the offer in which the last one went
            return len(maps)
        if done * 1000 < SLOW_START * len(maps):
            return 0
        held = sum(task[3] > now_ms for task in begun)
        return min(done * 1000 // len(maps), RAMP_UP) * held // 1000


def test_a_mapreduce_job_is_ordered_as_in_the_simulator(
    rm: FakeRm, control: Callable[..., Controller], clock: Clock
) -> None:
    found = Shown(rm, control(POLICY, shadow=True), clock, "MAPREDUCE").decisions()
    assert sum(reduces for _, reduces in found) >= 10
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
    assert [job.tags for job in jobs] == [("heddle-kinds:2r",), ("heddle-kinds:1i0.2ri1",), ()]
