"""JSON, YAML and TOML from anybody: nesting that a parser cannot follow, or only in ages, is bad input like any other.

Python's parsers raise RecursionError on some thousand brackets, and PyYAML needs time with the square of their number.
"""

from __future__ import annotations

import json
from typing import Any, Final

DEEPEST: Final = 200  # nested brackets; people and programs write ten
TOO_DEEP: Final = f"more than {DEEPEST} nested brackets"


def from_json(text: str | bytes) -> Any:
    """As json.loads; too deep is a ValueError, too."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None


def is_too_deep(text: str) -> bool:
    """By brackets alone, wherever they stand: no file that is meant well opens so many more than it closes."""
    depth = 0
    for character in text:
        if character in "[{":
            depth += 1
            if depth > DEEPEST:
                return True
        elif character in "]}":
            depth -= 1
    return False
