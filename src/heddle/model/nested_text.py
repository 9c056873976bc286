"""JSON, YAML and TOML from anybody: nesting that a parser cannot follow, or only in ages, is bad input like any other.

Python's parsers raise RecursionError on some thousand brackets, and PyYAML needs time with the square of their number;
so does tomllib with the dots of a key.
"""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any, Final

DEEPEST: Final = 200  # nested brackets; people and programs write ten
TOO_DEEP: Final = f"more than {DEEPEST} nested brackets"
_TOO_DEEP_KEY: Final = f"a key of more than {DEEPEST} parts"
_IN_QUOTES: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"?|\'[^\'\n]*\'?')
_BETWEEN_KEYS: Final = re.compile(r"[,=\[\]{}\n#]")


def from_json(text: str | bytes) -> Any:
    """As json.loads; too deep is a ValueError, too."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None


def from_toml(text: str) -> dict[str, Any]:
    """As tomllib.loads; whatever is wrong is a ValueError."""
    if is_too_deep(text):
        raise ValueError(TOO_DEEP)
    if any(part.count(".") > DEEPEST for part in _BETWEEN_KEYS.split(_IN_QUOTES.sub("", text))):
        raise ValueError(_TOO_DEEP_KEY)
    return tomllib.loads(text)


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
