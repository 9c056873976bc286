"""The files of a trace: found, opened wherever they lie, decompressed by what they are and not by their names.

Places are opened by pyarrow's file systems: local paths, `hdfs://`, `s3://`, `gs://` as pyarrow was built, without
another dependency.
"""

from __future__ import annotations

import io
import lzma
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.fs
import pyarrow.parquet as pq
from polars.exceptions import PanicException  # of its native code; not an Exception

from heddle.model.errors import BadInput
from heddle.traces.imports.rows import Rows
from heddle.traces.imports.unpacking import PACKED_SUFFIXES, most_unpacked, too_large, unpacked

_HEAD_BYTES: Final = 1 << 16
_FIRST_BYTES: Final = 1 << 17
_CHUNK_BYTES: Final = 16 << 20  # of text at once, so that a file larger than memory streams
LONGEST_LINE: Final = 32 << 20  # bytes; the longest in a log of Spark's that we have seen is a hundredth of it
_NUMBER_BYTES: Final = 8
_SEPARATOR: Final = b"\x01"
# What a damaged or foreign file makes the readers raise.
UNREADABLE: Final = (pa.ArrowException, OSError, EOFError, ValueError, lzma.LZMAError)


@dataclass
class Source:
    """One file. `name` is what people see: without the folders, which mean nothing on the next machine."""

    path: str
    name: str
    places: Any = None  # the pyarrow file system it lies on; None: local
    rows: Rows = field(init=False)
    remarks: dict[str, None] = field(default_factory=dict)  # how it had to be read, where its name does not tell

    def __post_init__(self) -> None:
        self.rows = Rows(self.name)

    @property
    def stem(self) -> str:
        """The name without what says how it is packed and of what kind it is."""
        name = self.name
        for suffix in PACKED_SUFFIXES:
            name = name.removesuffix(suffix)
        return Path(name).stem

    def _raw(self) -> Any:
        return open(self.path, "rb") if self.places is None else self.places.open_input_file(self.path)

    def opened(self) -> BinaryIO:
        """The content as a stream: unpacked, and UTF-8 where it is text."""
        raw = self._raw()
        stream, remarks = unpacked(raw, self.name, most_unpacked(_size_of(raw)))
        self.remarks.update(dict.fromkeys(remarks))
        return stream

    def content(self) -> bytes:
        """All of it. For formats whose files are small."""
        with self.reading(), self.opened() as stream:
            return stream.read()

    def text(self) -> str:
        return self.content().decode("utf-8-sig", errors="replace")

    def head(self) -> Head:
        """The beginning, by which formats recognise their files."""
        with self.reading(), self._raw() as raw:
            is_parquet = raw.read(4) == b"PAR1"
        if is_parquet:
            with self.reading(), self._raw() as raw:
                return Head(self.name, "", tuple(pq.read_schema(raw).names))
        try:
            with self.opened() as stream:
                start = stream.read(_HEAD_BYTES)
        except UNREADABLE:
            start = b""  # a damaged file is somebody's business later: here it only cannot be recognised
        return Head(self.name, start.decode("utf-8-sig", errors="replace"), ())

    def blocks(self) -> Iterator[tuple[bytes, int]]:
        """(whole lines as bytes, number of the first); the first block is short, so that it has the headers.

        A line without end would fill the memory before anybody could judge it: one too long is BadInput.
        """
        line = 1
        with self.reading(), self.opened() as stream:
            rest = b""
            size = _FIRST_BYTES
            while block := stream.read(size):
                size = _CHUNK_BYTES
                cut = block.rfind(b"\n") + 1
                if len(rest) + (block.find(b"\n") if cut else len(block)) > LONGEST_LINE:
                    what = f"a line of more than {LONGEST_LINE >> 20} MB, which no line of a trace has: leave it out"
                    raise BadInput.of(self.name, what, row=line)
                text, rest = (rest + block[:cut], block[cut:]) if cut else (b"", rest + block)
                if text:
                    yield text, line
                    line += text.count(b"\n")
            if rest:
                yield rest, line

    def chunks(self) -> Iterator[Lines]:
        """The lines of a text file, many at once; every line is announced as a row."""
        for text, line in self.blocks():
            yield self.lines_of(text, line)

    def lines(self) -> Lines:
        """All lines at once."""
        parts = list(self.chunks())
        if not parts:
            return Lines(pl.Series("line", [], dtype=pl.String), np.zeros(0, np.int64), 1)
        return Lines(pl.concat([part.text for part in parts]), np.concatenate([part.rows for part in parts]), 1)

    def lines_of(self, text: bytes, first_line: int) -> Lines:
        """The lines of a block, announced as rows."""
        with self.reading():
            parsed = pl.read_csv(
                io.BytesIO(text.replace(_SEPARATOR, b"?")),  # in no sound text: each line is one field
                has_header=False,
                separator=_SEPARATOR.decode(),
                quote_char=None,
                infer_schema=False,
                new_columns=["line"],
                encoding="utf8-lossy",
            )
        series = parsed["line"].str.strip_chars("\r\ufeff").fill_null("")
        numbers = np.arange(first_line, first_line + len(series), dtype=np.int64)
        return Lines(series, self.rows.add(numbers), first_line)

    def parquet(self, columns: list[str]) -> tuple[pl.DataFrame, npt.NDArray[np.int64]]:
        """These columns of numbers of a Parquet file, and the numbers of its rows, all announced."""
        with self.reading(), self._raw() as raw:
            self._check_size(pq.ParquetFile(raw), columns, most_unpacked(_size_of(raw)))
            table = pq.read_table(raw, columns=columns)
            # Without the schema's own notes: where they are not UTF-8, Polars prints a backtrace and panics.
            bare = pa.Table.from_arrays(table.columns, names=table.column_names)
            frame = cast(pl.DataFrame, pl.from_arrow(bare))
        return frame, self.rows.add(np.arange(1, frame.height + 1, dtype=np.int64))

    def _check_size(self, file: pq.ParquetFile, columns: list[str], most: int) -> None:
        """BadInput where reading these would take too much: a number repeated a billion times takes a few bytes."""
        for column in file.schema_arrow:
            if column.name in columns and not pa.types.is_primitive(column.type):
                raise BadInput.of(self.name, f"holds {column.type} where numbers belong", field=column.name)
        if file.metadata.num_rows * len(columns) * _NUMBER_BYTES > most:
            raise BadInput.of(
                self.name, f"{too_large(most)}; if it is no bomb, write it without dictionaries and compression"
            )

    def texts_of(self, rows: npt.NDArray[np.int64]) -> list[str]:
        """What stood in these rows: the shown text where a format gave one, else the line, read again."""
        wanted = {self.rows.line(int(row)) for row in rows if self.rows.shown(int(row)) is None}
        found: dict[int, str] = {}
        if wanted and not self.head().columns:
            with self.reading(), self.opened() as stream:
                for number, line in enumerate(stream, 1):
                    if number in wanted:
                        found[number] = line.decode("utf-8", errors="replace").rstrip("\r\n")
        return [self.rows.shown(int(row)) or found.get(self.rows.line(int(row)), "") for row in rows]

    def reading(self) -> _Reading:
        return _Reading(self)


