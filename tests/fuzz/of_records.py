"""Records of runs: what stands in the files, and behind their checksums the tables.

No fuzzer guesses a checksum, so tables are not given as bytes but as columns, and are written as heddle writes them.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any, Final

import polars as pl

from heddle.model.errors import HeddleError
from heddle.model.nested_text import from_json
from heddle.record.files import read_record
from heddle.record.journal import Journal
from heddle.record.manifest import FORMAT_VERSION
from heddle.record.parts import part_name, write_part
from heddle.record.run import Run
from heddle.record.schema import submitted
from record.hand_made import TWO_JOBS, run_of

from .in_a_folder import file

TYPES: Final = ("Int8", "Int16", "Int32", "Int64", "UInt64", "Float64", "Boolean", "String", "Date", "Null")
RUN: Final = run_of(TWO_JOBS, events=True)


class NoColumns(HeddleError):
    """The input does not describe tables: nothing that a reader could be given."""


def _tables(data: bytes) -> None:
    """`{"killed": false, "known": {...}, "tables": {"jobs": {"job": ["Int32", [0, 1]]}}}`: what differs from RUN."""
    try:
        said = from_json(data)
        known = RUN.manifest | {"format_version": FORMAT_VERSION} | dict(said.get("known", {}))
        changed = said.get("tables", {})
        frames = {name: _changed(frame, changed.get(name, {})) for name, frame in _frames().items()}
    except (ValueError, TypeError, AttributeError, OverflowError, pl.exceptions.PolarsError):
        raise NoColumns from None
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        if said.get("killed"):
            _write_killed(folder, known, frames)
        else:
            files = {f"{part_name(n, 0)}": write_part(frame, folder / part_name(n, 0)) for n, frame in frames.items()}
            (folder / "manifest.json").write_text(json.dumps({**known, "files": files}))
        _look_through(read_record(folder))


def _frames() -> dict[str, pl.DataFrame]:
    return RUN.tables() | {"submitted": RUN.jobs.select(column.name for column in submitted().columns)}


def _changed(frame: pl.DataFrame, columns: dict[str, Any]) -> pl.DataFrame:
    made = {name: frame[name] for name in frame.columns}
    for name, told in columns.items():
        kind, values = told
        dtype = frame.schema.get(name, pl.Int64) if kind == "" else getattr(pl, TYPES[TYPES.index(kind)])
        made[str(name)] = pl.Series(str(name), list(values), dtype=dtype)
    return pl.DataFrame(made)


def _write_killed(folder: Path, known: dict[str, Any], frames: dict[str, pl.DataFrame]) -> None:
    journal = Journal(folder, known)
    for name, frame in frames.items():
        journal.finished(part_name(name, 0), write_part(frame, folder / part_name(name, 0)))
    journal.close()


def _look_through(run: Run) -> None:
    for frame in run.tables().values():
        assert frame.height >= 0
    list(run.job_ranges())
    run.time_cuts()


TARGETS = {
    "record-manifest": file("manifest.json", lambda path: read_record(path.parent)),
    "record-parts": file("parts.jsonl", lambda path: read_record(path.parent)),
    "record-tables": _tables,
}
