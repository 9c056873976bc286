"""`heddle yarn dashboard` as a command: the link, and what is refused at once."""

import json
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from heddle.cli.main import run
from heddle.dashboard.board import Board
from heddle.dashboard.serving import served
from heddle.model.errors import RunRefused
from yarn_live.fake_rm import FakeRm


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def test_it_prints_a_link_that_opens_what_it_sees_until_told_to_end(rm: FakeRm) -> None:
    command = [
        sys.executable,
        "-c",
        "from heddle.cli.main import main; main()",
        "yarn",
        "dashboard",
        "--rm",
        rm.address,
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address, _, token = process.stdout.readline().strip().partition("/#token=")
        request = urllib.request.Request(f"{address}/state", headers={"Authorization": f"Bearer {token}"})
        with urllib.request.urlopen(request, timeout=120) as answer:
            state = json.load(answer)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "Traceback" not in said
    assert state["about"]["rm"] == rm.address
    assert state["look"]["trouble"] == ""


def test_what_is_no_resourcemanager_is_one_line_and_no_page(rm: FakeRm, capsys: pytest.CaptureFixture[str]) -> None:
    rm.info = {"something": "else"}
    assert run(["yarn", "dashboard", "--rm", rm.address]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "is not a ResourceManager" in shown.err


def test_others_on_the_network_are_a_warning(rm: FakeRm, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["yarn", "dashboard", "--rm", rm.address, "--host", "0.0.0.0", "--for", "0.1"]) == 0
    assert "the traffic is not encrypted" in capsys.readouterr().err


def test_without_the_extra_it_says_what_to_install(board: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(RunRefused, match=r"pip install .*uvicorn"), served(board, "127.0.0.1", 0):
        pass


def test_a_port_in_use_is_refused(board: Board) -> None:
    with served(board, "127.0.0.1", 0) as link:
        port = int(link.split(":")[2].partition("/")[0])
        with pytest.raises(RunRefused, match=f"127.0.0.1:{port}"), served(board, "127.0.0.1", port):
            pass