def _size_of(raw: Any) -> int:
    size: int = raw.seek(0, io.SEEK_END)
    raw.seek(0)
    return size


class _Reading:
    """Turns what a damaged file raises into BadInput that names the file."""

    def __init__(self, source: Source) -> None:
        self.source = source

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        if error is not None and isinstance(error, (*UNREADABLE, pl.exceptions.PolarsError, PanicException)):
            said = (str(error).splitlines() or [type(error).__name__])[0]
            raise BadInput.of(self.source.name, f"cannot be read, truncated or damaged: {said}") from None


@dataclass(frozen=True)
class Head:
    """The beginning of a file: its text, or the columns of a Parquet file."""

    name: str
    text: str
    columns: tuple[str, ...]

    @property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    @property
    def first(self) -> str:
        return next((line for line in self.lines if line.strip()), "")


@dataclass(frozen=True)
class Lines:
    """Lines of a text file with their row numbers."""

    text: pl.Series
    rows: npt.NDArray[np.int64]
    first_line: int

    def __len__(self) -> int:
        return len(self.text)

    def collapsed(self) -> Lines:
        """With one blank where any white space stood."""
        return replace(self, text=self.text.str.strip_chars().str.replace_all(r"\s+", " "))


def find_sources(paths: list[str]) -> list[Source]:
    """The files that these paths name; of a folder all files below it, in order of name."""
    found: list[Source] = []
    for path in paths:
        if "://" in path:
            found += _remote(path)
            continue
        local = Path(path)
        if local.is_dir():
            files = sorted(entry for entry in local.rglob("*") if entry.is_file() and not entry.name.startswith("."))
            found += [Source(str(file), str(file.relative_to(local))) for file in files]
        elif local.is_file():
            found.append(Source(path, local.name))
        else:
            raise BadInput.of(path, "no such file or folder")
    if not found:
        raise BadInput.of(", ".join(paths), "there are no files")
    return found


def _remote(path: str) -> list[Source]:
    try:
        places, inner = pyarrow.fs.FileSystem.from_uri(path)
        info = places.get_file_info(inner)
        if info.type == pyarrow.fs.FileType.File:
            return [Source(inner, info.base_name, places)]
        entries = places.get_file_info(pyarrow.fs.FileSelector(inner, recursive=True))
    except UNREADABLE as error:
        raise BadInput.of(path, f"cannot be opened: {(str(error).splitlines() or ['unknown reason'])[0]}") from None
    files = sorted(entry.path for entry in entries if entry.is_file)
    return [Source(file, file.removeprefix(inner).lstrip("/"), places) for file in files]
