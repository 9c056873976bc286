"""Containers sampled through the metrics of NodeManagers, against fakes that answer as Hadoop 3.4.2 does."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cli.schemas import valid
from heddle.cli.main import run
from heddle.model.errors import RunRefused
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.wire import YarnError
from heddle.yarn.observe.journal import Journal, read_lines
from heddle.yarn.observe.remote_tracker import NAME, PERIOD, RemoteTracker
from heddle.yarn.observe.tallies import use_of
from yarn_live.fake_rm import FakeRm

ONE, TWO = "container_1700000000000_0001_01_000002", "container_1700000000000_0001_01_000003"


def bean(container: str, memory_mb: float, cpu_percent: float, finished_ms: int = 0) -> dict[str, Any]:
    return {
        "name": f"{NAME}{container}", "modelerType": f"ContainerResource_{container}",
        "tag.ContainerResource": container, "PMemUsageMBsNumUsage": 35, "PMemUsageMBsAvgMBs": memory_mb,
        "PCpuUsagePercentNumUsage": 35, "PCpuUsagePercentAvgPercents": cpu_percent, "MilliVcoreUsageNumUsage": 35,
        "pMemLimitMBs": 512, "ExitCode": 0, "FinishTime": finished_ms, "StartTime": 1_700_000_000_000,
    }  # fmt: skip


def show(worker: FakeRm, *beans: dict[str, Any]) -> None:
    worker.instead["/jmx"] = 200, json.dumps({"beans": list(beans)})


@pytest.fixture
def workers() -> Iterator[list[FakeRm]]:
    """Two NodeManagers that offer metrics, known to an RM which is the last of the three."""
    with FakeRm() as first, FakeRm() as second, FakeRm() as rm:
        for number, worker in enumerate((first, second)):
            worker.configured[PERIOD] = "1000"
            show(worker)
            rm.add_node(f"n{number}:1", 4096, 4)
            rm.nodes[f"n{number}:1"].http = worker.address.removeprefix("http://")
        yield [first, second, rm]


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def tracker(workers: list[FakeRm], said: list[str], tmp_path: Path) -> Iterator[RemoteTracker]:
    with RmClient(workers[2].address, timeout_s=60) as client:
        made = RemoteTracker(client, Journal(tmp_path / "samples"), said.append)
        yield made
        made.close()


def test_containers_of_all_nodes_are_sampled(workers: list[FakeRm], tracker: RemoteTracker, tmp_path: Path) -> None:
    show(workers[0], bean(ONE, 300.0, 50.0))
    young = {"name": f"{NAME}{TWO}", "modelerType": f"ContainerResource_{TWO}"}  # as it is before its first figures
    show(workers[1], young)
    tracker.sample()
    show(workers[0], bean(ONE, 100.0, 10.0, finished_ms=1_700_000_090_000))  # the last figures stay for a while
    show(workers[1], bean(TWO, 200.0, 0.0))
    tracker.sample()
    assert tracker.containers == 1
    tracker.write_all()
    one, two = sorted(read_lines(tmp_path / "samples"), key=lambda line: line["container"])
    assert (one["container"], one["samples"], one["memory_max_mb"]) == (ONE, 1, 300)
    assert one["cpu_ms"] == pytest.approx(one["memory_mb_ms"] / 300 * 0.5, abs=1)
    assert (two["container"], two["samples"], two["memory_max_mb"], two["cpu_ms"]) == (TWO, 1, 200, 0)
    assert one["pss_mb"] is one["read_bytes"] is one["written_bytes"] is one["received_bytes"] is None
    assert use_of(tmp_path / "samples")[ONE] == (one["memory_mb_ms"], 1000 * one["cpu_ms"], None)


@pytest.mark.parametrize("period", [None, "-1"])
def test_metrics_that_are_off_are_said(
    workers: list[FakeRm], tracker: RemoteTracker, said: list[str], period: str | None
) -> None:
    workers[0].configured = {} if period is None else {PERIOD: period}
    show(workers[1], bean(ONE, 300.0, 50.0))
    tracker.sample()
    assert tracker.containers == 1
    (message,) = said
    assert message.startswith(f"n0:1: {PERIOD} is {period or 'not set'}")


def test_where_all_are_off_there_is_nothing_to_do(workers: list[FakeRm], tracker: RemoteTracker) -> None:
    for worker in workers[:2]:
        worker.configured = {}
    with pytest.raises(RunRefused, match=f"set {PERIOD} to 1000"):
        tracker.sample()


def test_one_that_does_not_answer_does_not_stop_the_others(
    workers: list[FakeRm], tracker: RemoteTracker, said: list[str]
) -> None:
    show(workers[0], bean(ONE, 300.0, 50.0))
    show(workers[1], bean(TWO, 300.0, 50.0))
    tracker.sample()
    workers[0].instead["/jmx"] = 500, "down"
    tracker.sample()
    tracker.sample()
    assert tracker.containers == 1
    (message,) = said
    assert message.startswith("n0:1: ")
    show(workers[0], bean(ONE, 300.0, 50.0))
    tracker._asked_s -= 60  # nodes are looked at anew from time to time
    tracker.sample()
    assert tracker.containers == 2


def test_nodes_are_sampled_while_the_rm_is_away(workers: list[FakeRm], tracker: RemoteTracker) -> None:
    tracker.sample()
    show(workers[0], bean(ONE, 300.0, 50.0))
    workers[2].instead["/nodes"] = 500, "down"
    tracker._asked_s -= 60
    with pytest.raises(YarnError):
        tracker.sample()
    assert tracker.containers == 1


def test_the_command(workers: list[FakeRm], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    show(workers[0], bean(ONE, 300.0, 50.0))
    samples = tmp_path / "samples"
    command = ["yarn", "track", str(samples), "--remote", "--rm", workers[2].address, "--for", "0.3", "--every", "0.1"]
    assert run([*command, "--json"]) == 0
    assert valid("yarn track", json.loads(capsys.readouterr().out))["most_containers"] == 1
    assert {line["container"] for line in read_lines(samples)} == {ONE}
    assert run(["yarn", "track", str(samples), "--rm", workers[2].address]) == 2
    assert "--remote" in capsys.readouterr().err


def test_one_whose_address_cannot_be_one_is_said_once_and_does_not_stop_the_others(
    workers: list[FakeRm], tracker: RemoteTracker, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("heddle.yarn.observe.remote_tracker.NODES_EVERY_S", 0)
    workers[2].nodes["n0:1"].http = "bad host:8042"
    show(workers[1], bean(TWO, 300.0, 50.0))
    tracker.sample()
    tracker.sample()
    assert tracker.telling == (1, 1)
    assert tracker.containers == 1
    (message,) = said
    assert message.startswith("n0:1 is not asked: ")
