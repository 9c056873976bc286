"""How a file is packed and encoded: seen from its first bytes, whatever its name is."""

from __future__ import annotations

import codecs
import io
import lzma
from typing import Any, BinaryIO, Final, cast

import pyarrow as pa

from heddle.model.errors import BadInput

PACKED_SUFFIXES: Final = (".gz", ".zstd", ".zst", ".lz4", ".bz2", ".xz")
_MAGIC: Final = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\x04\x22\x4d\x18": "lz4",
    b"BZh": "bz2",
    b"\xfd7zXZ": "xz",
}
_SPARK_LZ4: Final = b"LZ4Block"


def unpacked(raw: Any, name: str) -> tuple[BinaryIO, list[str]]:
    """(the content as a stream, in UTF-8 where it is text; what of this the name does not say)."""
    start = raw.read(8)
    raw.seek(0)
    if start.startswith(_SPARK_LZ4):
        raise BadInput.of(name, "Spark's own lz4 blocks are not read: unpack it, or compress it as .zstd or .gz")
    remarks: list[str] = []
    stream = raw
    packing = next((codec for magic, codec in _MAGIC.items() if start.startswith(magic)), None)
    if packing is not None:
        if not name.endswith(PACKED_SUFFIXES):
            remarks.append(f"is packed ({packing}), which its name does not say")
        opened = _Xz(raw) if packing == "xz" else _Unpacked(pa.CompressedInputStream(raw, packing))
        stream = io.BufferedReader(cast(io.RawIOBase, opened), 1 << 20)
        start = stream.peek(2)
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        remarks.append("is UTF-16")
        stream = io.BufferedReader(_FromUtf16(stream), 1 << 20)
    return cast(BinaryIO, stream), remarks


class _Unpacked(io.RawIOBase):
    """pyarrow's stream as a raw Python stream, so that it can be buffered and walked line by line."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        block = self.stream.read(len(buffer))
        buffer[: len(block)] = block
        return len(block)

    def close(self) -> None:
        self.stream.close()
        super().close()


class _FromUtf16(io.RawIOBase):
    """Text in UTF-16 as UTF-8; what is no text becomes U+FFFD, as everywhere."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.decoder = codecs.getincrementaldecoder("utf-16")("replace")
        self.rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self.rest:
            block = self.stream.read(1 << 20)
            self.rest = self.decoder.decode(block, final=not block).encode()
            if not block:
                break
        size = min(len(buffer), len(self.rest))
        buffer[:size], self.rest = self.rest[:size], self.rest[size:]
        return size

    def close(self) -> None:
        self.stream.close()
        super().close()


class _Xz(lzma.LZMAFile):
    """Closes the file below it, too."""

    def __init__(self, raw: Any) -> None:
        self.raw_file = raw
        super().__init__(raw)

    def close(self) -> None:
        super().close()
        self.raw_file.close()
