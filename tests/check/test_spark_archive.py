"""What a Spark history server may give away as the logs of an application, and what is not unpacked."""

from __future__ import annotations

import bz2
import gzip
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from heddle.check import spark_archive
from heddle.check.spark_archive import unpack_logs
from heddle.model.errors import BadInput
from heddle.traces.imports.unpacking import ALWAYS_UNPACKED

from .fake_spark import zipped

MB = 1 << 20
APP = "application_1_0001"
LINE = b'{"Event":"SparkListenerLogStart"}\n'


def _unpacked(folder: Path, archive: bytes, most: int = 64 * MB) -> list[bytes]:
    size = unpack_logs(archive, APP, folder, most)
    found = [path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()]
    assert sum(map(len, found)) == size
    return found


def test_logs_are_unpacked_however_they_are_packed(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"a": LINE, "folder/b.gz": gzip.compress(LINE * 2), "c": bz2.compress(LINE * 3)}
    assert _unpacked(tmp_path, zipped(files)) == [LINE, LINE * 2, LINE * 3]


def test_files_have_names_of_our_own(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    names = ("../outside", "/absolute", "a/../../../outside", "..\\outside", "x" * 300, ".hidden")
    unpack_logs(zipped(dict.fromkeys(names, LINE)), APP, inner, MB)
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == [f"{APP}-{n}" for n in range(6)]
    assert [path.name for path in tmp_path.iterdir()] == ["inner"]


def _encrypted() -> bytes:
    archive = bytearray(zipped({"log": LINE}))
    archive[6] |= 1
    archive[archive.index(b"PK\x01\x02") + 8] |= 1
    return bytes(archive)


def _overwritten() -> bytes:
    archive = bytearray(zipped({"log": bytes(range(256)) * 64}))
    archive[60:200] = bytes(140)
    return bytes(archive)


REFUSED = {
    "encrypted": (_encrypted(), "encrypted, which Spark's are not"),
    "cut short": (zipped({"log": LINE * 1000})[:-40], "not a zip that can be unpacked"),
    "no zip": (b"<html>Please log in</html>", "not a zip that can be unpacked"),
    "empty": (b"", "not a zip that can be unpacked"),
    "overwritten": (_overwritten(), "not a zip that can be unpacked"),
    "cut short inside": (zipped({"log.gz": gzip.compress(LINE * 1000)[:60]}), "not a zip that can be unpacked: ."),
    "packed by bz2": (zipped({"log": bytes(64 * MB)}, zipfile.ZIP_BZIP2), "packed in another way than Spark"),
    "a bomb": (zipped({"log": bytes(64 * MB)}), "holds more than 6 MB, over 100 times its size"),
    "many small ones": (zipped({f"log{n}": bytes(MB) for n in range(64)}), "holds more than 7 MB, over 100 times"),
    "a bomb inside": (zipped({"log.gz": gzip.compress(bytes(64 * MB))}), "holds more than 4 MB, over 100 times"),
    "text in UTF-16": (zipped({"log": b"\xff\xfe" + b"\n\0" * (16 * MB)}), "holds more than 4 MB, over 100 times"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_no_sound_archive_is_refused_and_leaves_nothing(kind: str, tmp_path: Path) -> None:
    archive, why = REFUSED[kind]
    tracemalloc.start()
    try:
        with pytest.raises(BadInput, match=f"the event log of {APP}: .*{why}"):
            unpack_logs(archive, APP, tmp_path, 1 << 40)
        assert tracemalloc.get_traced_memory()[1] < 24 * MB
    finally:
        tracemalloc.stop()
    assert not list(tmp_path.iterdir())


def test_the_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert [len(one) for one in _unpacked(tmp_path, zipped({"log": bytes(ALWAYS_UNPACKED)}))] == [ALWAYS_UNPACKED]
    other = tmp_path / "other"
    other.mkdir()
    with pytest.raises(BadInput, match="more than 3 MB unpacked, the most that is read"):
        unpack_logs(zipped({"a": bytes(2 * MB), "b": bytes(MB + 1)}), APP, other, 3 * MB)
    monkeypatch.setattr(spark_archive, "MOST_LOGS", 2)
    with pytest.raises(BadInput, match="3 files; at most 2 are read"):
        unpack_logs(zipped(dict.fromkeys("abc", LINE)), APP, other, MB)
