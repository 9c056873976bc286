"""What to install for a part of heddle that is left out by default, in words that work wherever heddle came from.

The package index knows another project by the name heddle, so `pip install heddle[...]` would fetch that one. What
heddle itself declares can be installed by name.
"""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, requires
from typing import Final

_REQUIREMENT: Final = re.compile(r"^\s*([^;\s]+)\s*(?:;.*extra\s*==\s*['\"]([\w-]+)['\"])?")


def how_to_install(extra: str) -> str:
    """The pip command for an extra of heddle; "": for what every run needs."""
    wanted = [which for which, of in _declared() if of == extra and not which.startswith("heddle")]
    return f"pip install {' '.join(repr(one) for one in wanted)}"


def _declared() -> list[tuple[str, str]]:
    try:
        lines = requires("heddle") or []
    except PackageNotFoundError:
        return []
    found = [match for line in lines if (match := _REQUIREMENT.match(line))]
    return [(match[1], match[2] or "") for match in found]
