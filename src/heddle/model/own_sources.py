"""Which heddle this is: its version, and to the byte: what was compiled or computed by other sources is not its work.

A version number does not tell: it stays the same between two releases, while the code changes.
"""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Final

PACKAGE: Final = Path(__file__).resolve().parent.parent


@cache
def own_version() -> str:
    """Read once: it takes as long as a small simulation."""
    return version("heddle")


@cache
def source_digest(*patterns: str) -> str:
    """Changes whenever one of these source files does, is added or goes."""
    digest = hashlib.sha256()
    for path in sorted({path for pattern in patterns for path in PACKAGE.glob(pattern)}):
        digest.update(f"{path.relative_to(PACKAGE)}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
