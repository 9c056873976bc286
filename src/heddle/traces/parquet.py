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
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from heddle.model.whole_files import or_bad_input, whole_file
from heddle.model.workload import Workload
from heddle.traces.check import check_column, check_names, check_relations, limits_of
from heddle.traces.parquet_header import FORMAT, METADATA_KEY, NAME_COLUMNS, VERSION, Header, opened, series_of
from heddle.traces.parquet_layout import ALWAYS_COLUMNS, Arrays
from heddle.traces.problems import Problems

_ROWS_PER_GROUP: Final = 1 << 18


class Numbers(Protocol):
    """A column of numbers, of which a slice is in memory at a time."""

    @property
    def dtype(self) -> np.dtype[Any]: ...

    def __getitem__(self, rows: slice, /) -> npt.NDArray[Any]: ...


class Names(Protocol):
    """A column of names, likewise."""

    def slice(self, first: int, count: int, /) -> pl.Series: ...


Section = dict[str, Numbers | Names]


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
    for name, series in zip(NAME_COLUMNS, (workload.job_names, workload.stage_names), strict=True):
        if series is not None:
            sections[name.partition(".")[0]][name] = series
    write_sections(workload, path, sections, lengths, constants)


def write_sections(
    about: Workload,
    path: Path,
    sections: Mapping[str, Section],
    lengths: Mapping[str, int],
    constants: Mapping[str, int],
) -> None:
    """Write a workload whose rows come from these columns, a slice at a time; of `about`, what is no job's."""
    header = {
        "format": FORMAT,
        "version": VERSION,
        "name": about.name,
        "resources": about.resources,
        "queues": about.queues,
        "users": about.users,
        "labels": about.labels,
        "hosts": about.hosts,
        "has_prefers": about.prefers is not None,
        # Not in files without: they are as they were before workloads could have these.
        **({} if about.running_on is None else {"has_running": True}),
        **({} if about.edge_bytes is None else {"has_edge_bytes": True}),
        **({} if about.input_bytes is None else {"has_input_bytes": True}),
        "shapes": about.shapes.tolist(),
        "about": about.about,
        "lengths": dict(lengths),
        "constants": dict(constants),
    }
    with or_bad_input(path), whole_file(path) as partial:
        _write(partial, header, sections, lengths)


def _write(path: Path, header: dict[str, Any], sections: Mapping[str, Section], lengths: Mapping[str, int]) -> None:
    types = {
        name: pa.string() if name in NAME_COLUMNS else pa.from_numpy_dtype(values.dtype)  # type: ignore[union-attr]
        for section in sections.values()
        for name, values in section.items()
    }
    metadata = {METADATA_KEY: json.dumps(header, sort_keys=True).encode()}
    schema = pa.schema(list(types.items()), metadata=metadata)
    names = [name for name in NAME_COLUMNS if name in types]
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
        elif hasattr(values, "slice"):
            arrays.append(pa.array(values.slice(start, n_rows).to_list(), field.type))
        else:
            arrays.append(pa.array(np.ascontiguousarray(values[start : start + n_rows]), field.type))
    return pa.table(arrays, schema=schema)


def read_parquet(path: Path) -> Workload:
    """Read what `write_parquet` wrote; anything else is BadInput."""
    problems = Problems(str(path))
    with opened(path) as (file, header):
        workload = _read(file, header, problems)
    check_relations(workload, problems)
    problems.raise_if_any()
    return workload


def _read(file: pq.ParquetFile, header: Header, problems: Problems) -> Workload:
    arrays = header.arrays(header.lengths)
    workload = header.workload(arrays)
    check_names(workload, problems, workload.n_jobs)
    allowed = limits_of(workload, arrays.lengths())
    columns = arrays.columns(header.resources)
    constants = header.constants
    for section in columns.values():
        for name in constants.keys() & section.keys():
            column = section[name]
            if constants[name]:  # the arrays are zero already
                column[:] = constants[name]
            check_column(name, column[:1], allowed, problems)
    names: dict[str, list[pa.ChunkedArray]] = {}
    for section_name, start, table in _row_groups(file, arrays.lengths(), columns, set(constants)):
        for name in table.column_names:
            if name in NAME_COLUMNS:
                names.setdefault(name, []).append(_complete(table[name]))
            else:
                values = _complete(table[name]).to_numpy()
                check_column(name, values, allowed, problems, start)
                columns[section_name][name][start : start + len(values)] = values
    problems.raise_if_any()
    arrays.derive()
    series: dict[str, Any] = {
        f"{section}_names": series_of(section, names.get(f"{section}.name", []))
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
        wanted += [name for name in NAME_COLUMNS if name.startswith(f"{section}.") and name in file.schema_arrow.names]
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
