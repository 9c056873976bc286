"""Whose a file or folder is: what decides whether heddle runs, believes or writes what it finds there."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

PRIVATE: Final = 0o700
_ROOT: Final = 0
_OTHERS: Final = 0o077


def why_not_ours(path: Path) -> str | None:
    """Why somebody else may have made what is there; None: only we, or root, can have. FileNotFoundError as usual."""
    found = path.lstat()
    if stat.S_ISLNK(found.st_mode):
        return "is a symbolic link, which heddle does not follow here"
    if found.st_uid not in (os.geteuid(), _ROOT):
        return f"belongs to another user (uid {found.st_uid})"
    if found.st_mode & stat.S_IWOTH:
        return "is writable by everyone"
    return None


def opened(path: Path, how: int, mode: int = 0o644) -> int:
    """As os.open(), but never through a link, which somebody else may have put there: what it leads to would be
    overwritten."""
    try:
        return os.open(path, how | os.O_NOFOLLOW, mode)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(error.errno, "it is a symbolic link, which heddle does not follow", str(path)) from None
        raise


def opened_to_append(path: Path, mode: int = 0o644) -> int:
    return opened(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, mode)


def read_by_others(path: Path) -> bool:
    """Whether anybody but the owner may read or change a file."""
    return bool(path.stat().st_mode & _OTHERS)


def make_folders(folder: Path, mode: int) -> None:
    """The folder and what is missing above it, with this mode whatever the umask; what is there stays as it is."""
    for each in reversed((folder, *folder.parents)):
        if not each.is_dir():
            with suppress(FileExistsError):  # another process was first
                each.mkdir()
                each.chmod(mode)


def close_to_others(folder: Path) -> None:
    """A folder of ours that others can look into, as earlier versions made them, becomes private."""
    found = folder.stat()
    if found.st_uid == os.geteuid() and found.st_mode & _OTHERS:
        folder.chmod(PRIVATE)
