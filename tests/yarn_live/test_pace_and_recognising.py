"""Before anything is asked of a ResourceManager: is it one, is it new enough, and how often may it be asked?"""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from pathlib import Path
from threading import Thread

import pytest

from heddle.cli.main import run
from heddle.model.errors import RunRefused
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.pace import Pace
from heddle.yarn.live.recognising import recognise

from .conftest import Clock
from .fake_rm import FakeRm

INFO = "/info"
# What these versions answer at /ws/v1/cluster/info.
HADOOP_3_1 = {
    "id": 1540000000000, "startedOn": 1540000000000, "state": "STARTED", "haState": "ACTIVE",
    "rmStateStoreName": "org.apache.hadoop.yarn.server.resourcemanager.recovery.NullRMStateStore",
    "resourceManagerVersion": "3.1.1", "hadoopVersion": "3.1.1",
    "haZooKeeperConnectionState": "ResourceManager HA is not enabled.",
}  # fmt: skip
HADOOP_2_10 = {
    "id": 1600000000000, "startedOn": 1600000000000, "state": "STARTED", "haState": "ACTIVE",
    "resourceManagerVersion": "2.10.2", "hadoopVersion": "2.10.2",
    "haZooKeeperConnectionState": "ResourceManager HA is not enabled.",
}  # fmt: skip


def test_no_second_has_more_calls_than_allowed(clock: Clock) -> None:
    pace, at_s = Pace(5, clock), []
    for _ in range(23):
        pace.turn()
        at_s.append(clock.monotonic())
    assert all(later - earlier >= 1 for earlier, later in zip(at_s, at_s[5:], strict=False))
    assert at_s[-1] == 4, "and no call waits longer than it must"
    assert pace.calls == 23


def test_changes_count_and_never_wait(clock: Clock) -> None:
    pace = Pace(2, clock)
    for _ in range(10):
        pace.turn(waits=False)
    assert clock.monotonic() == 0
    pace.turn()
    assert clock.monotonic() == 1
    assert pace.take_waited_s() == 1
    assert pace.take_waited_s() == 0


def test_threads_share_a_pace(rm: FakeRm) -> None:
    """The clock is the real one here: twelve calls at ten a second cannot all be made in the first."""
    pace = Pace(10)

    def ask() -> None:
        with RmClient(rm.address, pace=pace) as client:
            for _ in range(4):
                client.nodes()

    threads = [Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert pace.calls == 12
    assert pace.take_waited_s() > 0


def test_a_long_step_is_said(rm: FakeRm, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rm.add_node("n1:1", 8192, 8)
    for _ in range(6):
        rm.start_am(rm.add_app(), "n1:1", 256, 1)
    observe = ["yarn", "observe", str(tmp_path / "seen"), "--rm", rm.address, "--for", "1.5", "--every", "0.2"]
    assert run([*observe, "--max-calls-per-s", "4"]) == 0
    said = capsys.readouterr().err
    assert "instead of 0.2 s: it needs 3 calls, and --max-calls-per-s allows 4 a second" in said  # by node
    assert run([*observe, "--max-calls-per-s", "1000"]) == 0
    assert "--max-calls-per-s" not in capsys.readouterr().err


def test_a_resource_manager_is_recognised(rm: FakeRm, client: RmClient) -> None:
    assert recognise(client).version == "3.4.2"


def old(info: dict[str, object]) -> Callable[[FakeRm], None]:
    return lambda rm: rm.instead.update({INFO: (200, json.dumps({"clusterInfo": info}))})


def page(rm: FakeRm) -> None:
    rm.instead[INFO] = 200, "<!DOCTYPE html><html><head><title>Hue - Welcome</title></head></html>"


def nodemanager(rm: FakeRm) -> None:
    rm.instead[INFO] = 404, "{}"
    rm.instead["/ws/v1/node/info"] = 200, '{"nodeInfo": {}}'


def something_else(rm: FakeRm) -> None:
    rm.instead[INFO] = 200, '{"status": "ok"}'


def nothing_there(rm: FakeRm) -> None:
    rm.instead[INFO] = 404, "not found"


def locked(rm: FakeRm) -> None:
    rm.instead[INFO] = 403, "Forbidden"


def behind_kerberos(rm: FakeRm) -> None:
    """Without a ticket, or without the extra: either way it says what is missing."""
    rm.instead[INFO], rm.challenge = (401, "Authentication required"), "Negotiate"


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (old(HADOOP_3_1), "is Hadoop 3.1.1: heddle needs a ResourceManager of 3.3 or newer"),
        (old(HADOOP_2_10), "is Hadoop 2.10.2: heddle needs a ResourceManager of 3.3 or newer"),
        (page, "is not a ResourceManager: it answers with a web page, “Hue - Welcome”"),
        (nodemanager, "is not a ResourceManager: this is a NodeManager. A ResourceManager's web address usually has"),
        (something_else, "is not a ResourceManager: it answers /ws/v1/cluster/info with something else"),
        (nothing_there, "is not a ResourceManager: there is no /ws/v1/cluster/info (HTTP 404)"),
        (locked, "HTTP 403: Forbidden"),
        (behind_kerberos, "HTTP 401: "),
    ],
)
def test_anything_else_is_one_line_and_exit_code_2(
    rm: FakeRm, made: Callable[[FakeRm], None], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made(rm)
    with RmClient(rm.address) as client, pytest.raises(RunRefused):
        recognise(client)
    for command in (["yarn", "observe", str(tmp_path / "seen"), "--rm"], ["check"]):
        assert run([*command, rm.address]) == 2
        said = capsys.readouterr().err
        assert says in said
        assert said.count("\n") == 1
    assert not (tmp_path / "seen").exists(), "nothing is written"


def test_nobody_there_is_one_line_and_exit_code_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}"
        for command in (["yarn", "observe", str(tmp_path / "seen"), "--rm"], ["check"]):
            assert run([*command, address]) == 2
            said = capsys.readouterr().err
            assert "cannot be reached" in said
            assert said.count("\n") == 1
