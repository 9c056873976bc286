"""A trace that comes again and again, written to a file piece by piece: it need not fit into memory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from heddle.model.errors import BadInput
from heddle.model.workload import NO_SEGMENTS, Workload
from heddle.traces.parquet import Section, write_sections
from heddle.traces.parquet_blocks import MOST_SHARED
from heddle.traces.parquet_layout import ALWAYS_COLUMNS, Arrays

_MOST_ROWS: Final = 2**31 - 1


def period_of(workload: Workload) -> int:
    """After how many ms it comes again, unless somebody says so: its arrivals go on at the rate that they had."""
    submit = workload.jobs["submit_at_ms"]
    span = int(submit[-1] - submit[0])
    return max(1, span + span // max(1, len(submit) - 1))


def write_repeated(workload: Workload, times: int, every_ms: int, path: Path) -> dict[str, int]:
    """Writes the workload so many times, one behind the other; how many rows of each kind that are.

    Jobs of the k-th time have `~k` behind their names. Segments of use are shared, unless they are too many to be held
    by whoever reads the file in blocks; then they are repeated, too.
    """
    if workload.running_on is not None:
        raise BadInput.of(workload.name, "begins with containers that are there, which cannot come again")
    submit = workload.jobs["submit_at_ms"]
    if int(submit[-1]) - int(submit[0]) > every_ms:
        last_s = (int(submit[-1]) - int(submit[0])) / 1000
        raise BadInput.of(
            "--every", f"its last job comes {last_s:g} s after its first: it cannot come again before that"
        )
    arrays = Arrays.of(workload)
    once = arrays.lengths()
    shares = once["segment"] <= MOST_SHARED
    lengths = {name: rows * (1 if name == "segment" and shares else times) for name, rows in once.items()}
    if max(lengths.values()) > _MOST_ROWS:
        raise BadInput.of("--times", f"{max(lengths.values()):,} rows are more than a workload can have")
    steps = {
        "job.submit_at_ms": every_ms,
        "task.first_segment": 0 if shares else once["segment"],
        "stage_after": once["stage"],
        "job_after": once["job"],
    }
    sections: dict[str, Section] = {}
    constants: dict[str, int] = {}
    for section, columns in arrays.columns(workload.resources).items():
        sections[section] = {}
        for name, column in columns.items():
            step = steps.get(name, 0)
            is_constant = not len(column) or (column.min() == column.max() and (step == 0 or times == 1))
            if is_constant and name not in ALWAYS_COLUMNS:
                constants[name] = int(column[0]) if len(column) else 0
            else:
                sections[section][name] = _Repeated(column, step)
    if workload.job_names is not None:
        sections["job"]["job.name"] = _RepeatedNames(workload.job_names, numbered=True)
    if workload.stage_names is not None:
        sections["stage"]["stage.name"] = _RepeatedNames(workload.stage_names, numbered=False)
    write_sections(workload, path, sections, lengths, constants)
    return lengths


@dataclass(frozen=True)
class _Repeated:
    """A column that is repeated, larger by `step` each time."""

    column: npt.NDArray[Any]
    step: int

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.column.dtype

    def __getitem__(self, rows: slice) -> npt.NDArray[Any]:
        time, row = np.divmod(np.arange(rows.start, rows.stop), len(self.column))
        values = self.column[row]
        if self.step == 0:
            return values
        moved: npt.NDArray[Any] = np.where(values == NO_SEGMENTS, values, values + time * self.step)
        return moved.astype(self.dtype)


@dataclass(frozen=True)
class _RepeatedNames:
    names: pl.Series
    numbered: bool  # each time has names of its own

    def slice(self, first: int, count: int) -> pl.Series:
        time, row = np.divmod(np.arange(first, first + count), len(self.names))
        names = self.names.gather(row)
        if not self.numbered:
            return names
        again = pl.Series(np.where(time == 0, "", np.char.add("~", (time + 1).astype(str))), dtype=pl.String)
        return names + again
