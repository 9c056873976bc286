"""heddle's own columnar format: one Parquet file that holds the arrays of a Workload as they are.

A Parquet file has one list of columns, a workload several tables of different lengths. So each *row group* belongs to
one table (section): it fills that table's columns (`job.submit_at_ms`, `task.duration_ms`, ...) and leaves all others
null, which costs nothing on disk. A column with one value throughout is a single number in the header. The header
(JSON in the file's metadata, under the key `heddle`) also has the small things: names, shapes, version. Reading goes
row group by row group straight into the structured arrays.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from heddle.model.errors import BadInput
from heddle.model.nested_text import from_json
from heddle.model.whereabouts import lies_at
from heddle.model.whole_files import or_bad_input, whole_file
from heddle.model.workload import Workload
from heddle.traces.check import check_column, check_names, check_relations, limits
from heddle.traces.parquet_layout import ALWAYS_COLUMNS, Arrays
from heddle.traces.problems import Problems

FORMAT: Final = "heddle-workload"
VERSION: Final = 1

_METADATA_KEY: Final = b"heddle"
_ROWS_PER_GROUP: Final = 1 << 18
_NAME_COLUMNS: Final = ("job.name", "stage.name")

# What reading a damaged file can raise: pyarrow's own errors, and ours for a header that is not what we wrote.
_DAMAGE: Final = (
    pa.ArrowException, OSError, ValueError, LookupError, TypeError, AttributeError, OverflowError, MemoryError,
)  # fmt: skip

Section = dict[str, npt.NDArray[Any] | pl.Series]


def write_parquet(workload: Workload, path: Path) -> None:
    """Write the workload; a reader never sees half a file. The same workload gives the same bytes."""
    arrays = Arrays.of(workload)
    lengths = arrays.lengths()
    sections: dict[str, Section] = {}
    constants: dict[str, int] = {}
    for section, columns in arrays.columns(workload.resources).items():
        sections[section] = {}
        for name, column in columns.items():
            if name not in ALWAYS_COLUMNS and (not len(column) or column.min() == column.max()):
                constants[name] = int(column[0]) if len(column) else 0
            else:
                sections[section][name] = column
    for name, series in zip(_NAME_COLUMNS, (workload.job_names, workload.stage_names), strict=True):
        if series is not None:
            sections[name.partition(".")[0]][name] = series
    header = {
        "format": FORMAT,
        "version": VERSION,
        "name": workload.name,
        "resources": workload.resources,
        "queues": workload.queues,
        "users": workload.users,
        "labels": workload.labels,
        "hosts": workload.hosts,
        "has_prefers": workload.prefers is not None,
        # Not in files without: they are as they were before workloads could have these.
        **({} if workload.running_on is None else {"has_running": True}),
        **({} if workload.edge_bytes is None else {"has_edge_bytes": True}),
        **({} if workload.input_bytes is None else {"has_input_bytes": True}),
        "shapes": workload.shapes.tolist(),
        "about": workload.about,
        "lengths": lengths,
        "constants": constants,
    }
    with or_bad_input(path), whole_file(path) as partial:
        _write(partial, header, sections, lengths)


def _write(path: Path, header: dict[str, Any], sections: dict[str, Section], lengths: dict[str, int]) -> None:
    types = {
        name: pa.string() if isinstance(values, pl.Series) else pa.from_numpy_dtype(values.dtype)
        for section in sections.values()
        for name, values in section.items()
    }
    metadata = {_METADATA_KEY: json.dumps(header, sort_keys=True).encode()}
    schema = pa.schema(list(types.items()), metadata=metadata)
    names = [name for name in _NAME_COLUMNS if name in types]
    with pq.ParquetWriter(path, schema, compression="zstd", use_dictionary=names, write_page_checksum=True) as writer:
        for name, section in sections.items():
            if section:
                for start in range(0, lengths[name], _ROWS_PER_GROUP):
                    n_rows = min(_ROWS_PER_GROUP, lengths[name] - start)
                    writer.write_table(_row_group(section, start, n_rows, schema), row_group_size=_ROWS_PER_GROUP)


def _row_group(section: Section, start: int, n_rows: int, schema: pa.Schema) -> pa.Table:
    nulls = {kind: pa.nulls(n_rows, kind) for kind in set(schema.types)}
    arrays = []
    for field in schema:
        values = section.get(field.name)
        if values is None:
            arrays.append(nulls[field.type])
        elif isinstance(values, pl.Series):
            arrays.append(pa.array(values.slice(start, n_rows).to_list(), field.type))
        else:
            arrays.append(pa.array(np.ascontiguousarray(values[start : start + n_rows]), field.type))
    return pa.table(arrays, schema=schema)


def read_parquet(path: Path) -> Workload:
    """Read what `write_parquet` wrote; anything else is BadInput."""
    where = str(path)
    path = lies_at(path)
    if not path.is_file():
        raise BadInput.of(where, "no such file")
    problems = Problems(where)
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            workload = _read(file, _header(file, where), problems)
    except _DAMAGE as error:
        first_line = (str(error).splitlines() or [type(error).__name__])[0]
        raise BadInput.of(where, f"not a readable heddle workload: truncated or damaged ({first_line})") from None
    check_relations(workload, problems)
    problems.raise_if_any()
    return workload


def _header(file: pq.ParquetFile, where: str) -> dict[str, Any]:
    text = (file.schema_arrow.metadata or {}).get(_METADATA_KEY)
    if text is None:
        raise BadInput.of(where, "a Parquet file, but not a heddle workload (`heddle workload make` writes those)")
    header = from_json(text)
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise BadInput.of(where, f"a Parquet file of heddle, but not a workload: its format is not {FORMAT}")
    if header.get("version") != VERSION:
        raise BadInput.of(
            where, f"version {header.get('version')} of the workload format; this heddle reads version {VERSION}"
        )
    return header


def _read(file: pq.ParquetFile, header: dict[str, Any], problems: Problems) -> Workload:
    resources = tuple(header["resources"])
    arrays = Arrays.empty(
        header["lengths"],
        len(resources),
        with_prefers=bool(header["has_prefers"]),
        with_running=bool(header.get("has_running")),
        with_edge_bytes=bool(header.get("has_edge_bytes")),
        with_input_bytes=bool(header.get("has_input_bytes")),
    )
    shapes = np.array(header["shapes"], dtype=np.int64).reshape(-1, len(resources))
    workload = Workload(
        name=str(header["name"]),
        resources=resources,
        queues=tuple(header["queues"]),
        users=tuple(header["users"]),
        labels=tuple(header["labels"]),
        shapes=shapes,
        jobs=arrays.jobs,
        stages=arrays.stages,
        tasks=arrays.tasks,
        segments=arrays.segments,
        stage_after=arrays.stage_after,
        job_after=arrays.job_after,
        prefers=arrays.prefers,
        running_on=arrays.running_on,
        started_at_ms=arrays.started_at_ms,
        edge_bytes=arrays.edge_bytes,
        input_bytes=arrays.input_bytes,
        hosts=tuple(header["hosts"]),
        about=dict(header["about"]),
    )
    check_names(workload, problems)
    allowed = limits(workload)
    columns = arrays.columns(resources)
    constants: dict[str, int] = header["constants"]
    for section in columns.values():
        for name in constants.keys() & section.keys():
            column = section[name]
            if constants[name]:  # the arrays are zero already
                column[:] = constants[name]
            check_column(name, column[:1], allowed, problems)
    names: dict[str, list[pa.ChunkedArray]] = {}
    for section_name, start, table in _row_groups(file, arrays.lengths(), columns, set(constants)):
        for name in table.column_names:
            if name in _NAME_COLUMNS:
                names.setdefault(name, []).append(_complete(table[name]))
            else:
                values = _complete(table[name]).to_numpy()
                check_column(name, values, allowed, problems, start)
                columns[section_name][name][start : start + len(values)] = values
    problems.raise_if_any()
    arrays.derive()
    series: dict[str, Any] = {
        f"{section}_names": _series(section, names.get(f"{section}.name", []))
        for section in ("job", "stage")
        if f"{section}.name" in file.schema_arrow.names
    }
    return dataclasses.replace(workload, **series)


def _row_groups(
    file: pq.ParquetFile, lengths: dict[str, int], columns: dict[str, dict[str, npt.NDArray[Any]]], known: set[str]
) -> Iterator[tuple[str, int, pa.Table]]:
    """(section, first row in it, rows): sections stand one after the other, each begins a new row group."""
    group = 0
    for section, length in lengths.items():
        wanted = [name for name in columns[section] if name not in known]
        wanted += [name for name in _NAME_COLUMNS if name.startswith(f"{section}.") and name in file.schema_arrow.names]
        start = 0
        while wanted and start < length:
            table = file.read_row_group(group, columns=wanted)
            if table.num_columns != len(wanted) or start + len(table) > length:
                raise ValueError(f"the rows of section {section} are not as its header says")
            yield section, start, table
            start += len(table)
            group += 1


def _complete(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if column.null_count:
        raise ValueError("a value is missing")
    return column


def _series(name: str, parts: list[pa.ChunkedArray]) -> pl.Series:
    chunks = [chunk for part in parts for chunk in part.chunks]
    return pl.Series(name, pl.from_arrow(pa.chunked_array(chunks, type=pa.string())), dtype=pl.String)
