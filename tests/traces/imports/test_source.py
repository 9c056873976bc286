"""Reading files: packed as they are, line by line without losing any, and errors that name the file."""

import bz2
import gzip
import lzma
from pathlib import Path

import pyarrow as pa
import pytest

from heddle.model.errors import BadInput
from heddle.traces.imports.source import Source, find_sources

TEXT = b"one\n\n two\xff\x01end\r\nthree"


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress], ids=["plain", "gz", "bz2", "xz"])
def test_every_line_is_a_row_however_the_file_is_packed(tmp_path: Path, pack) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "any.name"
    path.write_bytes(pack(TEXT))
    source = Source(str(path), path.name)
    lines = source.lines()
    assert lines.text.to_list() == ["one", "", " two\ufffd?end", "three"]
    assert source.rows.count == 4
    assert source.texts_of(lines.rows[3:]) == ["three"]


@pytest.mark.parametrize("codec", ["zstd", "lz4"])
def test_zstd_and_lz4_frames_are_read(tmp_path: Path, codec: str) -> None:
    path = tmp_path / "log"
    with pa.OSFile(str(path), "wb") as raw, pa.CompressedOutputStream(raw, codec) as packed:
        packed.write(TEXT)
    assert Source(str(path), "log").content() == TEXT


def test_a_truncated_archive_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "cut.gz"
    path.write_bytes(gzip.compress(TEXT * 1000)[:60])
    with pytest.raises(BadInput, match=r"cut\.gz: cannot be read, truncated or damaged"):
        Source(str(path), path.name).lines()


def test_lines_of_many_blocks_keep_their_numbers(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_text("".join(f"line {n}\n" for n in range(200_000)))
    source = Source(str(path), path.name)
    starts = [(lines.first_line, lines.text[0]) for lines in source.chunks()]
    assert len(starts) > 1
    assert all(text == f"line {line - 1}" for line, text in starts)
    assert source.rows.count == 200_000


def test_folders_are_searched_in_order_and_what_is_missing_is_said(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    for name in ("b/two", "a", ".hidden"):
        (tmp_path / name).write_text("x")
    assert [source.name for source in find_sources([str(tmp_path)])] == ["a", "b/two"]
    with pytest.raises(BadInput, match="no such file or folder"):
        find_sources([str(tmp_path / "nothing")])
