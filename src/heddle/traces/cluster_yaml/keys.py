"""Reading a tree of keys and values: every problem gets the path of its key, and no key goes unnoticed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, TypeVar

from heddle.model.suggestion import did_you_mean
from heddle.traces.problems import Problems

T = TypeVar("T")
Word = TypeVar("Word", bound=str)
LARGEST = 10**12  # keeps every product the engine forms inside 64 bits


class Keys:
    """A mapping of the file. Each key is asked for by name; `done` reports those nobody asked for."""

    def __init__(self, data: Any, path: str, problems: Problems) -> None:
        self.path = path
        self.problems = problems
        self.asked: list[str] = []
        if data is None:
            data = {}
        if not isinstance(data, dict):
            self.report("", f"must be a mapping of keys to values, not {_kind(data)}")
            data = {}
        self.data: dict[Any, Any] = data

    def report(self, key: str, what: str) -> None:
        self.problems.add(what, field=self.where(key) or None)

    def where(self, key: str) -> str:
        return ".".join(part for part in (self.path, str(key)) if part)

    def has(self, key: str) -> bool:
        return self.data.get(key) is not None

    def take(self, key: str, convert: Callable[[Any], T], default: T) -> T:
        """The value of the key; the default where it is missing, or wrong (which is reported)."""
        self.asked.append(key)
        if self.data.get(key) is None:
            return default
        try:
            return convert(self.data[key])
        except ValueError as error:
            self.report(key, str(error))
            return default

    def below(self, key: str) -> Keys:
        """The mapping under the key; empty where there is none."""
        self.asked.append(key)
        return Keys(self.data.get(key), self.where(key), self.problems)

    def items(self, key: str) -> list[tuple[str, Any]]:
        """The members of the list under the key, each with its path."""
        self.asked.append(key)
        values = self.data.get(key)
        if values is None:
            return []
        if not isinstance(values, list):
            self.report(key, f"must be a list, not {_kind(values)}")
            return []
        return [(f"{self.where(key)}[{place}]", value) for place, value in enumerate(values)]

    def done(self) -> None:
        for key in self.data:
            if key not in self.asked:
                hint = did_you_mean(str(key), self.asked) or f"; known keys are {', '.join(self.asked)}"
                self.report(str(key), f"unknown key{hint}")


def scaled(scale: int = 1, *, low: int = 0, high: int = LARGEST) -> Callable[[Any], int]:
    """A number times `scale`, which must be whole; `low` and `high` bound the scaled value."""

    def convert(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"must be a number, not {_kind(value)}")
        exact = Decimal(str(value)) * scale
        if not exact.is_finite():
            raise ValueError(f"must be a finite number, not {value}")
        if exact != int(exact):
            digits = len(str(scale)) - 1
            raise ValueError(f"must be a whole number, not {value}" if not digits else f"{value}: too many decimals")
        if not low <= exact <= high:
            raise ValueError(f"must be between {low / scale:g} and {high / scale:g}, not {value}")
        return int(exact)

    return convert


def text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    raise ValueError(f"must be text, not {_kind(value)} (put it in quotes)")


def truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"must be true or false, not {_kind(value)}")
    return value


def one_of(known: Sequence[Word]) -> Callable[[Any], Word]:
    def convert(value: Any) -> Word:
        for word in known:
            if word == value:
                return word
        raise ValueError(f"must be one of {', '.join(known)}, not {value}{did_you_mean(str(value), known)}")

    return convert


def texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not value:
        raise ValueError(f"must be a list of names, not {_kind(value)}")
    return tuple(text(member) for member in value)


def _kind(value: Any) -> str:
    if value is None:
        return "nothing"
    return {dict: "a mapping", list: "a list", str: f'the text "{value}"', bool: f"{value}"}.get(
        type(value), f"{value}"
    )
