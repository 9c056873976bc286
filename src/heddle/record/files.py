"""Run records on disk: a folder with a manifest and the parts of each table (docs/record.md)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

import polars as pl

from heddle.model.errors import BadInput, Problem
from heddle.model.nested_text import from_json
from heddle.record import format_1
from heddle.record.journal import JOURNAL_FILE
from heddle.record.manifest import FORMAT_VERSION, manifest_problems
from heddle.record.partial import read_partial
from heddle.record.parts import parts_of, read_part
from heddle.record.run import Run
from heddle.record.schema import OPTIONAL_TABLES, Table, run_problems, tables
from heddle.record.stored import StoredTable
from heddle.record.writing import MANIFEST_FILE, is_record, partial_place, record_folder

READ_VERSIONS: Final = (format_1.VERSION, FORMAT_VERSION)


def write_record(run: Run, folder: str | Path) -> None:
    """Write the run into `folder`, replacing the record that may be there, and nothing else.

    BadInput if something that is not a record is in the way; ValueError if the run breaks the schema.
    """
    if problems := run_problems(run):
        raise ValueError("the run does not follow the record's schema:\n" + "\n".join(map(str, problems)))
    manifest = run.manifest | {"format_version": FORMAT_VERSION}  # whatever the version of the record it was read from
    with record_folder(Path(folder), manifest) as fresh:
        for name, frame in run.tables().items():
            fresh.add_table(name, frame)
        fresh.finish(manifest)


def read_record(folder: str | Path) -> Run:
    """The run that was written into `folder`; BadInput names everything that is wrong with it.

    Of what a killed run left, all that is known: its outcome is `partial`.
    """
    place = Path(folder)
    if is_partial(place):
        return read_partial(place)
    manifest = _read_manifest(place)
    problems: list[Problem] = []
    frames: dict[str, Any] = {}
    for table in tables(manifest["resources"]).values():
        if table.name in OPTIONAL_TABLES and not parts_of(table.name, manifest["files"]):
            continue
        try:
            frames[table.name] = _read_table(place, table, manifest)
        except BadInput as bad:
            problems += bad.problems
    if problems:
        raise BadInput(problems)
    del manifest["files"]  # describes the folder, not the run
    return Run(
        manifest=manifest,
        jobs=frames["jobs"],
        attempts=frames["attempts"],
        shapes=frames["shapes"],
        stages=frames["stages"],
        nodes=frames["nodes"],
        events=frames.get("events"),
    )


def stored_table(folder: Path, table: str) -> StoredTable:
    """A table of a record that this process has written."""
    return StoredTable([folder / name for name in parts_of(table, os.listdir(folder))])


def is_partial(folder: Path) -> bool:
    """Whether this is what a killed run left of its record, or what a run is writing now."""
    return (folder / JOURNAL_FILE).is_file() and not (folder / MANIFEST_FILE).exists()


def is_record_or_partial(folder: Path) -> bool:
    """Whether `read_record` is meant: it may still find much wrong with it."""
    return (folder / MANIFEST_FILE).is_file() or is_partial(folder)


def cluster_beside_record(record: Path) -> Path:
    """Where the cluster of an observed run is described: what a record itself does not hold."""
    return record.with_name("cluster.yaml")


def _read_manifest(folder: Path) -> dict[str, Any]:
    if not folder.is_dir():
        what = "is not a folder" if folder.exists() else "there is no such folder"
        if is_partial(partial_place(folder)):
            what += f"; {partial_place(folder)} is what a run wrote that was killed, or still goes on, and can be read"
        raise BadInput.of(str(folder), what)
    path = folder / MANIFEST_FILE
    try:
        manifest = from_json(path.read_bytes())
    except FileNotFoundError:
        raise BadInput.of(str(folder), f"is not a record: it has no {MANIFEST_FILE}") from None
    except OSError as error:
        raise BadInput.of(str(path), f"cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise BadInput.of(str(path), f"is damaged, or not heddle's: {error}") from error
    if not is_record(folder):
        raise BadInput.of(str(folder), f"is not a record: its {MANIFEST_FILE} was not written by heddle")
    version = manifest["format_version"]
    if version not in READ_VERSIONS:
        writer, ours = manifest["heddle_version"], " and ".join(map(str, READ_VERSIONS))
        what = f"is format {version!r}, written by heddle {writer}; this heddle reads formats {ours}"
        raise BadInput.of(str(path), what, field="format_version")
    problems = manifest_problems(manifest, str(path))
    if not isinstance(manifest["files"], dict) or not all(isinstance(row, dict) for row in manifest["files"].values()):
        problems.append(Problem(str(path), "must list the files of the record", field="files"))
    if problems:
        raise BadInput(problems)
    return dict(manifest)


def _read_table(folder: Path, table: Table, manifest: dict[str, Any]) -> pl.DataFrame | StoredTable:
    """One that has a single part, or else where its parts are. BadInput names all that is wrong with any of them.

    Each part is looked at, one after another, so that this needs no more memory for a long table.
    """
    old, files = manifest["format_version"] == format_1.VERSION, manifest["files"]
    written = format_1.table_then(table) if old else table
    names = parts_of(table.name, files)
    if not names:
        raise BadInput.of(str(folder / MANIFEST_FILE), f"lists no file of the table {table.name}", field="files")
    problems: list[Problem] = []
    first: pl.DataFrame | None = None
    for name in names:
        try:
            part = read_part(folder / name, written, files[name])
            first = part if first is None else first
        except BadInput as bad:
            problems += bad.problems
    if problems:
        raise BadInput(problems)
    assert first is not None
    if old:  # there every table is one file
        return format_1.as_now(first, table, manifest)
    return first if len(names) == 1 else StoredTable([folder / name for name in names])
