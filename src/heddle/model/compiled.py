"""How heddle compiles: one place for Numba's options. Must be imported before any other module that compiles.

Numba's own cache lies in heddle's folders (code_folders.py). It keeps the helpers between two processes that compile
side by side, and what Python calls with arrays; what has one word for each argument is kept as code_files.py has it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import numba
from numba import njit, types
from numba.extending import overload

from heddle.model.code_folders import engine_folder, live_folder
from heddle.model.compilable import tell_of_marked
from heddle.model.compiled_places import PlaceInPackage
from heddle.model.numba_internals import object_code, overload_of


@contextmanager
def _kept_in(folder: Path) -> Iterator[None]:
    numba.config.CACHE_DIR = str(folder)
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

INTO_FILES: Final = ENGINE | {"cache": False}
"""For what code_files.py keeps."""

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


def compile_loop(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[str, str, bytes]:
    """What it answers (int64, float64 or none), its symbol and its object code, for arguments of these types."""
    given = tuple(numba.typeof(argument) for argument in arguments)
    given = tuple(types.int64 if isinstance(kind, types.Integer) else kind for kind in given)
    compiled = njit(given, **INTO_FILES)(function)
    return str(overload_of(compiled, given).signature.return_type), *object_code(compiled, given)


def compiled_live(function: Callable[..., Any]) -> Any:
    """For what looks at a cluster, live or simulated, in columns; called from Python."""
    with _kept_in(live_folder()):
        return njit(cache=True, _nrt=False, error_model="numpy")(function)
