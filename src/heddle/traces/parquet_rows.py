"""The rows of one section of a heddle Parquet file, from first to last, as many at a time as are asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from heddle.traces.parquet_header import NAME_COLUMNS, Header


def row_groups_of(file: pq.ParquetFile, header: Header) -> dict[str, list[int]]:
    """Sections stand one after the other; each begins a new row group. One whose columns are all constant has none."""
    found: dict[str, list[int]] = {}
    group = 0
    for section, length in header.lengths.items():
        stored = [name for name in header.columns_of(section) if name not in header.constants]
        found[section], rows = [], 0
        while stored and rows < length:
            rows += file.metadata.row_group(group).num_rows
            found[section].append(group)
            group += 1
        if stored and rows != length:
            raise ValueError(f"the rows of section {section} are not as its header says")
    return found


class SectionRows:
    """Columns that are constant are in no row group."""

    def __init__(
        self, file: pq.ParquetFile, groups: Sequence[int], columns: Sequence[str], constants: Mapping[str, int]
    ) -> None:
        self._file, self._groups = file, list(groups)
        self._stored = [name for name in columns if name not in constants]
        self._constants = {name: constants[name] for name in columns if name in constants}
        self._read: list[pa.Table] = []  # row groups, the first of which may be used up in part

    def take(self, n_rows: int) -> dict[str, Any]:
        """The next rows, column by column: numbers as arrays, names as they are."""
        found = self.peek_all(n_rows)
        self.skip(n_rows)
        return found

    def peek(self, name: str, n_rows: int) -> npt.NDArray[Any]:
        """A column of rows that are still to be taken; fewer where there are no more."""
        if name in self._constants:
            return np.full(n_rows, self._constants[name])
        column: npt.NDArray[Any] = self._ahead(n_rows)[name].to_numpy()
        return column

    def peek_all(self, n_rows: int) -> dict[str, Any]:
        found: dict[str, Any] = {name: np.full(n_rows, value) for name, value in self._constants.items()}
        if self._stored and n_rows:
            table = self._ahead(n_rows)
            if len(table) != n_rows:
                raise ValueError("the lengths of its parts do not add up")
            found |= {name: table[name] if name in NAME_COLUMNS else table[name].to_numpy() for name in self._stored}
        elif self._stored:
            found |= {name: np.zeros(0, np.int64) for name in self._stored if name not in NAME_COLUMNS}
        return found

    def skip(self, n_rows: int) -> None:
        while n_rows and self._stored:
            if not self._read:
                self._read_group()
            first = self._read.pop(0)
            if len(first) > n_rows:
                self._read.insert(0, first.slice(n_rows))
            n_rows -= min(n_rows, len(first))

    def _ahead(self, n_rows: int) -> pa.Table:
        while sum(map(len, self._read)) < n_rows and self._groups:
            self._read_group()
        tables = self._read or [self._file.schema_arrow.empty_table().select(self._stored)]
        return pa.concat_tables(tables).slice(0, n_rows)

    def _read_group(self) -> None:
        if not self._groups:
            raise ValueError("the lengths of its parts do not add up")
        table = self._file.read_row_group(self._groups.pop(0), columns=self._stored)
        if table.num_columns != len(self._stored) or any(column.null_count for column in table.columns):
            raise ValueError("a value is missing")
        self._read.append(table)
