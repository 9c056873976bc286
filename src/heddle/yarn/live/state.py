"""Where things are kept that must outlive a command, and the lock that lets one process at a time at them."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from heddle.model.errors import RunRefused


def state_folder() -> Path:
    """What must outlive a command: clusters, and what a controller has to put back."""
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "heddle" / "yarn"


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
