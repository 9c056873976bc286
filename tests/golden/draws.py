"""Choices that are the same for ever: of Python's `random` only the sequence of random() is promised not to change."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


class Draws:
    def __init__(self, number: int) -> None:
        self._random = Random(number)

    def between(self, least: int, most: int) -> int:
        return least + int(self._random.random() * (most - least + 1))

    def pick(self, *options: T) -> T:
        return options[self.between(0, len(options) - 1)]

    def often(self, permille: int) -> bool:
        return self.between(0, 999) < permille

    def some(self, options: Sequence[T], most: int) -> tuple[T, ...]:
        """Up to so many of them, in their order."""
        wanted = {self.between(0, len(options) - 1) for _ in range(self.between(0, most))} if options else set()
        return tuple(options[i] for i in sorted(wanted))
