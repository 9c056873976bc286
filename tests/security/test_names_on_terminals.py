"""What a terminal would obey, and lines that pass for ours, are shown instead: in messages, tables, JSON and logs."""

from __future__ import annotations

import ast
import io
import json
import warnings
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from rich.text import Text

import heddle.cli
from heddle.cli import output
from heddle.cli.steer_view import SteerView
from heddle.dashboard import controls
from heddle.model.errors import BadInput, CheckFailed, HeddleError, Problem, RunRefused
from heddle.model.visible_text import visible
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.steering.desk import Desk
from heddle.yarn.live.steering.watchdog import Watchdog
from heddle.yarn.live.wire import YarnError
from yarn_live.fake_rm import FakeRm

Capture = pytest.CaptureFixture[str]

# Title, clipboard, colours, a cleared screen, C1, a line that passes for another, one that goes over the line before
# it, a turned direction, and half a surrogate.
EVIL = "job\x1b]0;owned\x07\x1b]52;c;cm0=\x07\x1b[31m\x1b[2J\x9b2J\nerror: forged\rover\u202eturned\u2028next\ud800"
OBEYED = [*map(chr, range(0x0A)), *map(chr, range(0x0B, 0x20)), *map(chr, range(0x7F, 0xA0)), *"\u2028\u202e\ud800"]


def assert_harmless(text: str, lines: int) -> None:
    assert [mark for mark in OBEYED if mark in text] == []
    assert text.count("\n") == lines
    assert "\\x1b]0;owned" in text, "it is shown"


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "1000")


def test_a_message_is_one_line(capsys: Capture) -> None:
    output.say(EVIL)
    output.say_wrapped(EVIL)
    output.complain(EVIL)
    output.print_line(EVIL)
    output.print_paragraphs([EVIL])
    said = capsys.readouterr()
    assert_harmless(said.err, lines=3)
    assert_harmless(said.out, lines=3)  # an empty line after paragraphs


@pytest.mark.parametrize(
    "error",
    [BadInput([Problem(EVIL, EVIL, 3, EVIL)]), CheckFailed([f"the log:\n{EVIL}"]), RunRefused(EVIL)],
    ids=lambda error: type(error).__name__,
)
def test_no_line_of_an_error_passes_for_another_error(error: HeddleError, capsys: Capture) -> None:
    output.report(error)
    first, *more = capsys.readouterr().err.splitlines()
    assert first.startswith(("error: ", "check failed: "))
    assert more
    assert all(line.startswith("  ") for line in more)
    assert_harmless("".join([first, *more]), lines=0)


def test_warnings_are_harmless(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    output.show_warnings_briefly()
    warnings.showwarning(EVIL, UserWarning, "", 0)
    assert_harmless(capsys.readouterr().err, lines=1)


def test_a_log_keeps_its_lines_and_tabs(capsys: Capture) -> None:
    output.print_lines("one\n\tat two\x1b[2J")
    assert capsys.readouterr().out == "one\n\tat two\\x1b[2J\n"


def test_tables_are_harmless_and_keep_the_colours_that_are_heddles(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = (EVIL, Text(f"{visible(EVIL)}\n  of two lines", style="red"))
    output.print_tables([output.table((visible(EVIL), "b"), [cells], title=EVIL)])
    text = capsys.readouterr().out
    assert [mark for mark in OBEYED if mark in text] == []
    assert text.count("error: forged") == text.count("\\nerror: forged") == 4, "no cell is taken for two lines"
    drawn = io.StringIO()
    Console(file=drawn, force_terminal=True, width=1000, color_system="standard", no_color=False).print(
        output.table(("a", "b"), [("x", Text("mine", style="red"))])
    )
    assert "\x1b[31mmine" in drawn.getvalue()


def test_json_is_json_with_nothing_that_a_terminal_obeys(capsys: Capture) -> None:
    document: dict[str, Any] = {"name": EVIL}
    for show in (output.print_json, output.print_json_line):
        show(document)
        text = capsys.readouterr().out
        assert [mark for mark in OBEYED if mark in text] == []
        assert json.loads(text)["name"] == EVIL
    output.tell_errors_as_json(True)
    try:
        output.report(RunRefused(EVIL))
    finally:
        output.tell_errors_as_json(False)
    text = capsys.readouterr().err
    assert text.count("\n") == 1
    assert [mark for mark in OBEYED if mark in text] == []
    assert json.loads(text)["error"]["problems"][0]["what"] == EVIL


def test_what_a_resource_manager_answers_is_one_harmless_line() -> None:
    evil = EVIL.replace("\ud800", "")
    with FakeRm() as rm, RmClient(rm.address, timeout_s=5) as client:
        for status in (500, 302):
            rm.instead["/info"] = status, evil
            with pytest.raises(YarnError) as told:
                client.get("/ws/v1/cluster/info")
            assert_harmless(str(told.value), lines=0)


def test_the_live_view_is_harmless() -> None:
    drawn = io.StringIO()
    view = SteerView(EVIL, Console(file=drawn, width=1000))
    view.say(EVIL)
    view._console.print(view.picture())
    assert_harmless(drawn.getvalue(), lines=3)


def test_no_name_forges_a_line_of_a_log(tmp_path: Path, capsys: Capture) -> None:
    """Of the watchdog, whose stdout is its log, and of who did what on a dashboard, which is JSON line by line."""
    Watchdog(Desk(tmp_path), 60.0)._say(EVIL)
    assert_harmless(capsys.readouterr().out, lines=1)
    controls._note(Desk(tmp_path), {"from": EVIL})
    (line,) = (tmp_path / "actions.log").read_text().splitlines()
    assert json.loads(line)["from"] == EVIL


# Documents and pages of ours, which a terminal is to get as they are.
ALLOWED = {("cluster.py", "import_cluster"), ("docs.py", "_print_page"), ("reference.py", "<module>")}


def test_commands_print_through_the_one_place_that_makes_text_visible() -> None:
    found = set()
    for file in Path(heddle.cli.__file__).parent.glob("*.py"):
        for outer in ast.parse(file.read_text()).body:
            for node in ast.walk(outer):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
                    found.add((file.name, getattr(outer, "name", "<module>")))
    assert {place for place in found if place[0] != "output.py"} == ALLOWED
