"""A record on its way to disk: parts and their journal in a folder beside its place, which is renamed when it is whole.

So the place holds a whole record or what it held before. Ctrl-C and errors leave nothing behind; a run that is killed
leaves `NAME.partial`, which can be read (record/partial.py) until the next one is written to the same place.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import polars as pl

from heddle.model.errors import BadInput
from heddle.model.nested_text import from_json
from heddle.model.whole_files import or_bad_input, put_in_place, write_whole
from heddle.record import parts
from heddle.record.journal import JOURNAL_FILE, Journal, is_being_written
from heddle.record.parts import part_name, parts_of, write_part
from heddle.record.schema import SUBMITTED, tables

MANIFEST_FILE: Final = "manifest.json"


class RecordFolder:
    """The folder while it is filled."""

    def __init__(self, place: Path, known: Mapping[str, Any]) -> None:
        self.place = place
        self._journal = Journal(place, known)
        self._files: dict[str, dict[str, Any]] = {}
        self._parts: dict[str, int] = {}

    def part_files(self, table: str) -> list[Path]:
        """Those that are finished."""
        return [self.place / part_name(table, number) for number in range(self._parts.get(table, 0))]

    def add_part(self, table: str, frame: pl.DataFrame) -> None:
        """The next part of a table: PART_ROWS rows, and fewer only in its last."""
        number = self._parts.get(table, 0)
        name = part_name(table, number)
        self._files[name] = write_part(frame, self.place / name)
        self._parts[table] = number + 1
        self._journal.finished(name, self._files[name])

    def add_table(self, table: str, frame: pl.DataFrame) -> None:
        """All rows of a table; one without any has one part, too."""
        for first in range(0, max(1, frame.height), parts.PART_ROWS):
            self.add_part(table, frame.slice(first, parts.PART_ROWS))

    def finish(self, manifest: Mapping[str, Any]) -> None:
        """Nothing else is to come: the manifest takes the place of the journal and of what only it needs."""
        for name in parts_of(SUBMITTED, self._files):
            del self._files[name]
            (self.place / name).unlink()
        text = json.dumps({**manifest, "files": self._files}, indent=1, sort_keys=True, allow_nan=False)
        write_whole(self.place / MANIFEST_FILE, text + "\n")
        (self.place / JOURNAL_FILE).unlink()

    def close(self) -> None:
        self._journal.close()


def partial_place(target: Path) -> Path:
    """Where the record of `target` is written."""
    return target.with_name(f"{target.name}.partial")


@contextmanager
def record_folder(target: Path, known: Mapping[str, Any]) -> Iterator[RecordFolder]:
    """A folder to fill and finish, which then replaces the record that may be at `target`, and nothing else.

    BadInput if something that is not a record is in the way, or if the system refuses.
    """
    fresh = partial_place(target)
    _refuse_what_is_no_record(target)
    _refuse_what_is_no_record(fresh)
    if is_being_written(fresh):
        raise BadInput.of(str(target), "another run is writing this record")
    with or_bad_input(target, "cannot write the record"):
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir()
        try:
            folder = RecordFolder(fresh, known)
            try:
                yield folder
            finally:
                folder.close()
            put_in_place(fresh, target)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)


def is_record(folder: Path) -> bool:
    """Whether heddle wrote this folder, whole or damaged, in whatever version."""
    try:
        manifest = from_json((folder / MANIFEST_FILE).read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(manifest, dict) and {"format_version", "heddle_version", "files"} <= manifest.keys()


def _refuse_what_is_no_record(target: Path) -> None:
    if not (target.exists() or target.is_symlink()):
        return
    if not target.is_dir() or target.is_symlink():
        raise BadInput.of(str(target), "is not a folder; a record is written only to a new place or over a record")
    present = {entry.name for entry in target.iterdir()}
    if not present:
        return
    if not is_record(target) and JOURNAL_FILE not in present:
        raise BadInput.of(str(target), "is not empty and not a record; nothing was overwritten")
    ours = {MANIFEST_FILE, JOURNAL_FILE}
    for table in (*tables(()), SUBMITTED):
        ours.update(parts_of(table, present))
    if strange := sorted(present - ours):
        raise BadInput.of(str(target), f"holds files that are not the record's ({', '.join(strange)}); not overwritten")
