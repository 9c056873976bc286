"""CSVs with a header as columns of text, each row with the number it has in its file."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import polars as pl

from heddle.model.errors import BadInput
from heddle.traces.imports.columns import MORE, ROW, drop_empty, fields_of, set_aside_where
from heddle.traces.imports.source import Lines, Source

# Rows with fewer or more fields than the header. Evened out, what a row lacks is empty, and empty fields beyond the
# header are nothing; fields with content there cannot be.
Ragged = Literal["set aside", "even out"]
MOST_COLUMNS: Final = 10_000  # each takes time, whether anybody wants it or not


@dataclass(frozen=True)
class HeaderTable:
    """A CSV with a header: its names as they stand there, and the rows as text in columns of these names.

    In the frame an empty or repeated name has its place behind it; `row` keeps the number of the row in its file.
    """

    header: list[str]
    frame: pl.DataFrame
    separator: str

    @property
    def columns(self) -> dict[str, str]:
        """By the header's name, what the first one of that name is called in the frame."""
        both = list(zip(self.header, self.frame.columns, strict=False))
        return {name: column for name, column in reversed(both) if name}


def read_header_table(source: Source, required: Collection[str]) -> pl.DataFrame:
    """A CSV that must have these columns, as columns of text; rows with too few or too many fields are set aside."""
    table = read_table(source, ragged="set aside")
    missing = [name for name in required if name not in table.frame.columns]
    if missing:
        raise BadInput.of(source.name, f"missing column: {', '.join(missing)}", row=1)
    return table.frame


def read_table(source: Source, ragged: Ragged, separators: Sequence[str] = ",") -> HeaderTable:
    """A CSV with a header; header and empty lines are metadata.

    Of several separators it is the one that stands most often in the header, the first of them where none does.
    """
    lines = source.lines()
    if not len(lines) or not lines.text[0].strip():
        raise BadInput.of(source.name, "empty: the first line must be a header")
    # A comma inside quotes, or a line break, needs a real CSV reader; without quotes splitting is much faster.
    quoted = bool(lines.text.str.contains('"', literal=True).any())
    separator = max(separators, key=lines.text[0].count)
    columns = lines.text[0].count(separator) + 1
    if columns > MOST_COLUMNS:
        raise BadInput.of(source.name, f"{columns:,} columns; at most {MOST_COLUMNS:,} are read", row=1)
    if not quoted:
        return _read_plain(source, lines, ragged, separator)
    # The quick way always evens out.
    quick = _read_quoted_at_once(source, lines, separator) if ragged == "even out" else None
    return quick or _read_quoted(source, lines, ragged, separator)


def _read_quoted_at_once(source: Source, lines: Lines, separator: str) -> HeaderTable | None:
    """By the CSV parser, where each record is one line and cleanly quoted; None where anything is odd."""
    field = rf'(?:"(?:[^"]|"")*"|[^"{re.escape(separator)}]*)'
    if not lines.text.str.contains(rf"^{field}(?:{re.escape(separator)}{field})*$").all():
        return None
    text = "\n".join(lines.text).encode()
    try:
        frame = pl.read_csv(io.BytesIO(text), separator=separator, infer_schema=False)
        header = [name.strip() for name in next(csv.reader([lines.text[0]], delimiter=separator))]
    except (pl.exceptions.PolarsError, csv.Error, StopIteration):
        return None
    if frame.height != len(lines) - 1 or frame.width != len(header):
        return None
    frame.columns = names = _unique(header)
    source.rows.metadata(lines.rows[:1], "header")
    empty = lines.text[1:] == ""
    source.rows.metadata(lines.rows[1:][empty.to_numpy()], "empty lines")
    frame = frame.with_columns(pl.Series(ROW, lines.rows[1:])).filter(~empty)
    return HeaderTable(header, _trimmed(frame, names), separator)


def _read_plain(source: Source, lines: Lines, ragged: Ragged, separator: str) -> HeaderTable:
    header = [name.strip() for name in lines.text[0].split(separator)]
    names = _unique(header)
    source.rows.metadata(lines.rows[:1], "header")
    body = drop_empty(source, Lines(lines.text[1:], lines.rows[1:], 2), strip=False)  # a tab may be a separator
    frame = fields_of(body, separator, names)
    last = pl.col(names[-1])
    more = pl.col(MORE).is_not_null()
    if ragged == "even out":
        more &= pl.col(MORE).str.contains(rf"[^\s{re.escape(separator)}]").fill_null(False)
    frame = set_aside_where(source, frame, more, "more fields than the header")
    if len(names) > 1 and ragged == "set aside":
        frame = set_aside_where(source, frame, last.is_null(), "fewer fields than the header")
    return HeaderTable(header, _trimmed(frame.drop(MORE), names), separator)


def _read_quoted(source: Source, lines: Lines, ragged: Ragged, separator: str) -> HeaderTable:
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
    if ragged == "set aside":
        source.rows.set_aside(lines.rows[first[short]], "fewer fields than the header")
    else:
        for place in np.flatnonzero(short | long).tolist():
            records[place] += [""] * (len(names) - len(records[place]))
            if not any(field.strip() for field in records[place][len(names) :]):
                n_fields[place] = len(names)
        long = n_fields > len(names)
        long[0] = False
    source.rows.set_aside(lines.rows[first[long]], "more fields than the header")
    good = np.flatnonzero(n_fields == len(names))[1:]
    columns = {name: [records[place][number] for place in good] for number, name in enumerate(names)}
    frame = pl.DataFrame(columns, schema=dict.fromkeys(names, pl.String))
    frame = frame.with_columns(pl.Series(ROW, lines.rows[first[good]]))
    return HeaderTable(header, _trimmed(frame, names), separator)


def _unique(header: list[str]) -> list[str]:
    """The names, of which an empty or repeated one gets its place; so does one of our own or a pattern of Polars."""
    ours = (ROW, MORE)
    names = dict.fromkeys(ours)
    for place, name in enumerate(header):
        own = name
        while not own or own in names or own == "*" or (own[0] == "^" and own[-1] == "$"):
            own = f"{own}#{place}"
        names[own] = None
    return list(names)[len(ours) :]


def _trimmed(frame: pl.DataFrame, names: list[str]) -> pl.DataFrame:
    text = [pl.col(name).str.strip_chars() for name in names]
    return frame.with_columns(text).with_columns(
        pl.when(pl.col(name) != "").then(pl.col(name)).alias(name) for name in names
    )
