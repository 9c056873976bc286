"""`heddle check` on a fake ResourceManager with a past."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cli.schemas import valid
from cli.test_cluster_import import FAIR
from heddle.check import findings, policies
from heddle.cli.main import run
from yarn_live.fake_rm import FakeRm

from .fake_past import MadeUpHistory, add_past, busy

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def rm() -> Iterator[FakeRm]:
    """Six nodes that use a quarter of what they have reserved."""
    with FakeRm() as fake:
        fake.configured["yarn.scheduler.minimum-allocation-mb"] = "512"
        for number in range(6):
            fake.add_node(f"n{number}:1", 16384, 16)
            fake.nodes[f"n{number}:1"].containers_memory_mb = 2300
            fake.nodes[f"n{number}:1"].containers_vcores = 0.5
        yield fake


def document(capsys: Capture, *arguments: str, code: int = 1) -> dict[str, Any]:
    capsys.readouterr()
    assert run(["check", *arguments, "--json"]) == code
    found: dict[str, Any] = valid("check", json.loads(capsys.readouterr().out))
    return found


def test_accounts_alone_give_a_verdict(rm: FakeRm, capsys: Capture) -> None:
    add_past(rm, 90, minutes=100)
    busy(rm)
    told = document(capsys, rm.address, "--price", "0.01")
    assert told["cluster"]["policy"] == "capacity"
    assert told["jobs"]["known"] == {"by YARN's accounts alone": 90}
    keys = {one["key"]: one for one in told["findings"]}
    assert 0.2 < told["use"]["memory_used_of_reserved"] < 0.3
    assert "at 0.01 per GB-h" in keys["idle-reservations"]["says"]
    assert "what nodes report now" in keys["idle-reservations"]["rests_on"][0]
    assert "large-requests" not in keys, "no single container's use was measured"
    assert keys["waiting-now"]["value"] == 1
    assert [(one["queue"], one["to_start"]) for one in told["waiting"]] == [("batch", True)]
    assert "AM share" in told["waiting"][0]["why"]
    assert told["policies"]["baseline"] == "capacity"
    tried = {one["policy"] for one in told["policies"]["summary"]}
    assert tried >= {"capacity", "capacity+smallest-first", "capacity+weave(young_reports=10)"}
    assert told["policies"]["present_mean_jct_s"]["simulated"] == pytest.approx(
        told["policies"]["present_mean_jct_s"]["real"], rel=0.2
    )
    assert "--spark-history" in json.dumps(told["could_not_be_known"])
    assert told["verdict"].startswith(told["findings"][0]["says"])


def test_a_quiet_cluster_is_fine(rm: FakeRm, capsys: Capture) -> None:
    add_past(rm, 12, minutes=100)
    for node in rm.nodes.values():
        node.containers_memory_mb = 0
    told = document(capsys, rm.address, code=0)
    assert told["findings"] == []
    assert told["verdict"].startswith("Nothing in 12 applications")
    assert told["use"]["memory_used_of_reserved"] is None


def test_nothing_ran(rm: FakeRm, capsys: Capture) -> None:
    told = document(capsys, rm.address, code=0)
    assert "nothing to judge yet" in told["verdict"]
    assert told["policies"] is None


def test_histories_tell_requests_and_stand_in_for_others(rm: FakeRm, capsys: Capture, tmp_path: Path) -> None:
    with MadeUpHistory(60, minutes=100) as history:
        told = document(capsys, rm.address, "--history", history.address, "--max-calls-per-s", "1000")
        assert told["jobs"]["mapreduce"] == told["jobs"]["mapreduce_read"] == 60
        assert told["jobs"]["known"] == {"in detail": 60}
        (maps, _) = sorted(told["requests"]["kinds"], key=lambda one: -one["tasks"])
        assert maps["kind"] == "word count # / map"
        assert (maps["reserved_mb"], maps["request_mb"]) == (2048, 576), "the peak of 480 MB and a tenth more"
        assert "mapreduce" not in json.dumps(told["could_not_be_known"]).lower()
        page = tmp_path / "check.html"
        assert run(["check", rm.address, "--history", history.address, "--report", str(page)]) == 1
    text = page.read_text()
    for heading in ("Findings", "Where the capacity went", "Who waits, and why", "Can application masters deadlock",
                    "Requests that are too large", "What other policies would have changed",
                    "What heddle could not find out", "Assumptions and sources"):  # fmt: skip
        assert f">{heading}" in text
    assert "60 of 60 MapReduce jobs were read in detail, chosen at random" in text


def test_am_deadlock_is_proven(rm: FakeRm, capsys: Capture) -> None:
    """AMs of 1 GB fill nodes of 2 GB before the first of them asks for a task, if their share lets them."""
    add_past(rm, 40, minutes=100, containers=2, size_mb=1024)
    for node in rm.nodes.values():
        node.memory_mb = 2048
    rm.am_share = 1.0
    told = document(capsys, rm.address)
    risk = told["am_deadlock"]
    assert risk["possible"]
    assert risk["jobs"] == 12
    assert "am-deadlock" in risk["stalled"]
    assert told["findings"][0]["key"] == "am-deadlock"
    assert told["findings"][0]["severity"] == "high"
    rm.am_share = 0.1
    told = document(capsys, rm.address, code=0)
    assert not told["am_deadlock"]["possible"]


def test_what_became_of_earlier_findings(rm: FakeRm, capsys: Capture, tmp_path: Path) -> None:
    add_past(rm, 40, minutes=100)
    busy(rm)
    earlier = tmp_path / "earlier.json"
    earlier.write_text(json.dumps(document(capsys, rm.address)))
    for node in rm.nodes.values():
        node.containers_memory_mb *= 2
    waiting = next(app for app in rm.apps.values() if app.diagnostics)
    rm.end_app(waiting)
    told = document(capsys, rm.address, "--since", str(earlier))
    changes = {one["key"]: one["change"] for one in told["since"]}
    assert changes["idle-reservations"] == "better"
    assert changes["waiting-now"] == "gone"
    earlier.write_text("{}")
    assert run(["check", rm.address, "--since", str(earlier)]) == 2
    assert "is not the output of `heddle check --json`" in capsys.readouterr().err


def test_nothing_that_names_anybody_is_left(rm: FakeRm, capsys: Capture, tmp_path: Path) -> None:
    add_past(rm, 40, minutes=100)
    busy(rm)
    page = tmp_path / "check.html"
    told = json.dumps(document(capsys, rm.address, "--anonymise", "--report", str(page)))
    for name in ("ann", "etl", "batch", "default", rm.address.partition("//")[2]):
        assert f'"{name}' not in told
        assert f".{name}" not in told
        assert f">{name}" not in page.read_text()
    assert "queue-" in told


def test_one_application(rm: FakeRm, capsys: Capture) -> None:
    (app,) = add_past(rm, 1, minutes=10, kind="MAPREDUCE")
    app.launched_at_ms = app.submitted_at_ms + 100_000
    with MadeUpHistory(5, minutes=50) as history:
        history.longest_map_ms = 200_000
        history.counters |= {"SPILLED_RECORDS": (5000, 0), "GC_TIME_MILLIS": (100_000, 0)}
        told = document(capsys, rm.address, "--application", app.id, "--history", history.address)
        keys = {one["key"]: one["setting"] for one in told["findings"]}
        assert {
            "am-wait",
            "map-skew",
            "map-request",
            "reduce-request",
            "idle-reduces",
            "spills",
            "map-gc",
        } <= keys.keys()
        assert keys["map-request"].startswith("mapreduce.map.memory.mb=576")
        assert told["findings"][0]["severity"] == "high"
    told = document(capsys, rm.address, "--application", app.id)
    assert [one["key"] for one in told["findings"]] == ["am-wait"]
    assert told["read"] == ["its tasks are unknown: use --history URL"]
    assert run(["check", rm.address, "--application", "application_1_9"]) == 2
    assert "does not know application_1_9" in capsys.readouterr().err


def test_settings_from_a_folder(rm: FakeRm, capsys: Capture, tmp_path: Path) -> None:
    add_past(rm, 12, minutes=100)
    assert run(["check", rm.address, "--conf", str(tmp_path)]) == 2
    assert "has neither of capacity-scheduler.xml and fair-scheduler.xml" in capsys.readouterr().err
    rows = {
        "root.queues": "default,batch", "root.default.capacity": "60", "root.batch.capacity": "40",
        "root.default.maximum-am-resource-percent": "0.3",
        "resource-calculator": "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator",
    }  # fmt: skip
    properties = (
        f"<property><name>yarn.scheduler.capacity.{name}</name><value>{value}</value></property>"
        for name, value in rows.items()
    )
    (tmp_path / "capacity-scheduler.xml").write_text(f"<configuration>{''.join(properties)}</configuration>")
    before = document(capsys, rm.address, code=0)
    told = document(capsys, rm.address, "--conf", str(tmp_path), code=0)
    assert before["am_deadlock"]["share"] != told["am_deadlock"]["share"]
    assert told["am_deadlock"]["share"] == pytest.approx(0.3 + 0.1)
    assert told["am_deadlock"]["assumed"] == ["root.batch"]


@pytest.mark.parametrize("text", ["soon", "-1", "3d"])
def test_a_time_that_is_none(rm: FakeRm, text: str, capsys: Capture) -> None:
    assert run(["check", rm.address, f"--for={text}"]) == 2
    assert "write 90s, 30m or 2h" in capsys.readouterr().err


def test_what_is_watched_refines_the_verdict(rm: FakeRm, capsys: Capture) -> None:
    add_past(rm, 12, minutes=100)
    running = rm.add_app()
    running.submitted_at_ms = rm.now_ms
    rm.start_am(running, "n0:1", 1024, 1)
    rm.allocate(running, "n1:1", 2048, 1)
    told = document(capsys, rm.address, "--for", "2s", code=0)
    assert told["ledger"]["of"] == "what was watched"
    assert "container-metrics.period-ms" in json.dumps(told["could_not_be_known"])


def test_a_fair_cluster_is_compared_with_itself(rm: FakeRm, capsys: Capture) -> None:
    """Also with queues that it made when jobs named them, and dropped when these had ended."""
    rm.instead["/scheduler"] = 200, json.dumps({"scheduler": {"schedulerInfo": FAIR}})
    for app in add_past(rm, 20, minutes=100):
        app.queue = "root.made-for-ann"
    told = document(capsys, rm.address, code=0)
    assert told["cluster"]["policy"] == told["policies"]["baseline"] == "fair"
    assert "root.made-for-ann" in told["cluster"]["queues"]
    assert told["jobs"]["known"] == {"by YARN's accounts alone": 20}
    assert told["policies"]["refused"].keys() == {"weave", "admission-control(backlog=0.75)", "smallest-first"}
    assert "--conf FOLDER with the cluster's fair-scheduler.xml" in json.dumps(told["could_not_be_known"])


def test_jobs_of_queues_that_are_gone_are_counted(rm: FakeRm, capsys: Capture) -> None:
    for app in add_past(rm, 20, minutes=100):
        app.queue = "root.gone"
    told = document(capsys, rm.address, code=0)
    assert told["jobs"]["left_out"] == {"their queue is no longer a leaf queue": 20}
    assert "none of 20 applications can be simulated (20: their queue is no longer a leaf queue)" in told["verdict"]


def test_applications_that_failed_say_why(rm: FakeRm, capsys: Capture) -> None:
    for app in add_past(rm, 20, minutes=100)[:8]:
        app.final_status = "FAILED"
        app.diagnostics = f"Application {app.id} submitted by user ann to unknown queue: root.etl\nstack"
    (failed,) = (one for one in document(capsys, rm.address)["findings"] if one["key"] == "failed-applications")
    assert failed["severity"] == "medium"
    assert failed["says"] == (
        "8 of 20 applications failed or were killed. "
        "YARN's most common reason (8): Application application_… submitted by user ann to unknown queue: root.etl."
    )
    told = document(capsys, rm.address, "--application", app.id)
    assert [one["key"] for one in told["findings"]] == ["failed"]
    assert "unknown queue: root.etl." in told["findings"][0]["says"]
    hidden = document(capsys, rm.address, "--anonymise")
    assert "root.etl" not in json.dumps(hidden)


def test_a_check_that_will_watch_does_not_propose_it(rm: FakeRm, capsys: Capture) -> None:
    add_past(rm, 20, minutes=100)
    run(["check", rm.address, "--for", "1s"])
    assert "--for 1s --for" not in capsys.readouterr().out


def test_the_partition_of_an_am_is_no_reason_to_wait(rm: FakeRm, capsys: Capture) -> None:
    add_past(rm, 20, minutes=100)
    app = rm.add_app("batch")
    app.diagnostics = "Application is Activated, waiting for resources to be assigned for AM. Details : AM Partition = "
    app.asks = [(0, 1024, 1, 1)]
    told = document(capsys, rm.address)
    assert "label" not in told["waiting"][0]["why"]


def test_a_policy_that_helps_is_named_with_the_command_to_try_it(
    resampled: None, rm: FakeRm, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More work than fits by what it reserves, although it uses a quarter. In truth it did fit, which is said too."""
    add_past(rm, 200, minutes=80)
    busy(rm)
    told = document(capsys, rm.address)
    row = next(
        one for one in told["policies"]["summary"]
        if one["policy"] == "capacity+usage-feedback(young_reports=10)" and one["metric"] == "jct_s.mean"
    )  # fmt: skip
    assert row["vs_ci95"][1] < 0
    monkeypatch.delitem(policies.CANDIDATES, "usage-feedback")  # which is the better one here, and needs no setting
    told = document(capsys, rm.address)
    (policy,) = (one for one in told["findings"] if one["key"] == "policy")
    assert policy["says"].startswith("weave would have finished these jobs")
    assert "95 % interval" in policy["says"]
    assert policy["severity"] == "low"
    assert "; but this rests on an inaccurate simulation (under the present policy" in policy["says"]
    shadow, watch = told["next"]
    steer = f"heddle yarn steer --rm {rm.address} --policy weave"
    assert shadow["command"] == f"{steer} --for 10m"
    assert watch["command"].endswith("--for 30m"), "nothing live on the word of a simulation that is off"
    monkeypatch.setattr(findings, "NEAR_ENOUGH", 100.0)
    told = document(capsys, rm.address)
    assert [one["command"] for one in told["next"]] == [f"{steer} --for 10m", f"{steer} --mode live"]
    assert "configuration.store.class=memory and yarn.cluster.max-application-priority=10" in told["next"][1]["why"]
    assert next(one for one in told["findings"] if one["key"] == "policy")["severity"] == "medium"
