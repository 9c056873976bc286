"""What a run without a terminal says of how far it is."""

from __future__ import annotations

import pytest

from heddle.cli import progress
from heddle.cli.output import be_quiet
from heddle.experiments.engines import LocalProcesses


def double(number: int) -> int:
    return 2 * number


def test_lines_take_the_place_of_the_bar(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(progress, "LINE_EVERY_S", 0.0)
    be_quiet(False)
    found = dict(progress.attempts_with_progress(LocalProcesses(1), double, [1, 2, 3], before=5))
    assert found == {0: 2, 1: 4, 2: 6}
    assert capsys.readouterr().err == "6 of 8 runs are done\n7 of 8 runs are done\n"


def test_short_runs_say_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    be_quiet(False)
    list(progress.run_with_progress(LocalProcesses(1), double, [1, 2, 3]))
    assert capsys.readouterr().err == ""
