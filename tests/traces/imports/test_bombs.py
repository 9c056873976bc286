"""Small files that unpack to large ones, and lines without end: refused in little memory, however they are packed."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from heddle.model.errors import BadInput
from heddle.traces.imports import source as source_module
from heddle.traces.imports.source import Source
from heddle.traces.imports.unpacking import ALWAYS_UNPACKED, MOST_RATIO, most_unpacked

MB = 1 << 20
MEMBER = 2 * MB  # files packed one by one and written one after the other are one file to whoever unpacks them
MOST_GROWTH = 250 * MB
CSV_HEADER = b"job,submit_ms,duration_ms,vcores,memory_mb\n"
# By format, how its files begin, what they then repeat, and so many members of it.
BOMBS = {
    "csv": (CSV_HEADER, b"x", 192),
    "swim": (b"job0\t0\t0\t0\t0\t0\n", b"\n", 16),
    "rumen": (b'{"jobID":"job_1_1","mapTasks":[{}', b",{}", 16),
    "sls": (b'{"am.type":"mapreduce","job.start.ms":0,"job.tasks":[{}', b",{}", 16),
    "spark-eventlog": (b'{"Event":"SparkListenerLogStart","Spark Version":"3.5.0"}\n', b"\n", 16),
}
IMPORTS = """
import sys
from heddle.model.errors import BadInput
from heddle.traces.imports.importing import import_trace
from heddle.traces.imports.registry import all_formats

def now(what):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith(what))

list(all_formats())
before = now("VmRSS")
for given in sys.argv[1:]:
    name, _, path = given.partition("=")
    try:
        import_trace([path], name)
    except BadInput as error:
        print(error)
print(now("VmHWM") - before)
"""


def _by_pyarrow(codec: str) -> Callable[[bytes], bytes]:
    def pack(data: bytes) -> bytes:
        packed = pa.BufferOutputStream()
        with pa.CompressedOutputStream(packed, codec) as stream:
            stream.write(data)
        return bytes(packed.getvalue())

    return pack


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lambda data: lzma.compress(data, preset=0),
    "zstd": _by_pyarrow("zstd"),
    "lz4": _by_pyarrow("lz4"),
}


@pytest.mark.parametrize("packer", PACKERS)
def test_a_bomb_is_refused_in_little_memory(packer: str, tmp_path: Path) -> None:
    pack = PACKERS[packer]
    given = []
    for name, (start, again, members) in BOMBS.items():
        path = tmp_path / f"{name}.{packer}"
        path.write_bytes(pack(start) + pack(again * (MEMBER // len(again))) * members)
        given.append(f"{name}={path}")
    *refusals, growth = _in_a_child(given)
    for name, said in zip(BOMBS, refusals, strict=True):
        unpacks = rf"{name}\.{packer}: holds more than .*; if it is no decompression bomb, unpack it first"
        too_long = rf"{name}\.{packer}:2: a line of more than 32 MB.*"
        assert re.fullmatch(f"{unpacks}|{too_long}" if name == "csv" else unpacks, said)
    assert int(growth) < MOST_GROWTH


def test_a_line_without_end_is_refused_in_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "endless.csv"
    with path.open("wb") as file:
        file.write(CSV_HEADER)
        file.truncate(512 * MB)
    said, growth = _in_a_child([f"csv={path}"])
    assert said == "endless.csv:2: a line of more than 32 MB, which no line of a trace has: leave it out"
    assert int(growth) < MOST_GROWTH


def _in_a_child(given: list[str]) -> list[str]:
    """What it said of each file, and by how much its memory grew at most."""
    told = subprocess.run([sys.executable, "-c", IMPORTS, *given], capture_output=True, text=True, check=True)
    return told.stdout.splitlines()


def test_small_files_may_shrink_to_next_to_nothing(tmp_path: Path) -> None:
    assert _content(tmp_path, gzip.compress(b"x" * ALWAYS_UNPACKED)) == ALWAYS_UNPACKED
    with pytest.raises(BadInput, match="holds more than 4 MB, over 100 times its size"):
        _content(tmp_path, gzip.compress(b"x" * (ALWAYS_UNPACKED + 1)))


def test_large_files_are_limited_by_their_size(tmp_path: Path) -> None:
    packed = gzip.compress(b"x" * (16 * MB), 1)
    most = most_unpacked(len(packed))
    assert ALWAYS_UNPACKED < most == MOST_RATIO * len(packed) < 16 * MB
    packed += gzip.compress(bytes(range(256)) * 4096, 0)  # hardly packed at all, so that all of it may come to more
    assert _content(tmp_path, packed) == 17 * MB


def _content(tmp_path: Path, packed: bytes) -> int:
    path = tmp_path / "any.gz"
    path.write_bytes(packed)
    return len(Source(str(path), path.name).content())


def test_the_longest_line_is_read_and_a_longer_one_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    longest = 300_000
    monkeypatch.setattr(source_module, "LONGEST_LINE", longest)
    path = tmp_path / "lines"
    for end in ("", "\n", "\nmore\n"):
        path.write_text("first\n" + "x" * longest + end)
        assert Source(str(path), path.name).lines().text[1] == "x" * longest
        path.write_text("first\n" + "x" * (longest + 1) + end)
        with pytest.raises(BadInput, match="lines:2: a line of more than"):
            Source(str(path), path.name).lines()


def test_a_number_repeated_without_end_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "samples.parquet"
    pq.write_table(pa.table({"task": pa.array([7] * (ALWAYS_UNPACKED // 8 + 1), pa.int64())}), path)
    assert path.stat().st_size < 10_000
    with pytest.raises(
        BadInput, match=r"samples\.parquet: holds more than 4 MB, over 100 times its size.*dictionaries"
    ):
        Source(str(path), path.name).parquet(["task"])
    pq.write_table(pa.table({"task": pa.array([7] * (ALWAYS_UNPACKED // 8), pa.int64())}), path)
    assert Source(str(path), path.name).parquet(["task"])[0].height == ALWAYS_UNPACKED // 8


def test_text_where_parquet_should_hold_numbers_is_refused_unread(tmp_path: Path) -> None:
    """Text in a dictionary takes its size once in the file and once for each row in memory."""
    path = tmp_path / "samples.parquet"
    pq.write_table(pa.table({"other": ["x"], "task": ["x" * MB]}), path)
    with pytest.raises(BadInput, match=r"samples\.parquet: task: holds string where numbers belong"):
        Source(str(path), path.name).parquet(["task"])
