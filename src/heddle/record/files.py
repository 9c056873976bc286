"""Run records on disk: a folder with a manifest and one Parquet file per table.

A record appears whole or not at all: it is written into a folder beside its place and then renamed.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Final

import polars as pl

from heddle.model.errors import BadInput, Problem
from heddle.model.nested_text import from_json
from heddle.model.whole_files import or_bad_input, whole_folder
from heddle.record.encoding import write_table
from heddle.record.manifest import FORMAT_VERSION, manifest_problems
from heddle.record.run import Run
from heddle.record.schema import OPTIONAL_TABLES, Table, run_problems, table_problems, tables

MANIFEST_FILE: Final = "manifest.json"


def write_record(run: Run, folder: str | Path) -> None:
    """Write the run into `folder`, replacing the record that may be there, and nothing else.

    BadInput if something that is not a record is in the way; ValueError if the run breaks the schema.
    """
    if problems := run_problems(run):
        raise ValueError("the run does not follow the record's schema:\n" + "\n".join(map(str, problems)))
    target = Path(folder)
    _refuse_what_is_no_record(target)
    with or_bad_input(target, "cannot write the record"):
        target.parent.mkdir(parents=True, exist_ok=True)
        with whole_folder(target) as fresh:
            _write_files(run, fresh)


def read_record(folder: str | Path) -> Run:
    """The run that was written into `folder`; BadInput names everything that is wrong with it."""
    place = Path(folder)
    manifest = _read_manifest(place)
    problems: list[Problem] = []
    frames: dict[str, pl.DataFrame] = {}
    for table in tables(manifest["resources"]).values():
        if table.name in OPTIONAL_TABLES and _file_name(table) not in manifest["files"]:
            continue
        try:
            frames[table.name] = _read_table(place, table, manifest["files"])
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


def is_record(folder: Path) -> bool:
    """Whether heddle wrote this folder, whole or damaged, in whatever version."""
    try:
        manifest = from_json((folder / MANIFEST_FILE).read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(manifest, dict) and {"format_version", "heddle_version", "files"} <= manifest.keys()


def cluster_beside_record(record: Path) -> Path:
    """Where the cluster of an observed run is described: what a record itself does not hold."""
    return record.with_name("cluster.yaml")


def _file_name(table: Table) -> str:
    return f"{table.name}.parquet"


def _refuse_what_is_no_record(target: Path) -> None:
    if not (target.exists() or target.is_symlink()):
        return
    if not target.is_dir() or target.is_symlink():
        raise BadInput.of(str(target), "is not a folder; a record is written only to a new place or over a record")
    present = {entry.name for entry in target.iterdir()}
    if not present:
        return
    if not is_record(target):
        raise BadInput.of(str(target), "is not empty and not a record; nothing was overwritten")
    ours = {MANIFEST_FILE, *(_file_name(table) for table in tables(()).values())}
    if strange := sorted(present - ours):
        raise BadInput.of(str(target), f"holds files that are not the record's ({', '.join(strange)}); not overwritten")


def _write_files(run: Run, folder: Path) -> None:
    files: dict[str, dict[str, Any]] = {}
    known = tables(run.resources)
    for name, frame in run.tables().items():
        path = folder / _file_name(known[name])
        write_table(frame.rechunk(), path)
        files[path.name] = {"bytes": path.stat().st_size, "sha256": _digest(path)}
    text = json.dumps(run.manifest | {"files": files}, indent=1, sort_keys=True, allow_nan=False)
    (folder / MANIFEST_FILE).write_text(text + "\n", encoding="utf-8")


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read_manifest(folder: Path) -> dict[str, Any]:
    if not folder.is_dir():
        raise BadInput.of(str(folder), "there is no such folder" if not folder.exists() else "is not a folder")
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
    if version != FORMAT_VERSION:
        writer = manifest["heddle_version"]
        what = f"is format {version!r}, written by heddle {writer}; this heddle reads format {FORMAT_VERSION}"
        raise BadInput.of(str(path), what, field="format_version")
    problems = manifest_problems(manifest, str(path))
    if not isinstance(manifest["files"], dict) or not all(isinstance(row, dict) for row in manifest["files"].values()):
        problems.append(Problem(str(path), "must list the files of the record", field="files"))
    if problems:
        raise BadInput(problems)
    return dict(manifest)


def _read_table(folder: Path, table: Table, files: dict[str, Any]) -> pl.DataFrame:
    path = folder / _file_name(table)
    if path.name not in files:
        raise BadInput.of(str(folder / MANIFEST_FILE), f"does not list {path.name}", field="files")
    written = files[path.name]
    try:
        size = path.stat().st_size
        if size != written.get("bytes"):
            raise BadInput.of(
                str(path), f"has {size} bytes, {written.get('bytes')} were written: truncated or replaced"
            )
        if _digest(path) != written.get("sha256"):
            raise BadInput.of(str(path), "is not what was written: damaged or replaced")
        frame = pl.read_parquet(path)
    except FileNotFoundError:
        raise BadInput.of(str(path), "is missing") from None
    except OSError as error:
        raise BadInput.of(str(path), f"cannot be read: {error.strerror or error}") from error
    except pl.exceptions.PolarsError as error:
        raise BadInput.of(str(path), f"is not readable Parquet: {error}") from error
    if problems := table_problems(frame, table, str(path)):
        raise BadInput(problems)
    return frame
