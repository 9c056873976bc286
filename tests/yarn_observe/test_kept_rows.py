"""Journals that somebody or something has changed: what is wrong, on which line, in which field."""

import json
from pathlib import Path
from typing import Any

import pytest

from heddle.model.errors import BadInput
from heddle.yarn.observe.live_record import record_of
from heddle.yarn.observe.seen import Seen, read_seen
from heddle.yarn.observe.tallies import use_of

NODE = {"what": "node", "id": "n:1", "rack": "/r", "label": "", "total": [8192, 8000], "http": "n:2"}
APP = {"what": "app", "id": "a", "name": "n", "kind": "SPARK", "queue": "q", "user": "u", "submitted_at_ms": 2}
CONTAINER = {
    "what": "container", "id": "c", "app": "a", "node": "n:1", "priority": 1, "size": [1024, 1000], "is_am": False,
    "asked_at_ms": 3, "began_at_ms": 4, "ended_between_ms": [5, 7],
}  # fmt: skip
HISTORY = {"what": "history", "app": "a", "state": "S", "attempts": [{"id": "t"}], "sizes": {}, "counters": {}}


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({}, "journal:2: what: None is nothing"),
        ({"what": "poll"}, "journal:2: at_ms: is missing"),
        ({"what": "poll", "at_ms": "7"}, "journal:2: at_ms: must be a whole number, not '7'"),
        ({"what": "poll", "at_ms": True}, "journal:2: at_ms: must be a whole number, not True"),
        ({"what": "began", "at_ms": 10**30}, "journal:2: at_ms: is beyond all bounds"),
        (APP | {"name": None}, "journal:2: name: must be a text, not None"),
        (CONTAINER | {"size": [1024]}, r"journal:2: size: must have 2 members, not 1"),
        (CONTAINER | {"size": 1024}, r"journal:2: size: must be a list, not 1024"),
        (CONTAINER | {"is_am": 1}, "journal:2: is_am: must be true or false, not 1"),
        (HISTORY, r"journal:2: attempts\[0\].container: is missing"),
        (HISTORY | {"attempts": [], "counters": []}, "journal:2: counters: must be an object"),
        (HISTORY | {"attempts": [3]}, r"journal:2: attempts\[0\]: must be an object, not 3"),
        ({"what": "size", "at_ms": 1, "node": "m", "total": [1, 1]}, "journal:2: node: no line before tells of 'm'"),
    ],
)
def test_a_line_that_no_observer_wrote(entry: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        read_seen([NODE, entry], "journal")


def _seen(*lines: dict[str, Any]) -> Seen:
    return read_seen(lines, "journal")


def test_what_a_later_version_adds_is_left_out_and_what_an_earlier_one_had_not_takes_its_default() -> None:
    seen = _seen(NODE | {"colour": 1}, APP | {"colour": 1}, CONTAINER)
    assert (seen.apps["a"].tags, seen.containers["c"].ended_between_ms) == ("", (5, 7))
    assert seen.nodes["n:1"].total == (8192, 8000)


def test_a_record_of_a_journal_that_was_torn_before_its_nodes() -> None:
    run = record_of(_seen(APP, CONTAINER), policy="stock", workload="w", started_by=[])
    assert (run.jobs.height, run.attempts.height, run.nodes.height) == (1, 0, 0)


def test_a_history_with_a_kind_of_attempt_that_mapreduce_does_not_have() -> None:
    attempt = {"id": "t", "container": "d", "kind": "NAP", "state": "S", "node": "n:2", "began_at_ms": 1,
               "ended_at_ms": 2, "diagnostics": ""}  # fmt: skip
    told = HISTORY | {"attempts": [attempt], "sizes": {"NAP": [1024, 1000]}}
    assert record_of(_seen(NODE, APP, told), policy="stock", workload="w", started_by=[]).attempts.height == 0


@pytest.mark.parametrize(
    ("line", "said"),
    [({}, "container: is missing"), ({"container": "c", "memory_mb_ms": "1", "cpu_ms": 1}, "memory_mb_ms: must be a")],
)
def test_a_sample_that_no_tracker_wrote(line: dict[str, Any], said: str, tmp_path: Path) -> None:
    (tmp_path / "samples").write_text(json.dumps({"container": "c", "memory_mb_ms": 1, "cpu_ms": 1}) + "\n")
    with (tmp_path / "samples").open("a") as file:
        file.write(json.dumps(line) + "\n")
    with pytest.raises(BadInput, match=f"samples:2: {said}"):
        use_of(tmp_path / "samples")
