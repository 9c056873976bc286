"""Text tables as columns: lines split into fields, headers, numbers. Whole columns at a time."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from heddle.model.errors import BadInput
from heddle.traces.imports.json_items import LARGEST
from heddle.traces.imports.source import Lines, Source

ShortRows = Literal["set aside", "fill"]

ROW = "row"  # the column that keeps the number of the row in its file


def set_aside_where(source: Source, frame: pl.DataFrame, wrong: pl.Expr, reason: str) -> pl.DataFrame:
    """The frame without the rows for which this holds; those are set aside with the reason."""
    mask = frame.select(wrong.fill_null(True)).to_series()
    if not mask.any():
        return frame
    source.rows.set_aside(frame.filter(mask)[ROW].to_numpy(), reason)
    return frame.filter(~mask)


def fields_of(lines: Lines, separator: str, names: Collection[str]) -> pl.DataFrame:
    """Lines without a header as columns of text; what is beyond the last name goes into `more`."""
    split = lines.text.str.splitn(separator, len(names) + 1).struct.unnest()
    split.columns = [*names, "more"]
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


@dataclass(frozen=True)
class HeaderTable:
    """A CSV with a header: its names as they stand there, and the rows as text in columns of these names.

    In the frame an empty or repeated name has its place behind it; `row` keeps the number of the row in its file.
    """

    header: list[str]
    frame: pl.DataFrame
    separator: str


def read_header_table(source: Source, required: Collection[str]) -> pl.DataFrame:
    """A CSV that must have these columns, as columns of text; rows with too few or too many fields are set aside."""
    table = read_table(source, short_rows="set aside")
    missing = [name for name in required if name not in table.frame.columns]
    if missing:
        raise BadInput.of(source.name, f"missing column: {', '.join(missing)}", row=1)
    return table.frame


def read_table(source: Source, short_rows: ShortRows, separators: Sequence[str] = ",") -> HeaderTable:
    """A CSV with a header; header and empty lines are metadata. What a short row lacks can count as empty.

    Of several separators it is the one that stands most often in the header, the first of them where none does.
    """
    lines = source.lines()
    if not len(lines) or not lines.text[0].strip():
        raise BadInput.of(source.name, "empty: the first line must be a header")
    # A comma inside quotes, or a line break, needs a real CSV reader; without quotes splitting is much faster.
    quoted = bool(lines.text.str.contains('"', literal=True).any())
    separator = max(separators, key=lines.text[0].count)
    read = _read_quoted if quoted else _read_plain
    return read(source, lines, short_rows, separator)


def _read_plain(source: Source, lines: Lines, short_rows: ShortRows, separator: str) -> HeaderTable:
    header = [name.strip() for name in lines.text[0].split(separator)]
    names = _unique(header)
    source.rows.metadata(lines.rows[:1], "header")
    body = drop_empty(source, Lines(lines.text[1:], lines.rows[1:], 2), strip=False)  # a tab may be a separator
    frame = fields_of(body, separator, names)
    last = pl.col(names[-1])
    frame = set_aside_where(source, frame, pl.col("more").is_not_null(), "more fields than the header")
    if len(names) > 1 and short_rows == "set aside":
        frame = set_aside_where(source, frame, last.is_null(), "fewer fields than the header")
    return HeaderTable(header, _trimmed(frame.drop("more"), names), separator)


def _read_quoted(source: Source, lines: Lines, short_rows: ShortRows, separator: str) -> HeaderTable:
    """Records may run over several lines; a record's row is that of its first line, the others belong to it."""
    reader = csv.reader(io.StringIO("\n".join(lines.text)), delimiter=separator, strict=False)
    records: list[list[str]] = []
    starts: list[int] = []
    end = 0
    try:
        for record in reader:
            records.append(record)
            starts.append(end)
            end = reader.line_num
    except csv.Error as error:
        raise BadInput.of(source.name, f"cannot be read as CSV: {error}", row=reader.line_num) from None
    first = np.array(starts, np.int64)
    continued = np.ones(len(lines), bool)
    continued[first] = False
    source.rows.merged(lines.rows[continued], "the record that began lines above")
    header = [name.strip().strip('"') for name in records[0]]
    names = _unique(header)
    source.rows.metadata(lines.rows[first[:1]], "header")
    n_fields = np.array([len(record) for record in records])
    is_empty = n_fields == 0
    is_empty[0] = False
    source.rows.metadata(lines.rows[first[is_empty]], "empty lines")
    short, long = (n_fields < len(names)) & ~is_empty, n_fields > len(names)
    short[0] = long[0] = False
    if short_rows == "set aside":
        source.rows.set_aside(lines.rows[first[short]], "fewer fields than the header")
    else:
        for place in np.flatnonzero(short).tolist():
            records[place] += [""] * (len(names) - len(records[place]))
            n_fields[place] = len(names)
    source.rows.set_aside(lines.rows[first[long]], "more fields than the header")
    good = np.flatnonzero(n_fields == len(names))[1:]
    columns = {name: [records[place][number] for place in good] for number, name in enumerate(names)}
    frame = pl.DataFrame(columns, schema=dict.fromkeys(names, pl.String))
    frame = frame.with_columns(pl.Series(ROW, lines.rows[first[good]]))
    return HeaderTable(header, _trimmed(frame, names), separator)


def _unique(header: list[str]) -> list[str]:
    """The names, of which an empty or repeated one gets its place."""
    seen: list[str] = []
    for place, name in enumerate(header):
        seen.append(name if name and name not in seen and name != ROW else f"{name}#{place}")
    return seen


def _trimmed(frame: pl.DataFrame, names: list[str]) -> pl.DataFrame:
    text = [pl.col(name).str.strip_chars() for name in names]
    return frame.with_columns(text).with_columns(
        pl.when(pl.col(name) != "").then(pl.col(name)).alias(name) for name in names
    )


def rows_of(frame: pl.DataFrame) -> npt.NDArray[np.int64]:
    return frame[ROW].to_numpy()
