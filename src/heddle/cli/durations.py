"""Lengths of time as people write them: 90, 90s, 10m, 1.5h."""

from __future__ import annotations

import re
from typing import Annotated, Final

import typer

from heddle.model.errors import BadInput

_UNITS: Final = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}
_WRITTEN: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?)([smh]?)")


def seconds(text: str, option: str, examples: str) -> float:
    """A bare number is in seconds. BadInput that names the option where it is no length of time."""
    read = _WRITTEN.fullmatch(text.strip())
    if read is None or float(read[1]) <= 0:
        raise BadInput.of(option, f"{text!r} is not a length of time; write {examples}")
    return float(read[1]) * _UNITS[read[2]]


def _until(text: str) -> float:
    return seconds(text, "--for", "90s, 30m or 2h")


For = Annotated[
    float | None,
    typer.Option("--for", parser=_until, metavar="TIME", help="Stop after this long: 90s, 30m, 2h [default: never]."),
]
