"""Files and folders that appear whole or not at all: written beside their place, then renamed.

Whatever ends the writing - a full disk, Ctrl-C, an error of the writer - nothing half-written stays behind. Only a
process that is killed leaves its part; `remove_partials` is for those who share their folder with nobody.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from heddle.model.errors import BadInput

_PARTIAL: Final = ".partial"


@contextmanager
def whole_file(target: Path, *, durable: bool = False, mode: int = 0o666) -> Iterator[Path]:
    """An empty file to write to, which becomes `target` when the block ends well; `durable`: on disk by then, name and
    all. A link in either place is replaced, never followed."""
    partial = target.with_name(f".{target.name}.{os.getpid()}-{threading.get_ident()}{_PARTIAL}")
    try:
        partial.unlink(missing_ok=True)
        os.close(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
        yield partial
        if durable:
            _sync(partial)
        os.replace(partial, target)
        if durable:
            _sync(target.parent)
    finally:
        partial.unlink(missing_ok=True)


def write_whole(target: Path, content: str | bytes, *, durable: bool = False) -> None:
    """Write a small file; BadInput where that cannot be."""
    with or_bad_input(target), whole_file(target, durable=durable) as partial:
        partial.write_bytes(content.encode() if isinstance(content, str) else content)


@contextmanager
def whole_folder(target: Path) -> Iterator[Path]:
    """A folder to fill, which becomes `target` when the block ends well, in place of one that is there."""
    fresh = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=_PARTIAL, dir=target.parent))
    try:
        fresh.chmod(0o755)  # mkdtemp makes it private
        yield fresh
        put_in_place(fresh, target)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


@contextmanager
def or_bad_input(target: Path, what: str = "cannot be written") -> Iterator[None]:
    """What the system refuses - a full disk, no permission - is BadInput that names the place."""
    try:
        yield
    except OSError as error:
        raise BadInput.of(str(target), f"{what}: {error.strerror or error}") from error


def remove_partials(folder: Path, name: str = "*") -> None:
    """Remove what killed processes left of files and folders of this name. Nobody else may be writing there."""
    for left in folder.glob(f".{name}.*{_PARTIAL}"):
        shutil.rmtree(left) if left.is_dir() else left.unlink()


def put_in_place(fresh: Path, target: Path) -> None:
    """Rename a folder; one that is there steps aside first and comes back if the rename fails."""
    if not target.exists() or not any(target.iterdir()):
        os.replace(fresh, target)
        return
    aside = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".replaced", dir=target.parent))
    os.replace(target, aside)
    try:
        os.replace(fresh, target)
    except BaseException:
        os.replace(aside, target)
        raise
    shutil.rmtree(aside)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
