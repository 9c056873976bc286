"""Where Numba keeps what it compiled of heddle's own files.

The folder is named by a hash of the sources (model/compiled.py), so what is in it is never stale and does not depend on
where heddle is installed: a second checkout, a wheel in another environment and a new clone find what the first one
compiled. Numba's own locators would look for it under the path of the source file.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba

from heddle.model.access import make_folders
from heddle.model.code_folders import FOLDER_MODE, cannot_be_written, refuse_others
from heddle.model.numba_internals import CacheLocator
from heddle.model.own_sources import PACKAGE


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
            refuse_others(folder)
        if not place._folder.is_dir():  # one that cannot be written may have all that is needed
            place.ensure_cache_path()
        return place

    def ensure_cache_path(self) -> None:
        try:
            make_folders(self._folder, FOLDER_MODE)
            tempfile.TemporaryFile(dir=self._folder).close()
        except OSError as error:
            raise cannot_be_written(Path(numba.config.CACHE_DIR), error) from error

    def get_cache_path(self) -> str:
        return str(self._folder)

    def get_source_stamp(self) -> str:
        return self._stamp

    def get_disambiguator(self) -> str:
        return str(self._line)
