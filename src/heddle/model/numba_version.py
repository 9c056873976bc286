"""Which versions of Numba the engine was tried with; others are refused, in words."""

from __future__ import annotations

import re
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Final

from heddle.model.errors import RunRefused

OLDEST: Final = (0, 62)
NEWEST: Final = (0, 68)  # as in pyproject.toml; scripts/test-versions tries both ends


@cache  # asked for each hook of each simulation
def installed() -> str:
    try:
        return version("numba")
    except PackageNotFoundError:
        return "none"


def refuse_untried(numba: str | None = None) -> None:
    """RunRefused for a Numba that heddle was never tried with: calls by address could crash where they now fail."""
    found = numba or installed()
    numbers = tuple(int(part) for part in re.findall(r"\d+", found)[:2])
    if not OLDEST <= numbers <= NEWEST:
        least, most = (".".join(map(str, one)) for one in (OLDEST, NEWEST))
        raise RunRefused(
            f"the engine rests on how Numba {least} to {most} calls functions, and Numba here is {found}:"
            f" pip install 'numba>={least},<{NEWEST[0]}.{NEWEST[1] + 1}'"
        )
