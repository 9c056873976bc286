"""How long tasks will take: the order of fallbacks, tasks that still run, and whether it beats a naive median."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, median

import numpy as np
import pytest

from heddle.model.cluster import Cluster, Node
from heddle.model.workload import TASKS
from heddle.twin.durations import CLUSTER, NAME, OWN, QUEUE, Past, Predicted, predict
from heddle.twin.known import Application, Running, Snapshot, Stage

ON = Cluster((Node("n0", (65536, 24000), (65536, 24000)),))


def ended(
    name: str, took_ms: Sequence[int], queue: str = "root.a", user: str = "ann", stage: str = "map"
) -> Application:
    done = Stage(stage, TASKS, (1024, 1000), tuple(took_ms))
    return Application(name, name, queue, user, -10_000, ended_at_ms=-1000, stages=(done,))


def drawn(past: Sequence[Application], stage: Stage, name: str = "etl-9", queue: str = "root.a") -> Predicted:
    app = Application("x", name, queue, "ann", -5000, stages=(stage,))
    seen = Past.of(Snapshot(ON, "fifo", 10_000, tuple(past)))
    return predict(app, stage, seen, 400, np.random.default_rng(1))


WAITING = Stage("map", TASKS, (1024, 1000), left=3)
KIN = [ended(f"etl-{n}", [100, 100]) for n in range(20)]
NEIGHBOURS = [ended(f"other-{n}", [5000]) for n in range(20)]
STRANGERS = [ended(f"far-{n}", [90_000], queue="root.b") for n in range(20)]


@pytest.mark.parametrize(
    ("past", "basis", "usual_ms"),
    [
        ([*KIN, *NEIGHBOURS, *STRANGERS], NAME, 100),
        ([*NEIGHBOURS, *STRANGERS], QUEUE, 5000),
        (STRANGERS, CLUSTER, 90_000),
    ],
)
def test_the_nearest_kin_weigh_most(past: Sequence[Application], basis: str, usual_ms: int) -> None:
    found = drawn(past, WAITING)
    assert found.basis == basis
    assert median(found.draws.ravel().tolist()) == usual_ms


def test_finished_tasks_of_the_stage_itself_count_more_than_its_past() -> None:
    own = Stage("map", TASKS, (1024, 1000), finished_ms=(700, 710, 720, 730), left=2)
    found = drawn(KIN, own)
    assert found.basis == OWN
    assert 700 <= median(found.draws.ravel().tolist()) <= 730


def test_without_a_finished_task_anywhere_there_is_no_basis() -> None:
    assert drawn([], WAITING).basis == ""


def test_no_task_is_shorter_than_it_has_been_running() -> None:
    """Also beyond everything that was ever seen."""
    stage = Stage("map", TASKS, (1024, 1000), (100, 120), (Running("n0", 110), Running("n0", 500_000)), left=1)
    for past in ([], KIN, [*KIN, *STRANGERS]):
        found = drawn(past, stage).draws
        assert (found[:, 0] >= 110).all()
        assert (found[:, 1] >= 500_000).all()


def test_tasks_that_still_run_are_not_taken_for_short_ones() -> None:
    """Ten began together and one is done after 100 ms: the others are longer, and so is one that will begin."""
    stage = Stage("map", TASKS, (1024, 1000), (100,), tuple(Running("n0", 150) for _ in range(9)), left=1)
    found = drawn([], stage).draws
    assert fmean((found[:, -1] > 150).tolist()) > 0.8


def test_a_stage_of_the_past_is_drawn_as_a_whole() -> None:
    """Either all tasks are short or all are long: never some of each."""
    past = [ended("etl-1", [100] * 4), ended("etl-2", [9000] * 4)]
    found = drawn(past, WAITING).draws
    assert all(len(set(row)) == 1 for row in found.tolist())
    assert len(set(found[:, 0].tolist())) == 2


def test_what_runs_for_long_resembles_the_long_ones_of_the_past() -> None:
    past = [ended(f"etl-{n}", [100] * 4 if n % 2 else [9000] * 4) for n in range(20)]
    stage = Stage("map", TASKS, (1024, 1000), running=(Running("n0", 4000),), left=3)
    assert median(drawn(past, stage).draws[:, -1].tolist()) == 9000


def test_it_beats_the_median_of_everything() -> None:
    """Jobs of three names, of which each has its own length: by pinball's measure of the median, on new ones."""
    random = np.random.default_rng(5)
    usual = {"short": 1000, "middling": 20_000, "long": 300_000}

    def lengths(name: str) -> list[int]:
        return (usual[name] * random.lognormal(0, 0.3, 6)).astype(int).tolist()

    past = [ended(f"{name}-{n}", lengths(name)) for name in usual for n in range(12)]
    naive = median(ms for app in past for stage in app.stages for ms in stage.finished_ms)
    ours, theirs = [], []
    for name in usual:
        told = median(drawn(past, WAITING, name=f"{name}-99").draws.ravel().tolist())
        for truth in lengths(name):
            ours.append(abs(told - truth))
            theirs.append(abs(naive - truth))
    assert fmean(ours) < 0.5 * fmean(theirs)
