"""The journal of a record that is being written: what the run is, then a line for each part that is finished.

Whoever writes holds a lock on it, so that a journal without one is what a killed run left. A line that was cut off
counts for nothing.
"""

from __future__ import annotations

import fcntl
import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from heddle.model.errors import BadInput
from heddle.model.nested_text import from_json

JOURNAL_FILE: Final = "parts.jsonl"


class Journal:
    """Open while the record is written."""

    def __init__(self, folder: Path, known: Mapping[str, Any]) -> None:
        """`known`: what the manifest will say, as far as it is known before the run."""
        self._file = (folder / JOURNAL_FILE).open("x", encoding="utf-8")
        with suppress(OSError):  # file systems that know no locks
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self._add(known)

    def finished(self, part: str, written: Mapping[str, Any]) -> None:
        self._add({"file": part, **written})

    def close(self) -> None:
        self._file.close()

    def _add(self, line: Mapping[str, Any]) -> None:
        self._file.write(json.dumps(line, sort_keys=True, allow_nan=False) + "\n")
        self._file.flush()


class Left(NamedTuple):
    """What a journal tells."""

    known: dict[str, Any]
    parts: dict[str, dict[str, Any]]  # by name of the file


def read_journal(folder: Path) -> Left:
    path = folder / JOURNAL_FILE
    try:
        text = path.read_bytes()
    except OSError as error:
        raise BadInput.of(str(path), f"cannot be read: {error.strerror or error}") from error
    lines = []
    for line in text.split(b"\n")[:-1]:  # behind the last line end is nothing, or half a line
        try:
            entry = from_json(line)
        except ValueError as error:
            raise BadInput.of(str(path), f"is damaged, or not heddle's: {error}") from error
        if not isinstance(entry, dict):
            raise BadInput.of(str(path), "is damaged, or not heddle's: each line is an object")
        lines.append(entry)
    if not lines or not {"format_version", "heddle_version"} <= lines[0].keys():
        raise BadInput.of(str(path), "was not written by heddle, or ends before its first line does")
    return Left(lines[0], {str(entry.get("file")): entry for entry in lines[1:]})


def is_being_written(folder: Path) -> bool:
    """Whether somebody holds the journal in this folder."""
    try:
        with (folder / JOURNAL_FILE).open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # no journal, or a file system that knows no locks
        return False
    return False
