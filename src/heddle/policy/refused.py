"""A declaration that cannot be right, among others in one file: only who asks for that lever hears of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final

from heddle.model.errors import BadInput


@dataclass(frozen=True)
class Refused:
    """Stands in a user's file where the lever would."""

    why: BadInput


_IN_A_FILE: Final = ContextVar("_IN_A_FILE", default=False)


@contextmanager
def in_a_file() -> Iterator[None]:
    """While a user's file is loaded, which may declare other levers that are right."""
    before = _IN_A_FILE.set(True)
    try:
        yield
    finally:
        _IN_A_FILE.reset(before)


def refused(why: BadInput) -> Any:
    """What a decorator makes of the function: in a user's file a Refused, else the error itself."""
    if not _IN_A_FILE.get():
        raise why
    return Refused(why)
