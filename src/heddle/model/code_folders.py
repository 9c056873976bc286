"""Where compiled code is kept, and who may compile: known without Numba, which only those who compile import.

The folders are named by a hash of the sources that are compiled, because Numba's own cache looks at one file only and
would keep a caller that inlined an old version of a helper. What is in them is therefore never stale, and it does not
depend on where heddle is installed. The engine does not contain levers, so it has a folder that survives a change of
theirs.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Final

from heddle.model.access import make_folders, opened, why_not_ours
from heddle.model.errors import RunRefused
from heddle.model.numba_version import installed
from heddle.model.own_sources import source_digest

FOLDER_MODE: Final = 0o755
_CALLING: Final = tuple(
    f"policy/{name}.py" for name in ("question", "delivery", "columns", "handles", "handle_types", "native")
)
_ENGINE_SOURCES: Final = ("model/*.py", *_CALLING, "sim/**/*.py")
_LEVER_SOURCES: Final = ("model/*.py", "policy/**/*.py")
_LIVE_SOURCES: Final = (*_ENGINE_SOURCES, "yarn/live/*.py", "yarn/live/absorbing/*.py", "stock_yarn/*.py")
_LOOP_SOURCES: Final = ("model/*.py", "analysis/best_possible/*.py")
_LOCK: Final = "compiling"


def cache_folder() -> Path:
    """Where compiled code is kept: under NUMBA_CACHE_DIR if set, else under the user's cache folder."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "heddle" / "compiled"


def engine_folder() -> Path:
    return _folder("engine", _ENGINE_SOURCES)


def levers_folder() -> Path:
    return _folder("levers", _LEVER_SOURCES)


def live_folder() -> Path:
    """Of what looks at a cluster, live or simulated."""
    return _folder("live", _LIVE_SOURCES)


def loops_folder() -> Path:
    """Of loops over arrays."""
    return _folder("loops", _LOOP_SOURCES)


def _folder(what: str, sources: tuple[str, ...]) -> Path:
    return cache_folder() / f"{what}-{source_digest(*sources)}-{installed()}"


@contextmanager
def compiling_alone() -> Iterator[None]:
    """One process compiles the engine while others wait here; then they find it in the cache."""
    try:
        make_folders(engine_folder(), FOLDER_MODE)
        lock = os.fdopen(opened(engine_folder() / _LOCK, os.O_WRONLY | os.O_CREAT), "w")
    except OSError as error:
        raise cannot_be_written(cache_folder(), error) from error
    with lock:
        with suppress(OSError):  # file systems that know no locks: then several compile, as they may
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def another_compiles() -> bool:
    """Whether some process is in compiling_alone() now."""
    try:
        with (engine_folder() / _LOCK).open("r") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


@cache
def refuse_others(folder: Path) -> None:
    """RunRefused if somebody else may have put something there: code in the cache is run as it is."""
    if folder.exists() and (why := why_not_ours(folder.resolve())):
        raise RunRefused(
            f"{folder} {why}, and heddle would run compiled code from it: set NUMBA_CACHE_DIR to a folder of your own"
        )


def cannot_be_written(folder: Path, error: OSError) -> RunRefused:
    return RunRefused(
        f"{folder} cannot be written ({error.strerror}), and compiled code has to be kept somewhere: set "
        f"NUMBA_CACHE_DIR to a folder that can be"
    )
