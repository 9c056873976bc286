"""What a running `heddle yarn steer` shows of itself, and what it heeds."""

import getpass
from collections.abc import Callable
from threading import Thread

import pytest

import heddle.dashboard.board as board_module
from heddle.cli.main import run
from heddle.dashboard.controls import ask, look_at
from heddle.yarn.live.steering.desk import Desk
from heddle.yarn.live.steering.showing import Showing, shown_on
from yarn_live.fake_rm import FakeRm

from .watching import wait_for


def meanwhile(act: Callable[[], None]) -> Thread:
    thread = Thread(target=act)
    thread.start()
    return thread


@pytest.mark.parametrize("mode", ["live", "shadow"])
def test_it_shows_itself_pauses_goes_on_and_ends_as_the_desk_says(rm: FakeRm, desk: Desk, mode: str) -> None:
    seen = []

    def running() -> dict[str, object]:
        found = shown_on(desk)
        return found[0] if found is not None and found[1] else {}

    def act() -> None:
        wait_for(lambda: running().get("steps"), 120)
        session = str(running()["session"])
        seen.append(running())
        ask(desk, "pause", session, "here")
        wait_for(lambda: running().get("paused") is True, 120)
        ask(desk, "resume", session, "here")
        wait_for(lambda: running().get("paused") is False, 120)
        ask(desk, "end", session, "here")

    thread = meanwhile(act)
    arguments = ["yarn", "steer", "--rm", rm.address, "--policy", "fifo", "--mode", mode, "--accept-sizes"]
    assert run([*arguments, "--every", "0.2", "--for", "150"]) == 0
    thread.join()
    shown, lives = shown_on(desk) or ({}, True)
    assert (shown["mode"], shown["user"], lives) == (mode, getpass.getuser(), False)
    assert shown["ended_at"] >= shown["began_at"]
    assert seen[0]["applications"] == 1
    said = [entry["said"] for entry in shown["log"] if "said" in entry]
    for text in ("paused: everything is restored, and nothing will change", "resumed", "stopped from the dashboard"):
        assert text in said
    assert look_at(desk).about["state"] == "ended"
    assert not desk.has_baseline


def test_a_dashboard_beside_it_is_fed_by_its_own_looks(
    rm: FakeRm, desk: Desk, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    boards = []

    class Kept(board_module.Board):
        def __init__(self, *arguments: object) -> None:
            super().__init__(*arguments)  # type: ignore[arg-type]
            boards.append(self)

    monkeypatch.setattr(board_module, "Board", Kept)
    arguments = ["yarn", "steer", "--rm", rm.address, "--policy", "fifo", "--every", "0.2", "--for", "1"]
    assert run([*arguments, "--dashboard"]) == 0
    assert "dashboard at http://127.0.0.1:" in capsys.readouterr().err
    (board,) = boards
    assert [name for name, _ in board.news(0, -1)["names"]] == ["a:1", "b:1"]


def test_of_two_in_shadow_mode_the_first_is_shown(desk: Desk) -> None:
    said: list[str] = []
    first, second = (Showing(desk, "fifo", "shadow", 1.0, 60.0) for _ in range(2))
    with first.at_work(said.append), second.at_work(said.append):
        found = shown_on(desk)
        assert found is not None
        assert found[0]["session"] == first.name
    assert len(said) == 1


def test_a_disk_that_takes_nothing_does_not_disturb_it(desk: Desk) -> None:
    showing = Showing(desk, "fifo", "live", 1.0, 60.0)
    with showing.at_work(lambda _: None):
        (desk.folder / "live.json").unlink()
        (desk.folder / "live.json").mkdir()
        showing.missed(paused=False)
        assert shown_on(desk) is None
        (desk.folder / "live.json").rmdir()
