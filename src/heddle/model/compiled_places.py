"""Where Numba keeps what it compiled of heddle's own files.

The folder is named by a hash of the sources (model/compiled.py), so what is in it is never stale and does not depend on
where heddle is installed: a second checkout, a wheel in another environment and a new clone find what the first one
compiled. Numba's own locators would look for it under the path of the source file.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final

import numba

from heddle.model.access import make_folders, why_not_ours
from heddle.model.errors import RunRefused
from heddle.model.numba_internals import CacheLocator
from heddle.model.own_sources import PACKAGE

FOLDER_MODE: Final = 0o755


class PlaceInPackage(CacheLocator):  # type: ignore[misc]  # Numba is untyped for us
    """For a function of the package; of other files Numba's own locators take care."""

    def __init__(self, function: Callable[..., Any], file: Path) -> None:
        self._folder = Path(numba.config.CACHE_DIR) / "_".join(file.relative_to(PACKAGE).with_suffix("").parts)
        self._line = function.__code__.co_firstlineno
        self._stamp = hashlib.sha256(file.read_bytes()).hexdigest()

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> PlaceInPackage | None:
        file = Path(py_file).resolve()
        if not (file.is_relative_to(PACKAGE) and file.is_file()):
            return None
        place = cls(py_func, file)
        for folder in (place._folder.parent.parent, place._folder.parent, place._folder):
            _refuse_others(folder)
        if not place._folder.is_dir():  # one that cannot be written may have all that is needed
            place.ensure_cache_path()
        return place

    def ensure_cache_path(self) -> None:
        try:
            make_folders(self._folder, FOLDER_MODE)
            tempfile.TemporaryFile(dir=self._folder).close()
        except OSError as error:
            raise RunRefused(
                f"{numba.config.CACHE_DIR} cannot be written ({error.strerror}), and compiled code has to be kept "
                f"somewhere: set NUMBA_CACHE_DIR to a folder that can be"
            ) from error

    def get_cache_path(self) -> str:
        return str(self._folder)

    def get_source_stamp(self) -> str:
        return self._stamp

    def get_disambiguator(self) -> str:
        return str(self._line)


@cache
def _refuse_others(folder: Path) -> None:
    """What is in the cache is run as it is."""
    if folder.exists() and (why := why_not_ours(folder.resolve())):
        raise RunRefused(
            f"{folder} {why}, and compiled code in it would be run: set NUMBA_CACHE_DIR to one of your own"
        )
