"""A file of JSON lines that only grows, so that a restart goes on where it was.

A line that was cut off by a crash is left out at reading and overwritten by the next. What cannot be written (the disk
is full) stays in memory and is tried again with the next lines, so that nothing that was seen is lost or doubled.
A journal that nobody reads back may be bounded: it then begins anew at some size, and one older file stays beside it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from heddle.model.errors import BadInput, RunRefused
from heddle.model.nested_text import from_json
from heddle.yarn.live.files import DISK, Files

LINE_END: Final = b"\n"


class Journal:
    """Append with add(), then flush()."""

    def __init__(
        self,
        path: Path,
        say: Callable[[str], None] = lambda _: None,
        files: Files = DISK,
        most_bytes: int | None = None,
    ) -> None:
        """`most_bytes`: of a file; what would make it larger goes into a new one, and the old one is FILE.1."""
        self.path = path
        self._say, self._files, self._most_bytes = say, files, most_bytes
        self._pending: list[bytes] = []
        self._full = False
        try:
            files.overwrite(path, b"")  # there from the beginning
        except OSError as error:
            raise RunRefused(f"{path}: cannot be written ({error.strerror})") from None
        self._whole_bytes = sum(len(line) for line in _whole_lines(path, files))

    def read(self) -> Iterator[dict[str, Any]]:
        yield from read_lines(self.path, self._files)

    def add(self, entry: dict[str, Any]) -> None:
        self._pending.append(json.dumps(entry, separators=(",", ":")).encode() + LINE_END)

    def flush(self) -> None:
        """Writes what is pending; says once if the disk refuses."""
        if not self._pending:
            return
        data = b"".join(self._pending)
        try:
            self._make_room(len(data))
            self._files.extend(self.path, self._whole_bytes, data)  # in place of half a line of an earlier try
        except OSError as error:
            if not self._full:
                self._say(
                    f"{self.path}: cannot be written ({error.strerror}); observations are kept in memory and retried"
                )
            self._full = True
            return
        self._full = False
        self._whole_bytes += len(data)
        self._pending.clear()

    def _make_room(self, more_bytes: int) -> None:
        if self._most_bytes is None:
            return
        if self._whole_bytes and self._whole_bytes + more_bytes > self._most_bytes:
            self._files.rename(self.path, older(self.path))
            self._whole_bytes = 0
        if not self._whole_bytes:
            self._files.overwrite(self.path, b"")  # there, also if the disk refused it the last time


def older(path: Path) -> Path:
    """Where a bounded journal has what came before the file."""
    return path.with_name(f"{path.name}.1")


def read_lines(path: Path, files: Files = DISK) -> Iterator[dict[str, Any]]:
    """The entries of a journal; BadInput where a whole line is not one."""
    for number, line in enumerate(_whole_lines(path, files), 1):
        try:
            entry = from_json(line)
        except ValueError:
            raise BadInput.of(str(path), "is not JSON", row=number) from None
        if not isinstance(entry, dict):
            raise BadInput.of(str(path), "is not a JSON object", row=number)
        yield entry


def _whole_lines(path: Path, files: Files) -> Iterator[bytes]:
    for line in files.lines(path):
        if line.endswith(LINE_END):
            yield line
