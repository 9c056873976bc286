"""What an observer has seen as a snapshot: finished, running and waiting containers, and how many will come."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.documents import command_of, document
from cli.schemas import valid
from heddle.check.present import Present
from heddle.cli.main import run
from heddle.model.cluster import Cluster, Node, Queue
from heddle.twin.keeping import FILE
from heddle.twin.known import Application, contradictions
from heddle.twin.masters import Masters
from heddle.twin.watched import Watched
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.things_seen import Ask
from heddle.yarn.observe.journal import Journal
from heddle.yarn.observe.seen import AppLife, ContainerLife, Seen
from yarn_live.fake_cluster import CLUSTER_AT_MS
from yarn_live.fake_rm import FakeRm

NOW_MS = 100_000
BIG, SMALL = (2048, 1000), (1024, 1000)
QUEUES = (Queue("root"), Queue("root.default"))
PRESENT = Present(Cluster((Node("n0", (65536, 24000), (65536, 24000)),), queues=QUEUES, policy="capacity"), 1024, ())


def app(name: str, number: int, submitted_ms: int, ended_ms: int | None = None, kind: str = "SPARK") -> AppLife:
    status = "UNDEFINED" if ended_ms is None else "SUCCEEDED"
    return AppLife(f"application_1_{number:04d}", name, kind, "default", "ann", submitted_ms, None, ended_ms, status)


def container(
    of: AppLife, number: int, began_ms: int, ended_ms: int | None, priority: int = 1, asked_ms: int | None = None
) -> ContainerLife:
    size = SMALL if number == 1 else BIG
    return ContainerLife(
        id=f"container_{of.id}_{number}", app=of.id, node="n0:1", priority=priority, size=size, is_am=number == 1,
        asked_at_ms=began_ms if asked_ms is None else asked_ms, began_at_ms=began_ms, ended_at_ms=ended_ms,
    )  # fmt: skip


def seen(*lives: AppLife | ContainerLife) -> Seen:
    found = Seen(began_ms=1000)
    for one in lives:
        if isinstance(one, AppLife):
            found.apps[one.id] = one
        else:
            found.containers[one.id] = one
    return found


def live(watched: Watched, now_ms: int = NOW_MS) -> Application:
    snapshot = watched.at(now_ms)
    assert contradictions(snapshot) == []
    (found,) = snapshot.live
    return found


OLD = app("etl 1", 1, 1000, 60_000)
OLD_TASKS = [container(OLD, 1, 1000, 60_000), *(container(OLD, n, 2000, 30_000 + n) for n in (2, 3, 4, 5))]
NEW = app("etl 2", 2, 70_000)
NEW_TASKS = [container(NEW, 1, 71_000, None), container(NEW, 2, 80_000, 95_000), container(NEW, 3, 90_000, None)]


def test_how_many_are_to_come_is_taken_from_one_of_its_name() -> None:
    found = live(Watched(seen(OLD, *OLD_TASKS, NEW, *NEW_TASKS), PRESENT, asks={}))
    (stage,) = found.stages
    assert found.counted
    assert (stage.finished_ms, [one.worked_ms for one in stage.running], stage.left) == ((15_000,), [10_000], 2)
    assert found.master_runs is not None


def test_nobody_knows_how_many_are_to_come_of_one_whose_name_is_new() -> None:
    watched = Watched(seen(NEW, *NEW_TASKS), PRESENT, asks={NEW.id: (Ask(1, BIG, 7),)})
    found = live(watched)
    assert not found.counted
    assert found.stages[0].left == 7  # which wait: they hold up others


def test_mapreduce_counts_by_its_am_and_reduces_that_hold_have_not_worked() -> None:
    job = app("sort", 3, 50_000, kind="MAPREDUCE")
    tasks = [
        container(job, 1, 51_000, None, 0),
        container(job, 2, 60_000, 90_000, 20),
        container(job, 3, 60_000, None, 20),
        container(job, 4, 80_000, None, 10),
    ]
    totals = {job.id: {"map": 5, "reduce": 2}}
    maps, reduces = live(Watched(seen(job, *tasks), PRESENT, totals, asks={})).stages
    assert (maps.name, maps.finished_ms, len(maps.running), maps.left) == ("map", (30_000,), 1, 3)
    assert (reduces.name, reduces.left, reduces.after) == ("reduce", 1, (0,))
    assert [one.worked_ms for one in reduces.running] == [0]


def test_an_am_that_waits_to_start_has_told_nothing() -> None:
    found = live(Watched(seen(NEW), PRESENT, masters={NEW.id: BIG}))
    assert (found.counted, found.has_started, found.master) == (False, False, BIG)


def test_a_record_is_cut_at_an_instant_without_what_came_later() -> None:
    """As of 85 s: one runs, one that was asked for waits, and the one that came later is not there."""
    later = container(NEW, 3, 90_000, None, asked_ms=82_000)
    whole = Watched(seen(OLD, *OLD_TASKS, NEW, *NEW_TASKS[:2], later), PRESENT)
    (stage,) = live(whole, 85_000).stages
    assert (stage.finished_ms, len(stage.running), stage.left) == ((), 1, 3)
    assert [one.id for one in whole.at(50_000).live] == [OLD.id]


def test_ams_are_asked_once_and_may_be_silent() -> None:
    with FakeRm() as rm, RmClient(rm.address, timeout_s=60) as client:
        rm.instead["/proxy/a/ws/v1/mapreduce/jobs"] = (
            200,
            '{"jobs": {"job": [{"mapsTotal": 12, "reducesTotal": 3, "mapsCompleted": 1}]}}',
        )
        masters = Masters(client)
        masters.ask(["a", "b"])
        assert masters.totals == {"a": {"map": 12, "reduce": 3}}
        rm.instead.clear()
        masters.ask(["a"])
        assert masters.totals["a"] == {"map": 12, "reduce": 3}


def test_a_live_cluster_is_looked_ahead_on_and_its_forecasts_are_scored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "watched"
    folder.mkdir()
    with FakeRm() as rm:
        rm.add_node("n0:1", 65536, 24)
        rm.now_ms = CLUSTER_AT_MS + NOW_MS
        journal = Journal(folder / "journal.jsonl")
        journal.add({"what": "began", "at_ms": CLUSTER_AT_MS})
        old = app("etl 1", 900, CLUSTER_AT_MS + 1000, CLUSTER_AT_MS + 60_000)
        journal.add({"what": "app", **vars(old)})
        for one in (container(old, n, CLUSTER_AT_MS + 2000, CLUSTER_AT_MS + 58_000 + n) for n in range(1, 5)):
            journal.add({"what": "container", **vars(one)})
        journal.flush()
        new = rm.add_app()
        new.name, new.kind, new.submitted_at_ms = "etl 2", "SPARK", CLUSTER_AT_MS + 70_000
        rm.start_am(new, "n0:1", 1024, 1)
        for _ in range(2):
            rm.allocate(new, "n0:1", 2048, 1, priority=1)
        watching = ("yarn", "twin", "--rm", rm.address, "--journal", str(folder), "--for", "1", "--rollouts", "3")
        assert run([*watching, "--json"]) == 0
        line = capsys.readouterr().out.splitlines()[0]
        found = valid(command_of(watching), json.loads(line))
        (told,) = found["applications"]
        assert told["judged_by"] == "name"
        levers = ("weave", "admission-control(backlog=0.75)", "smallest-first")
        assert [one["policy"] for one in found["policies"]] == ["capacity", *(f"capacity+{name}" for name in levers)]
        assert (folder / FILE).is_file()
        assert rm.posts == []
        asking = ("yarn", "why", new.id, "--rm", rm.address, "--journal", str(folder), "--rollouts", "3")
        new.asks = [(1, 2048, 1, 1)]
        why = document(capsys, *asking)
        assert why["waits_because"]
        assert {"in queue root.batch", "asking for 50 % of the memory"} <= {one["change"] for one in why["changes"]}
        assert run([*asking]) == 0
        assert "sooner by" in capsys.readouterr().out
        assert run(["yarn", "why", "application_1_0001", "--rm", rm.address]) == 2
        assert "neither runs nor waits" in capsys.readouterr().err
        rm.now_ms += 20_000
        rm.end_app(new)
        assert run(["yarn", "twin", "--rm", rm.address, "--journal", str(folder), "--for", "1"]) == 0
        assert "nothing to forecast" in capsys.readouterr().err
    scored = document(capsys, "yarn", "twin", "--journal", str(folder), "--score")
    assert scored["scores"][0]["cases"] == 1
    assert run(["yarn", "twin", "--rm", rm.address, "--journal", str(folder), "--for", "1"]) == 2  # it is gone
    assert "Traceback" not in capsys.readouterr().err


def test_without_kept_forecasts_there_is_nothing_to_score(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["yarn", "twin", "--journal", str(tmp_path), "--score"]) == 2
    assert "kept its forecasts" in capsys.readouterr().err
