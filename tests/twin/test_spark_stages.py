"""What Spark's drivers tell of their stages, and what the twin makes of it; answers have the shapes of real ones.

`spark_shapes.json` holds the shapes of a real driver's (Spark 4.1.4); tests/yarn_real/test_spark.py compares them with
a running one, and can make them anew.
"""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from heddle.model.workload import EXECUTORS, INNER
from heddle.twin.forecast import forecast
from heddle.twin.known import contradictions
from heddle.twin.masters import CALLS_AT_ONCE, Masters
from heddle.twin.rollouts import Candidate
from heddle.twin.spark_stages import SparkStage, SparkTold
from heddle.twin.watched import Watched
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.things_seen import Ask
from twin.test_watched import BIG, NEW, NOW_MS, OLD, OLD_TASKS, PRESENT, app, container, live, seen
from yarn_live.fake_rm import FakeRm
from yarn_live.shapes import shape_of

RECORDED = json.loads(Path(__file__).with_name("spark_shapes.json").read_text())


def stage(number: int, status: str, tasks: int, done: int, attempt: int = 0) -> dict[str, Any]:
    row: dict[str, Any] = {
        "stageId": number, "attemptId": attempt, "status": status, "name": f"sort at mine.py:{number}",
        "numTasks": tasks, "numCompleteTasks": done, "executorRunTime": 3000 * done,
    }  # fmt: skip
    if done:
        row["taskMetricsDistributions"] = {"duration": [95.0, 95.0, 95.0], "executorRunTime": [1000.0, 2000.0, 6000.0]}
    return row


def answers() -> dict[str, Any]:
    """Two stages in succession, the first of them in its second attempt; one was skipped."""
    return {
        "executors": [{"id": "driver", "maxTasks": 0}, {"id": "1", "maxTasks": 2}],
        "stages": [
            stage(3, "PENDING", 4, 0), stage(2, "FAILED", 6, 3), stage(2, "ACTIVE", 6, 3, 1),
            stage(1, "SKIPPED", 6, 0), stage(0, "COMPLETE", 2, 2),
        ],
        "stages/2/1/taskList": [
            {"launchTime": "1970-01-01T00:01:35.500GMT", "status": "RUNNING"},
            {"launchTime": "1970-01-01T00:01:00.000GMT", "status": "SUCCESS"},
        ],
    }  # fmt: skip


def served(rm: FakeRm, said: dict[str, Any], app: str = "a") -> None:
    for page, answer in said.items():
        rm.instead[f"/proxy/{app}/api/v1/applications/{app}/{page}"] = (200, json.dumps(answer))


def asked(said: dict[str, Any]) -> dict[str, SparkTold]:
    with FakeRm() as rm, RmClient(rm.address, timeout_s=60) as client:
        served(rm, said)
        masters = Masters(client)
        masters.ask([], ["a"])
        return masters.spark


def test_a_driver_tells_its_stages() -> None:
    told = asked(answers())["a"]
    assert told.slots == 2
    assert told.stages == (
        SparkStage(0, "sort at mine.py:0", 2, 2, (1000, 2000, 6000), (), True),
        SparkStage(2, "sort at mine.py:2", 6, 3, (1000, 2000, 6000), (95_500,), False),
        SparkStage(3, "sort at mine.py:3", 4, 0, (), (), False),
    )


def test_the_answers_have_the_shapes_of_real_ones() -> None:
    for page, answer in answers().items():
        recorded = RECORDED["tasks" if page.endswith("taskList") else page]
        said = shape_of(answer)
        assert {path: said[path] for path in said if recorded.get(path) != said[path]} == {}, page


def test_older_sparks_tell_no_spread_but_a_mean() -> None:
    said = answers()
    for row in said["stages"]:
        row.pop("taskMetricsDistributions", None)
    assert asked(said)["a"].stages[0].took_ms == (3000,)


@pytest.mark.parametrize(
    ("page", "field", "value"),
    [
        ("stages", "stageId", "one"),
        ("stages", "attemptId", None),
        ("stages", "numTasks", -1),
        ("stages", "numTasks", 10**12),
        ("stages", "status", "DREAMING"),
        ("stages", "name", ["a"]),
        ("stages", "taskMetricsDistributions", {"executorRunTime": "long"}),
        ("stages", "taskMetricsDistributions", {"executorRunTime": [float("nan")]}),
        ("executors", "maxTasks", {}),
        ("stages/2/1/taskList", "launchTime", "yesterday"),
    ],
)
def test_what_cannot_be_read_is_not_told(page: str, field: str, value: Any) -> None:
    said = deepcopy(answers())
    for row in said[page]:
        row[field] = value
    assert asked(said) == {}
    for row in said[page]:
        row.pop(field)
    if field != "taskMetricsDistributions":
        assert asked(said) == {}


