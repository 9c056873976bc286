"""How heddle compiles: one place for Numba's options and for where compiled code is kept.

Compiled code is cached in the user's cache folder under a hash of the sources that are compiled, because Numba's own
cache looks at one file only and would keep a caller that inlined an old version of a helper. The engine does not
contain levers, so it has a folder that survives a change of theirs.
This module must be imported before any other that compiles.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import numba
from numba import njit
from numba.extending import overload

from heddle.model.access import make_folders
from heddle.model.compilable import tell_of_marked
from heddle.model.compiled_places import FOLDER_MODE, PlaceInPackage
from heddle.model.own_sources import source_digest

_CALLING: Final = tuple(f"policy/{name}.py" for name in ("question", "delivery", "columns", "handles", "native"))
ENGINE_SOURCES: Final = ("model/*.py", *_CALLING, "sim/**/*.py")
LEVER_SOURCES: Final = ("model/*.py", "policy/**/*.py")
LIVE_SOURCES: Final = (*ENGINE_SOURCES, "yarn/live/*.py", "yarn/live/absorbing/*.py", "stock_yarn/*.py")
_LOCK: Final = "compiling"


def _compiled_from(patterns: tuple[str, ...]) -> str:
    """Changes whenever one of these source files does, or the version of Numba."""
    return f"{source_digest(*patterns)}-{numba.__version__}"


def cache_folder() -> Path:
    """Where compiled code is kept: under NUMBA_CACHE_DIR if set, else under the user's cache folder."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "heddle" / "compiled"


def engine_folder() -> Path:
    """Where the compiled engine is."""
    return cache_folder() / f"engine-{_compiled_from(ENGINE_SOURCES)}"


@contextmanager
def compiling_alone() -> Iterator[None]:
    """One process compiles the engine while others wait here; then they find it in the cache."""
    make_folders(engine_folder(), FOLDER_MODE)
    with (engine_folder() / _LOCK).open("w") as lock:
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


@contextmanager
def among_levers() -> Iterator[None]:
    """What is declared as compiled in here is kept in the folder of levers."""
    with _kept_in(f"levers-{_compiled_from(LEVER_SOURCES)}"):
        yield


@contextmanager
def _kept_in(folder: str) -> Iterator[None]:
    numba.config.CACHE_DIR = str(cache_folder() / folder)
    try:
        yield
    finally:
        numba.config.CACHE_DIR = str(engine_folder())


numba.config.CACHE_DIR = str(engine_folder())
_NUMBAS_OWN: Final = ("UserProvidedCacheLocator", "InTreeCacheLocator", "UserWideCacheLocator", "IPythonCacheLocator")
numba.config.CACHE_LOCATOR_CLASSES = ",".join([f"{PlaceInPackage.__module__}.{PlaceInPackage.__name__}", *_NUMBAS_OWN])
# The engine has no loop worth vectorising; looking for one costs a third of the compile time.
numba.config.LOOP_VECTORIZE = 0
numba.config.SLP_VECTORIZE = 0

# Reference counting inside the engine costs more than the engine itself, hence _nrt=False: no array is ever
# created there.
ENGINE: Final[dict[str, Any]] = {
    "cache": True,
    "_nrt": False,
    "error_model": "numpy",
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}

compiled: Final = njit(**ENGINE)
"""For what is large or rarely called."""

inlined: Final = njit(**ENGINE, forceinline=True)
"""For what is small and called for every task."""


def _tell_numba(function: Callable[..., Any], compiled_as: Callable[..., Any]) -> None:
    def implementation(*_: Any, **__: Any) -> Callable[..., Any]:
        return compiled_as

    options = {"_nrt": False, "error_model": "numpy", "boundscheck": not function.__module__.startswith("heddle.")}
    overload(function, jit_options=options, strict=False)(implementation)


tell_of_marked(_tell_numba)


def called_from_python(function: Callable[..., Any]) -> Any:
    """For loops that Python itself calls."""
    return njit(cache=True, _nrt=False, error_model="numpy")(function)


def compiled_live(function: Callable[..., Any]) -> Any:
    """For what looks at a cluster, live or simulated, in columns; called from Python."""
    with _kept_in(f"live-{_compiled_from(LIVE_SOURCES)}"):
        return called_from_python(function)
