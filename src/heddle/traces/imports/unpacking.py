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
# Readers hold many times what they read, so a small file that unpacks to a large one fills the memory. Spark's logs,
# which repeat themselves more than other traces, shrink to a 55th by the slowest of packers.
MOST_RATIO: Final = 100
ALWAYS_UNPACKED: Final = 4 << 20  # however small it is packed


def most_unpacked(packed_bytes: int) -> int:
    """The bytes to which so many may unpack."""
    return max(ALWAYS_UNPACKED, MOST_RATIO * packed_bytes)


def too_large(most: int) -> str:
    """What is wrong with more than most_unpacked()."""
    return f"holds more than {most / (1 << 20):,.0f} MB, over {MOST_RATIO} times its size, which could fill the memory"


def unpacked(raw: Any, name: str, most: int) -> tuple[BinaryIO, list[str]]:
    """(the content as a stream, in UTF-8 where it is text; what of this the name does not say).

    Reading more than `most` unpacked bytes of it is BadInput.
    """
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
        stream = io.BufferedReader(_Unpacked(raw, packing, name, most), 1 << 20)
        start = stream.peek(2)
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        remarks.append("is UTF-16")
        stream = io.BufferedReader(_FromUtf16(stream), 1 << 20)
    return cast(BinaryIO, stream), remarks


class _Unpacked(io.RawIOBase):
    """What a packed file holds as a raw Python stream, so that it can be buffered and walked line by line."""

    def __init__(self, raw: Any, packing: str, name: str, most: int) -> None:
        self.raw_file, self.name, self.most, self.left = raw, name, most, most
        self.stream: Any = (
            lzma.LZMAFile(raw) if packing == "xz" else pa.CompressedInputStream(raw, packing)  # noqa: SIM115, by close()
        )

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        block = self.stream.read(len(buffer))
        self.left -= len(block)
        if self.left < 0:
            raise BadInput.of(self.name, f"{too_large(self.most)}; if it is no decompression bomb, unpack it first")
        buffer[: len(block)] = block
        return len(block)

    def close(self) -> None:
        self.stream.close()
        self.raw_file.close()  # LZMAFile leaves it open
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
