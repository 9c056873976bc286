"""The zip in which a Spark history server gives away the event logs of an application."""

from __future__ import annotations

import io
import lzma
import shutil
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pyarrow as pa

from heddle.model.errors import BadInput
from heddle.traces.imports.unpacking import most_unpacked, too_large, unpacked

MOST_LOGS: Final = 1000  # of one application: Spark begins a new file every 128 MB
_AT_ONCE: Final = 1 << 20
_ENCRYPTED: Final = 1
_METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # Spark's own; Python unpacks others without a bound
# What a damaged archive, or a damaged log in it, makes the readers raise.
_DAMAGE: Final = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, pa.ArrowException, struct.error,
    OSError, EOFError, RuntimeError, ValueError, LookupError, OverflowError,
)  # fmt: skip


def unpack_logs(archive: bytes, app: str, folder: Path, most: int) -> int:
    """Writes the logs into the folder, no longer packed in any way; the number of their bytes.

    BadInput, and nothing is written, where it is no sound archive or more than `most` bytes come out of it.
    """
    where = f"the event log of {app}"
    own = folder / app
    own.mkdir()
    try:
        size = 0
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            for number, block in _blocks(opened, where, most_unpacked(len(archive))):
                size += len(block)
                if size > most:
                    raise BadInput.of(where, f"more than {most >> 20} MB unpacked, the most that is read")
                # By names of our own: what a server calls its files must not lead out of the folder.
                with (own / f"{app}-{number}").open("ab") as file:
                    file.write(block)
        return size
    except BadInput:
        shutil.rmtree(own)
        raise
    except _DAMAGE as error:
        shutil.rmtree(own)
        raise BadInput.of(where, f"not a zip that can be unpacked: {str(error) or type(error).__name__}") from None


def _blocks(opened: zipfile.ZipFile, where: str, most: int) -> Iterator[tuple[int, bytes]]:
    """(number of the file, a piece of it): what is in the archive, and unpacked where it is packed once more."""
    entries = [entry for entry in opened.infolist() if not entry.is_dir()]
    if len(entries) > MOST_LOGS:
        raise BadInput.of(where, f"{len(entries):,} files; at most {MOST_LOGS:,} are read")
    left = most
    for number, entry in enumerate(entries):
        if entry.flag_bits & _ENCRYPTED:
            raise BadInput.of(where, "encrypted, which Spark's are not")
        if entry.compress_type not in _METHODS:
            raise BadInput.of(where, "packed in another way than Spark packs it (deflate)")
        with opened.open(entry) as packed:
            stream, _ = unpacked(packed, where, most)
            while block := stream.read(_AT_ONCE):
                left -= len(block)
                if left < 0:
                    raise BadInput.of(where, too_large(most))
                yield number, block