@pytest.mark.parametrize("said", [{"stages": {}}, {"stages": ["x"]}, {"executors": 1}, {"executors": []}])
def test_neither_is_what_is_no_list_of_objects_nor_what_has_no_executor_yet(said: dict[str, Any]) -> None:
    assert asked(answers() | said) == {}


def test_who_stops_telling_has_not_told_but_how_many_stages_it_had_is_kept() -> None:
    with FakeRm() as rm, RmClient(rm.address, timeout_s=60) as client:
        served(rm, answers())
        masters = Masters(client)
        masters.ask([], ["a"])
        rm.instead.clear()
        masters.ask([], ["a"])
        assert (masters.spark, masters.spark_stages) == ({}, {"a": 3})


def test_in_one_cycle_only_so_many_calls_are_made_and_the_others_come_first_in_the_next() -> None:
    """Three for each at first, for its executors, its stages and the tasks of one; two from then on."""
    apps = [f"application_1_{number:04d}" for number in range(30)]
    with FakeRm() as rm, RmClient(rm.address, timeout_s=60) as client:
        for one in apps:
            served(rm, answers(), one)
        masters = Masters(client)
        masters.ask([], apps)
        assert len(masters.spark) == CALLS_AT_ONCE // 3
        masters.ask([], apps)
        assert set(masters.spark) == set(apps)


TOLD = SparkTold(
    2,
    (
        SparkStage(0, "read", 4, 4, (1000, 3000), (), True),
        SparkStage(1, "sort", 8, 2, (10_000,), (96_000, 99_000), False),
        SparkStage(2, "write", 4, 0, (), (), False),
    ),
)
EXECUTORS_OF_NEW = [container(NEW, 1, 71_000, None), container(NEW, 2, 80_000, None), container(NEW, 3, 80_000, None)]


def test_containers_are_executors_and_tasks_run_in_them() -> None:
    watched = Watched(seen(NEW, *EXECUTORS_OF_NEW), PRESENT, asks={NEW.id: (Ask(1, BIG, 1),)}, spark={NEW.id: TOLD})
    found = live(watched)
    assert found.counted
    assert found.in_part
    executors, read, sort, write = found.stages
    assert (executors.kind, executors.slots, len(executors.running), executors.left) == (EXECUTORS, 2, 2, 1)
    assert (read.kind, read.finished_ms, read.left) == (INNER, (1000, 1500, 2500, 3000), 0)
    assert (sort.finished_ms, [one.worked_ms for one in sort.running], sort.left) == ((10_000, 10_000), [4000, 1000], 4)
    assert (sort.after, write.left, write.after) == ((), 4, (2,))


def test_its_end_is_told_by_its_stages_even_if_none_of_its_name_has_run() -> None:
    """Six tasks of 10 s in four slots, two of them under way, and then four that are judged by all of these."""
    watched = Watched(seen(NEW, *EXECUTORS_OF_NEW), PRESENT, asks={}, spark={NEW.id: TOLD})
    found = forecast(watched.at(NOW_MS), [Candidate.of("capacity", "native")], 600_000, "here", 10)
    (told,) = found.applications
    assert 12_000 < told.drawn["capacity"].median_ms < 40_000


def test_between_two_jobs_nobody_knows_what_is_to_come() -> None:
    over = SparkTold(2, TOLD.stages[:1])
    found = live(Watched(seen(NEW, *EXECUTORS_OF_NEW), PRESENT, asks={}, spark={NEW.id: over}))
    assert not found.counted


@pytest.mark.parametrize(("had", "by_its_own"), [(3, True), (4, False)])
def test_one_of_its_name_that_had_more_stages_knows_better(had: int, by_its_own: bool) -> None:
    watched = Watched(
        seen(OLD, *OLD_TASKS, NEW, *EXECUTORS_OF_NEW), PRESENT, asks={},
        spark={NEW.id: TOLD}, spark_stages={OLD.id: had},
    )  # fmt: skip
    found = live(watched)
    assert found.counted
    assert found.in_part == by_its_own
    assert (found.stages[0].kind == EXECUTORS) == by_its_own


def test_one_that_has_told_in_part_stands_in_for_others_only_where_nobody_has_ended() -> None:
    waiting = app("etl 3", 3, 99_000)
    alone = Watched(seen(NEW, *EXECUTORS_OF_NEW, waiting), PRESENT, asks={}, spark={NEW.id: TOLD}).at(NOW_MS)
    assert contradictions(alone) == []
    (_, told) = forecast(alone, [Candidate.of("capacity", "native")], 600_000, "here", 4).applications
    assert told.basis == "name"
    ended = Watched(seen(OLD, *OLD_TASKS, NEW, *EXECUTORS_OF_NEW, waiting), PRESENT, asks={}, spark={NEW.id: TOLD}).at(
        NOW_MS
    )
    (_, told) = forecast(ended, [Candidate.of("capacity", "native")], 600_000, "here", 4).applications
    assert told.drawn["capacity"].low_ms > 20_000  # as long as the executors of the one that has ended were held
