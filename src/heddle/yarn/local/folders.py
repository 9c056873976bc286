"""Where a local cluster keeps things: jars once for each user, everything else in a folder of its own."""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from heddle.model.errors import BadInput, RunRefused

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,30}")


def jar_cache() -> Path:
    """Hadoop's jars, one folder for each version."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "heddle" / "hadoop"


def state_folder() -> Path:
    """What must outlive a command: clusters, and what a controller has to put back."""
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "heddle" / "yarn"


def cluster_folder(name: str) -> Path:
    if not _NAME.fullmatch(name):
        raise BadInput.of("--name", f"{name!r} must be small letters, digits and dashes, at most 31")
    return state_folder() / "clusters" / name


def cluster_names() -> list[str]:
    clusters = state_folder() / "clusters"
    return sorted(entry.name for entry in clusters.iterdir() if entry.is_dir()) if clusters.is_dir() else []


@contextmanager
def only_one(lock: Path, busy: str) -> Iterator[None]:
    """Holds a lock that the kernel frees when the process ends, however it ends. `busy`: what to say if it is held."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RunRefused(busy) from None
        yield
