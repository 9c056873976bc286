"""A stage without any task is done as soon as it could run: nobody waits for it for ever."""

from __future__ import annotations

import pytest

from heddle.model.cluster import Cluster, Node
from heddle.model.workload import EXECUTORS, INNER
from heddle.policy.parse import parse_policy
from heddle.sim import codes
from heddle.sim.run import run_engine
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build

ONE = (1024, 1000)
SECOND = TaskSpec(1000)


def ends_at(stages: list[StageSpec], am: tuple[int, int] | None = None) -> int:
    """When a job of these stages ends, alone and at once; -1: it does not."""
    cluster = Cluster((Node("node", (4096, 8000), (4096, 8000)),))
    ended = run_engine(build("empty", [JobSpec("job", 0, stages, am=am)]), cluster, parse_policy("fifo"), 0, False)
    return int(ended.sim.job_run["ended_at_ms"][0]) if ended.status == codes.FINISHED else -1


@pytest.mark.parametrize("am", [None, (512, 1000)])
def test_stages_behind_empty_ones_run(am: tuple[int, int] | None) -> None:
    stages = [
        StageSpec("first", ONE, [SECOND]),
        StageSpec("empty", ONE, [], after=("first",)),
        StageSpec("empty too", ONE, [], after=("empty",)),
        StageSpec("last", ONE, [SECOND], after=("empty too", "first")),
    ]
    assert ends_at(stages, am) == ends_at([stages[0], StageSpec("last", ONE, [SECOND], after=("first",))], am) > 0


def test_empty_stages_at_the_beginning_and_whatever_their_order() -> None:
    stages = [
        StageSpec("last", ONE, [SECOND], after=("empty too",)),
        StageSpec("empty too", ONE, [], after=("empty",)),
        StageSpec("empty", ONE, []),
    ]
    assert ends_at(stages) == ends_at(stages[::-1]) == 1000


def test_a_job_of_nothing_else_ends_when_it_begins() -> None:
    assert ends_at([StageSpec("empty", ONE, []), StageSpec("empty too", ONE, [], after=("empty",))]) == 0


def test_reduces_behind_no_maps_and_no_reduces_behind_maps() -> None:
    maps, reduces = StageSpec("map", ONE, [SECOND]), StageSpec("reduce", ONE, [SECOND], after=("map",))
    early = StageSpec("reduce", ONE, [SECOND], after=("map",), slow_start_permille=50)
    assert ends_at([StageSpec("map", ONE, []), early]) == ends_at([StageSpec("map", ONE, []), reduces]) == 1000
    assert ends_at([maps, StageSpec("reduce", ONE, [], after=("map",), slow_start_permille=50)]) == 1000


def test_inner_stages_without_tasks() -> None:
    nothing = (0, 0)
    stages = [
        StageSpec("executors", ONE, [TaskSpec(0)], kind=EXECUTORS),
        StageSpec("empty", nothing, [], kind=INNER),
        StageSpec("inner", nothing, [SECOND], kind=INNER, after=("empty",)),
    ]
    assert ends_at(stages) == 1000
