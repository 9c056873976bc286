"""The columns of a CSV of tasks: read as text, checked, and turned into numbers."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path
from typing import Final, TextIO, cast

import numpy as np
import numpy.typing as npt
import polars as pl

from heddle.model.errors import BadInput
from heddle.traces.problems import Problems, did_you_mean

REQUIRED: Final = ("job", "submit_ms", "duration_ms", "vcores", "memory_mb")
OPTIONAL: Final = (
    "stage", "after", "used_vcores", "used_memory_mb", "am_vcores", "am_memory_mb", "queue", "user",
    "reads_mb", "input_node", "input_mb", "node", "started_ms", "am_node", "am_started_ms",
)  # fmt: skip

_PAST: Final = ("started_ms", "am_started_ms")  # 0 or before: kept as how long ago
_WHOLE: Final = ("submit_ms", "duration_ms", *_PAST)  # milliseconds have no fractions
_TEXT: Final = ("job", "stage", "after", "queue", "user", "input_node", "node", "am_node")
_FACTOR: Final = {
    "vcores": 1000, "used_vcores": 1000, "am_vcores": 1000,  # to millicores
    "reads_mb": 1_000_000, "input_mb": 1_000_000,  # to bytes
}  # fmt: skip
_LARGEST: Final = 10**12  # keeps every product the engine forms inside 64 bits

Numbers = npt.NDArray[np.int64]
NOT_GIVEN: Final = -1


class Columns:
    """The table of a file: `numbers` in heddle's units (NOT_GIVEN where empty), `text` (null where empty)."""

    def __init__(self, path: Path) -> None:
        self.problems = Problems(str(path))
        self.numbers: dict[str, Numbers] = {}
        self.text: dict[str, pl.Series] = {}
        header = _header(path)
        self._check_header(header)
        table = _table(path, header)
        # Empty lines are skipped, but counted, so that row numbers are those of the file.
        filled = ~table.select(pl.all_horizontal(pl.all().is_null())).to_series()
        self.rows: Numbers = np.flatnonzero(filled.to_numpy()) + 2  # the header is row 1
        table = table.filter(filled)
        if table.height == 0:
            self.problems.add("only a header: there are no tasks")
        for name in (*REQUIRED, *OPTIONAL):
            if name in table.columns:
                stripped = table[name].str.strip_chars()
                values = stripped.set(stripped == "", None)
                if name in REQUIRED:
                    self.report(values.is_null().to_numpy(), "empty", name)
                if name in _TEXT:
                    self.text[name] = values
                else:
                    self.numbers[name] = self._to_numbers(name, values)

    def report(self, wrong: npt.NDArray[np.bool_], what: str, field: str, shown: pl.Series | None = None) -> None:
        """A problem for each row of the mask; `shown` is the column whose value is quoted."""
        if not wrong.any():
            return
        places = np.flatnonzero(wrong)
        words = {int(self.rows[place]): _quoted(shown, int(place)) for place in places[:100]}
        self.problems.add_rows(self.rows[places], lambda row: what + words.get(row, ""), field=field)

    def _check_header(self, header: list[str]) -> None:
        for name in REQUIRED:
            if name not in header:
                self.problems.add("missing column", row=1, field=name)
        known = (*REQUIRED, *OPTIONAL)
        for name in dict.fromkeys(header):
            if name not in known:
                hint = did_you_mean(name, known) or f"; known columns are {', '.join(known)}"
                self.problems.add(f"unknown column{hint}", row=1, field=name)
            elif header.count(name) > 1:
                self.problems.add("column given twice", row=1, field=name)

    def _to_numbers(self, name: str, values: pl.Series) -> Numbers:
        given = values.is_not_null().to_numpy()
        parsed = values.cast(pl.Float64, strict=False)
        self.report(given & parsed.is_null().to_numpy(), "not a number", name, values)
        number = parsed.fill_null(0.0).to_numpy(writable=True)
        finite = np.isfinite(number)
        self.report(~finite, "not a finite number", name, values)
        number[~finite] = 0.0
        if name in _PAST:
            number = -number
        self.report(number < 0, "later than 0, when the run begins" if name in _PAST else "negative", name, values)
        self.report(number > _LARGEST, f"larger than {_LARGEST}", name, values)
        if name in _WHOLE:
            self.report(number != np.floor(number), "not a whole number of milliseconds", name, values)
        # Rounded up, but not for the last bits of a binary fraction: 1.1 vcores are 1100 millicores.
        exact = np.round(np.clip(number, 0, _LARGEST) * _FACTOR.get(name, 1), 6)
        scaled: Numbers = np.ceil(exact).astype(np.int64)
        scaled[~given] = NOT_GIVEN
        return scaled


def _quoted(shown: pl.Series | None, place: int) -> str:
    return "" if shown is None else f": {str(shown[place])[:40]}"


def _opened(path: Path) -> TextIO:
    if path.suffix == ".gz":
        return cast(TextIO, gzip.open(path, "rt", encoding="utf-8-sig", newline=""))
    return path.open(encoding="utf-8-sig", newline="")


def _header(path: Path) -> list[str]:
    try:
        with _opened(path) as lines:
            header = next(csv.reader([lines.readline(1 << 16)]), [])
    except (OSError, EOFError, UnicodeDecodeError, csv.Error) as error:
        raise BadInput.of(str(path), f"cannot be read as CSV: {error}") from None
    if not any(name.strip() for name in header):
        raise BadInput.of(str(path), f"empty: the first line must be a header ({','.join(REQUIRED)},...)")
    return [name.strip() for name in header]


def _table(path: Path, header: list[str]) -> pl.DataFrame:
    # A column given twice was reported; the second one needs a name of its own to be skipped.
    unique = [name if header.index(name) == place else f"{name}#{place}" for place, name in enumerate(header)]
    try:
        table = pl.read_csv(path, infer_schema=False)
        table.columns = unique  # without blanks around them
        return table
    except (pl.exceptions.PolarsError, OSError) as error:
        problems = Problems(str(path))
        _find_ragged(path, len(header), problems)
        if not problems.found:
            problems.add(f"cannot be read as CSV: {(str(error).splitlines() or ['unknown reason'])[0]}")
        raise BadInput(problems.found) from None


def _find_ragged(path: Path, n_columns: int, problems: Problems) -> None:
    """Slow and in Python: only after reading failed, to say where."""
    long: list[int] = []
    try:
        with _opened(path) as lines:
            reader = csv.reader(lines)
            long.extend(reader.line_num for fields in reader if len(fields) > n_columns)
    except (OSError, EOFError, UnicodeDecodeError, csv.Error) as error:
        problems.add(f"cannot be read as CSV: {error}")
    problems.add_rows(np.array(long, dtype=np.int64), f"more fields than the {n_columns} of the header")
