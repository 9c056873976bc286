"""A parameter of a lever: what a policy string may set. In hooks `params.damping` is the value in thousandths."""

from __future__ import annotations

from dataclasses import dataclass

Value = bool | int | float | str


@dataclass(frozen=True)
class Parameter:
    """`choices` turns words into 0, 1, 2 ...; the bounds are inclusive.

    With both, it is a number, and the words stand for -1, -2 ...
    """

    name: str
    default: Value
    meaning: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()

    def thousandths(self, value: Value) -> int:
        if isinstance(value, str):
            place = self.choices.index(value)
            value = place if self.low is None else -1 - place
        return round(1000 * value)


def literal(value: Value) -> str:
    """As a policy string has it."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)
