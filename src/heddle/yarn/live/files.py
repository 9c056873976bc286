"""Files that must survive: written whole or not at all, beaten in place, appended to, locked."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Final, Protocol

from heddle.model.access import opened
from heddle.model.errors import RunRefused
from heddle.model.whole_files import whole_file


class OutOfFiles(RunRefused):
    """This process, or the machine, may open no further file just now. That passes, unlike a full disk."""


def refused(path: Path, what: str, error: OSError) -> RunRefused:
    """What the system refuses, in words."""
    kind = OutOfFiles if error.errno in (errno.EMFILE, errno.ENFILE) else RunRefused
    return kind(f"{path}: {what.format(error.strerror or error)}")


class Files(Protocol):
    """Raises OSError as the system does."""

    def read(self, path: Path) -> bytes: ...
    def lines(self, path: Path) -> Iterator[bytes]:
        """One by one, each with its end; the last may be without."""

    def exists(self, path: Path) -> bool: ...
    def remove(self, path: Path) -> None:
        """Nothing happens if it is not there."""

    def rename(self, path: Path, new: Path) -> None:
        """In place of what has that name already."""

    def write(self, path: Path, data: bytes) -> None:
        """Durable when it returns, and whole or not at all."""

    def overwrite(self, path: Path, data: bytes) -> None:
        """In place: data of the same length need no room on a full disk after the first time."""

    def extend(self, path: Path, at: int, data: bytes) -> None:
        """Truncates the file there and appends `data`; durable when it returns."""

    def lock(self, path: Path, busy: str) -> AbstractContextManager[None]:
        """Held until the end of the block or of the process, however it ends. RunRefused(busy) if it is held; in other
        words if there can be no lock, as OutOfFiles where that passes."""


class Disk:
    """The file system of this machine. Folders come into being as they are needed."""

    def read(self, path: Path) -> bytes:
        return path.read_bytes()

    def lines(self, path: Path) -> Iterator[bytes]:
        with path.open("rb") as file:
            yield from file

    def exists(self, path: Path) -> bool:
        return path.exists()

    def remove(self, path: Path) -> None:
        path.unlink(missing_ok=True)

    def rename(self, path: Path, new: Path) -> None:
        path.replace(new)

    def write(self, path: Path, data: bytes) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path, durable=True) as partial:
            partial.write_bytes(data)

    def overwrite(self, path: Path, data: bytes) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = opened(path, os.O_CREAT | os.O_WRONLY)
        try:
            os.pwrite(file, data, 0)
        finally:
            os.close(file)

    def extend(self, path: Path, at: int, data: bytes) -> None:
        with os.fdopen(opened(path, os.O_RDWR), "r+b") as file:
            file.seek(at)
            file.truncate()
            file.write(data)
            file.flush()
            os.fsync(file.fileno())

    @contextmanager
    def lock(self, path: Path, busy: str) -> Iterator[None]:
        file = _opened_to_lock(path)
        try:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise RunRefused(busy) from None
            yield
        finally:
            os.close(file)


def _opened_to_lock(path: Path) -> int:
    """A disk that has become read-only still locks: whoever holds or asks for a lock then must not fail over it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            return opened(path, os.O_CREAT | os.O_RDWR)
        except OSError as error:
            if error.errno != errno.EROFS:
                raise
            return opened(path, os.O_RDONLY)
    except OSError as error:
        raise refused(path, "cannot be locked ({})", error) from None


DISK: Final = Disk()
