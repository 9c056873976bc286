"""Lengths of time as people write them: 90, 90s, 10m, 1.5h."""

from __future__ import annotations

import re
from typing import Final

from heddle.model.errors import BadInput

_UNITS: Final = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_WRITTEN: Final = re.compile(r"^([0-9]+(?:\.[0-9]+)?)\s*([a-z]*)$")


def seconds(text: str, option: str) -> float:
    """BadInput that names the option where it is no length of time."""
    read = _WRITTEN.match(text.strip().lower())
    if read is None or read[2] not in _UNITS or float(read[1]) <= 0:
        raise BadInput.of(option, f"{text}: say how long, as in 90s, 10m or 1.5h")
    return float(read[1]) * _UNITS[read[2]]
