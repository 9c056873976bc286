"""For readers of files: what a fuzzer thinks of, written down."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any


def file(name: str, read: Callable[[Path], Any]) -> Callable[[bytes], None]:
    """A target: the file of this name in a folder of its own."""

    def written(data: bytes) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            path.write_bytes(data)
            read(path)

    return written
