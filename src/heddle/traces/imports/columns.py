"""Text tables as columns: lines split into fields, numbers. Whole columns at a time."""

from __future__ import annotations

import io
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from heddle.traces.imports.json_items import LARGEST
from heddle.traces.imports.source import Lines, Source

ROW = "row"  # the column that keeps the number of the row in its file
MORE = "more"  # the column of what is beyond the last name


def set_aside_where(source: Source, frame: pl.DataFrame, wrong: pl.Expr, reason: str) -> pl.DataFrame:
    """The frame without the rows for which this holds; those are set aside with the reason."""
    mask = frame.select(wrong.fill_null(True)).to_series()
    if not mask.any():
        return frame
    source.rows.set_aside(frame.filter(mask)[ROW].to_numpy(), reason)
    return frame.filter(~mask)


def fields_of(lines: Lines, separator: str, names: Collection[str]) -> pl.DataFrame:
    """Lines without a header as columns of text; what is beyond the last name goes into MORE."""
    split = lines.text.str.splitn(separator, len(names) + 1).struct.unnest()
    split.columns = [*names, MORE]
    return split.with_columns(pl.Series(ROW, lines.rows))


def typed_blocks(
    source: Source, separator: str, types: Mapping[str, Any], *, comment: str = "\x00", collapse: bool = False
) -> Iterator[pl.DataFrame]:
    """A file without a header, block by block, as typed columns with `row` and `more` (what is beyond the last column).

    Clean blocks are parsed at once. One in which anything is odd - text where a number belongs, a line that is too
    long, empty lines, comments - is split line by line, so that every line keeps its own fate.
    """
    for block, first_line in source.blocks():
        frame = _at_once(block, separator, types, comment, collapse)
        if frame is not None:
            lines = np.arange(first_line, first_line + frame.height, dtype=np.int64)
            yield frame.with_columns(pl.Series(ROW, source.rows.add(lines)), more=pl.lit(None, pl.String))
            continue
        body = drop_empty(source, source.lines_of(block, first_line), comment)
        rows = fields_of(body.collapsed() if collapse else body, separator, types)
        yield rows.with_columns(_as(name, dtype) for name, dtype in types.items())


def _as(name: str, dtype: Any) -> pl.Expr:
    if dtype == pl.String:
        return pl.when(pl.col(name) != "").then(pl.col(name)).alias(name)
    return whole(name) if dtype == pl.Int64 else number(name)


def _at_once(
    block: bytes, separator: str, types: Mapping[str, Any], comment: str, collapse: bool
) -> pl.DataFrame | None:
    """The block by the CSV parser; None where it is not clean throughout."""
    if comment.encode() in block or b"\r" in block or b"\x00" in block:
        return None
    if collapse:
        block = block.replace(b"\t", b" ")
        while b"  " in block:
            block = block.replace(b"  ", b" ")
        block = block.replace(b"\n ", b"\n").replace(b" \n", b"\n").lstrip(b" ")
    try:
        frame = pl.read_csv(
            io.BytesIO(block), has_header=False, separator=separator, quote_char=None, schema=dict(types)
        )
    except (pl.exceptions.PolarsError, OSError, ValueError):
        return None
    numbers = [name for name, dtype in types.items() if dtype != pl.String]
    odd = pl.any_horizontal(pl.col(name).abs() >= LARGEST for name in numbers).fill_null(False).any()
    empty = pl.all_horizontal(pl.col(name).is_null() for name in types).any()
    n_lines = block.count(b"\n") + (not block.endswith(b"\n"))
    if frame.height != n_lines or any(frame.select(odd=odd, empty=empty).row(0)):
        return None
    nan = [
        pl.when(pl.col(name).is_finite()).then(pl.col(name)).alias(name)
        for name in numbers
        if types[name] == pl.Float64
    ]
    return frame.with_columns(nan)


def drop_empty(source: Source, lines: Lines, comment: str = "\x00", *, strip: bool = True) -> Lines:
    """Without empty lines and comments, which are metadata; `strip`: and without blanks around the others."""
    stripped = lines.text.str.strip_chars()
    comments = stripped.str.starts_with(comment).to_numpy()
    empty = (stripped == "").to_numpy()
    source.rows.metadata(lines.rows[comments], "comments")
    source.rows.metadata(lines.rows[empty], "empty lines")
    keep = ~(comments | empty)
    kept = (stripped if strip else lines.text).filter(pl.Series(keep))
    return Lines(kept, lines.rows[keep], lines.first_line)


def number(column: str) -> pl.Expr:
    """The column as a number; null where it is none, or larger than any time or size that a trace can mean."""
    parsed = pl.col(column).str.strip_chars().cast(pl.Float64, strict=False)
    return pl.when(parsed.abs() < LARGEST).then(parsed)


def whole(column: str) -> pl.Expr:
    """The column as a whole number; null as for `number`."""
    return number(column).round().cast(pl.Int64, strict=False)


def rows_of(frame: pl.DataFrame) -> npt.NDArray[np.int64]:
    return frame[ROW].to_numpy()
