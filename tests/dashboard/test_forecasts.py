"""Forecasts of a twin that runs beside, in the form in which it keeps them."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

from heddle.dashboard.board import Board
from heddle.dashboard.forecasts import FILE, Forecasts
from heddle.dashboard.polling import look
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.steering.desk import Desk
from yarn_live.fake_rm import FakeRm

AT_MS = 1_700_000_500_000


def line(app: str, at_ms: int, *told: int | None) -> str:
    rest = {"horizon_ms": 1_800_000, "drawn": list(told), "naive": None}
    return json.dumps({"app": app, "at_ms": at_ms, "told": list(told), **rest}) + "\n"


def test_the_last_of_each_application_with_its_age_by_the_file(tmp_path: Path) -> None:
    file = tmp_path / FILE
    file.write_text(line("a", AT_MS - 5000, 1, 2, 3) + line("b", AT_MS - 5000, 9, 20, None) + line("a", AT_MS, 4, 5, 6))
    os.utime(file, (1000, 1000))
    forecasts = Forecasts(tmp_path, lambda: 1002.0)  # written 2 s ago, whatever clock the lines go by
    found = forecasts.look(500.0)
    assert found == {"a": {"at_s": 498.0, "told_ms": [4, 5, 6]}, "b": {"at_s": 493.0, "told_ms": [9, 20, None]}}
    with file.open("a") as more:
        more.write("no forecast\n" + line("b", AT_MS + 1000, 7, 8, 9) + '{"app": "a", "at_ms')  # not yet whole
    assert forecasts.look(500.0)["b"]["told_ms"] == [7, 8, 9]
    assert forecasts.look(500.0)["a"]["told_ms"] == [4, 5, 6]


def test_the_board_has_them_of_applications_that_are_there(rm: FakeRm, desk: Desk, tmp_path: Path) -> None:
    first, second, _ = rm.apps
    began_s = time.monotonic()
    text = line(second, AT_MS, 1000, 9000, 20000) + line(first, AT_MS, 1000, None, None) + line("gone", AT_MS, 1, 2, 3)
    (tmp_path / FILE).write_text(text)
    board = Board(rm.address, desk, 15, tmp_path)
    with RmClient(rm.address) as client:
        look(client, board)
    rows = board.news(0, -1)["forecasts"]
    assert [row["id"] for row in rows] == [second, first]
    # Rounded to a tenth; clocks of files are coarse.
    assert began_s - 0.2 <= rows[0]["at_s"] <= time.monotonic() + 0.2


def test_without_a_folder_nothing_is_said_of_them(board: Board, looks: Callable[[], None], tmp_path: Path) -> None:
    looks()
    assert "forecasts" not in board.news(0, -1)
    assert Forecasts(tmp_path / "nowhere", time.time).look(1.0) == {}
