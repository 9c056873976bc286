"""The values of a CSV of tasks: text into heddle's units, whole columns at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import polars as pl

from heddle.traces.assemble import DEFAULT_STAGE
from heddle.traces.csv_tasks.columns import COLUMNS, NAMES, REQUIRED, SEPARATORS, Column
from heddle.traces.csv_tasks.verdicts import Said, Verdicts
from heddle.traces.imports.columns import ROW
from heddle.traces.imports.header_tables import read_table
from heddle.traces.imports.source import Source
from heddle.traces.sizes import megabytes

_LARGEST: Final = 10**12  # keeps every product the engine forms inside 64 bits
_NOT_UTF8: Final = "\ufffd"


def read_values(source: Source, verdicts: Verdicts, theirs: Mapping[str, str]) -> pl.DataFrame:
    """Heddle's columns as far as the file has them, null where empty; `theirs` says which have other names there."""
    table = read_table(source, "even out", tuple(SEPARATORS))
    if table.separator != ",":
        source.remarks[f"is separated by {SEPARATORS[table.separator]}"] = None
    in_file = {name: theirs.get(name, name) for name in NAMES}
    _check_header(table.header, in_file, frozenset(theirs), verdicts)
    has = table.columns
    there = [column for column in COLUMNS if in_file[column.name] in has]
    text = table.frame.select(ROW, **{column.name: has[in_file[column.name]] for column in there})
    empty = table.frame.select(pl.all_horizontal(pl.exclude(ROW).is_null())).to_series()
    source.rows.metadata(text.filter(empty)[ROW].to_numpy(), "empty lines")
    text = text.filter(~empty)
    columns = [_typed(column, text, verdicts) for column in there]
    values = verdicts.settle(pl.DataFrame([text[ROW], *columns]))
    stage = pl.col("stage").fill_null(DEFAULT_STAGE) if "stage" in values.columns else pl.lit(DEFAULT_STAGE)
    return values.with_columns(stage.alias("stage"))


def _check_header(header: list[str], in_file: Mapping[str, str], mapped: frozenset[str], verdicts: Verdicts) -> None:
    for name, theirs in in_file.items():
        if theirs not in header and (name in REQUIRED or name in mapped):
            verdicts.problems.add("missing column", row=1, field=theirs)
    for theirs in dict.fromkeys(in_file.values()):
        if header.count(theirs) > 1:
            verdicts.problems.add("column given twice", row=1, field=theirs)
    unknown = [name for name in dict.fromkeys(header) if name and name not in in_file.values()]
    verdicts.unknown_columns(unknown, NAMES)


def _typed(column: Column, text: pl.DataFrame, verdicts: Verdicts) -> pl.Series:
    values = text[column.name]
    if column.required:
        verdicts.reject(_rows(text, values.is_null()), "empty", column.name)
    if column.is_text:
        odd = values.str.contains(_NOT_UTF8, literal=True).fill_null(False)
        verdicts.mend(_rows(text, odd), "not UTF-8", column.name, f"unreadable characters became {_NOT_UTF8}")
        return values
    return _numbers(column, text, verdicts)


def _numbers(column: Column, text: pl.DataFrame, verdicts: Verdicts) -> pl.Series:
    values = text[column.name]

    def reject(wrong: pl.Series, what: str) -> None:
        if wrong.any():
            verdicts.reject(_rows(text, wrong), what, column.name, _quoting(what, values.filter(wrong)))

    parsed = values.cast(pl.Float64, strict=False) if column.size is None else megabytes(values, column.size)
    reject(values.is_not_null() & parsed.is_null(), "not a number")
    number = parsed.fill_null(0.0)
    reject(~number.is_finite(), "not a finite number")
    size = number.set(~number.is_finite(), 0.0).to_numpy() * (-1 if column.is_past else 1)
    reject(pl.Series(size < 0), "later than 0, when the run begins" if column.is_past else "negative")
    reject(pl.Series(size > _LARGEST), f"larger than {_LARGEST}")
    if column.is_ms:
        fraction = pl.Series(size != np.floor(size))
        what = "not a whole number of milliseconds"
        said = _quoting(what, values.filter(fraction))
        verdicts.mend(_rows(text, fraction), what, column.name, "rounded up", said)
    # Rounded up, but not for the last bits of a binary fraction: 1.1 vcores are 1100 millicores.
    exact = np.round(np.clip(size, 0, _LARGEST) * column.factor, 6)
    scaled = np.ceil(exact).astype(np.int64) * (-1 if column.is_past else 1)
    return pl.Series(column.name, scaled).set(values.is_null(), None)


def _rows(text: pl.DataFrame, wrong: pl.Series) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return text[ROW].filter(wrong).to_numpy()


def _quoting(what: str, wrong: pl.Series) -> Said:
    return lambda n: f"{what}: {str(wrong[n])[:40]}"
