"""The controller is reached by its desk alone, and only where it runs and is ours."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from heddle.dashboard import controls
from heddle.dashboard.board import Board
from heddle.dashboard.controls import look_at
from heddle.yarn.live.applying.standing import Standing
from heddle.yarn.live.steering.desk import Baseline, Desk

from .showing_up import controller, decision

TESTS = Path(__file__).parents[1]
KILLED = """
import os, sys
from pathlib import Path
from dashboard.showing_up import controller
from heddle.yarn.live.steering.desk import Desk
with controller(Desk(Path(sys.argv[1]))):
    os._exit(9)
"""


def test_no_buttons_where_no_controller_runs(desk: Desk) -> None:
    found = look_at(desk)
    assert (found.about["state"], found.actions, found.session) == ("none", [], "")
    assert not desk.folder.exists()  # looking leaves nothing behind


@pytest.mark.parametrize("mode", ["live", "shadow"])
def test_a_running_controller_has_buttons(desk: Desk, mode: str) -> None:
    with controller(desk, mode) as running:
        found = look_at(desk)
        assert (found.about["state"], found.about["mode"], found.actions) == ("running", mode, ["pause", "end"])
        desk.pause(True)
        assert look_at(desk).actions == ["resume", "end"]
        desk.ask_to_end(running.name)
        assert look_at(desk).actions == []
    assert look_at(desk).about["state"] == "ended"
    assert look_at(desk).actions == []


def test_a_live_controller_is_shown_before_one_in_shadow_mode(desk: Desk) -> None:
    with controller(desk, "shadow"), controller(desk, "live"):
        assert look_at(desk).about["mode"] == "live"


def test_a_controller_that_was_killed_has_died_and_has_no_buttons(desk: Desk) -> None:
    killed = subprocess.run([sys.executable, "-c", KILLED, str(desk.folder)], cwd=TESTS, check=False)
    assert killed.returncode == 9
    desk.save(Baseline("http://rm", None, Standing(sizes={"a:1": (1, 1000)})))
    found = look_at(desk)
    assert (found.about["state"], found.actions) == ("died", [])
    assert "1 nodes, queues or applications" in found.about["left"]
    assert "heddle yarn restore" in found.about["left"]  # no watchdog lives


def test_no_buttons_where_the_files_are_not_ours(
    desk: Desk, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    with controller(desk) as running:
        monkeypatch.setattr(controls.os, "geteuid", lambda: os.getuid() + 1)
        assert look_at(desk).actions == []
        assert "only that user can control it" in look_at(desk).about["why"]
        answer = client.post("/actions/pause", json={"session": running.name, "confirmed": True})
        assert answer.status_code == 409
    assert not desk.paused


def test_actions_go_to_the_desk_and_into_its_log(desk: Desk, client: TestClient, board: Board) -> None:
    with controller(desk) as running:
        says = {"session": running.name, "confirmed": True}
        assert client.post("/actions/pause", json=says).status_code == 200
        assert desk.paused
        assert client.post("/actions/pause", json=says).status_code == 409  # it is
        assert client.post("/actions/resume", json=says).status_code == 200
        assert not desk.paused
        assert client.post("/actions/end", json=says).status_code == 200
        assert desk.is_to_end(running.name)
        assert not desk.is_to_end("another")
        assert client.post("/actions/nonsense", json=says).status_code == 404
    lines = [json.loads(line) for line in (desk.folder / "actions.log").read_text().splitlines()]
    assert [(line["action"], line["session"]) for line in lines] == [
        ("pause", running.name), ("resume", running.name), ("end", running.name),
    ]  # fmt: skip
    assert all(line["user"] and line["from"] and line["at"] > 0 for line in lines)
    asked = [line["text"] for line in board.news(0, -1)["log"]]
    assert [text.partition(" by ")[0] for text in asked if text.startswith("asked to")] == [
        "asked to put everything back and pause", "asked to resume", "asked to put everything back and end",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b'{"session": "x"}', b'{"session": "x", "confirmed": "yes"}', b" " * 5000]
)
def test_what_is_not_confirmed_is_not_done(desk: Desk, client: TestClient, body: bytes) -> None:
    with controller(desk):
        assert client.post("/actions/end", content=body).status_code == 400
    assert not (desk.folder / "ending").exists()


def test_the_controller_that_a_person_saw_is_meant_and_no_later_one(desk: Desk, client: TestClient) -> None:
    with controller(desk) as first:
        says = {"session": first.name, "confirmed": True}
    with controller(desk) as second:
        assert client.post("/actions/end", json=says).status_code == 409
        assert not desk.is_to_end(second.name)
    assert client.post("/actions/end", json=says).status_code == 409


def test_what_cannot_be_logged_is_not_done(desk: Desk, client: TestClient) -> None:
    with controller(desk) as running:
        (desk.folder / "actions.log").mkdir()
        answer = client.post("/actions/pause", json={"session": running.name, "confirmed": True})
        assert answer.status_code == 409
        assert "the request was dropped" in answer.json()["refused"]
    assert not desk.paused


def test_decisions_come_with_their_causes_once_each(desk: Desk, board: Board, looks: Callable[[], None]) -> None:
    node = {"node": "worker-3:8041"}
    with controller(desk) as running:
        board.look_at_desk()
        for _ in range(3):
            running.stepped(decision(node), paused=False)  # as the step before
        running.stepped(decision({**node, "verdict": "failed", "problem": "HTTP 500"}), paused=False)
        running.said("began anew")
        board.look_at_desk()
        log = board.news(0, -1)["log"]
    assert [(line["text"], line.get("verdict"), line.get("cause")) for line in log] == [
        ("worker-3:8041", "posted", "lever"), ("worker-3:8041", "failed", "lever"), ("began anew", None, None),
    ]  # fmt: skip
    assert look_at(desk).about["totals"] == {"posted": 4, "failed": 1}
