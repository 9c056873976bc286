"""Names and the numbers that stand for them in columns: given once, the same from look to look.

A ResourceManager's names are learnt as they come; a simulated one's say their number themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Protocol


class Table(Protocol):
    """Numbers are small, so that arrays may be indexed by them."""

    def number(self, name: str) -> int: ...

    def name(self, number: int) -> str: ...

    def __len__(self) -> int:
        """More than any number so far."""
        ...


class Learnt:
    """In the order in which they come."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        self._names = list(known)
        self._number = {name: number for number, name in enumerate(self._names)}

    def number(self, name: str) -> int:
        number = self._number.get(name)
        if number is None:
            number = self._number[name] = len(self._names)
            self._names.append(name)
        return number

    def name(self, number: int) -> str:
        return self._names[number]

    def __len__(self) -> int:
        return len(self._names)


class Passing:
    """Names that go for good: their numbers are given anew. Containers, of which a cluster sees millions."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._number: dict[str, int] = {}
        self._free: list[int] = []
        self._now: set[str] = set()
        self._last: set[str] = set()

    def number(self, name: str) -> int:
        self._now.add(name)
        number = self._number.get(name)
        if number is None:
            number = self._free.pop() if self._free else len(self._names)
            self._number[name] = number
            self._names[number : number + 1] = [name]
        return number

    def name(self, number: int) -> str:
        return self._names[number]

    def __len__(self) -> int:
        return len(self._names)

    def end_look(self) -> None:
        """What neither this look nor the one before has shown may go."""
        for name in self._number.keys() - self._now - self._last:
            self._free.append(self._number.pop(name))
        self._last, self._now = self._now, set()


class Counted:
    """So many things that have numbers, and names made of them."""

    def __init__(self, count: int, name_of: Callable[[int], str], number_of: Callable[[str], int]) -> None:
        self._count, self._name_of, self.number = count, name_of, number_of
        self._names: dict[int, str] = {}

    def name(self, number: int) -> str:
        name = self._names.get(number)
        if name is None:
            name = self._names[number] = self._name_of(number)
        return name

    def __len__(self) -> int:
        return self._count


@dataclass
class Names:
    """All tables of one cluster."""

    nodes: Table = field(default_factory=Learnt)
    apps: Table = field(default_factory=Learnt)
    containers: Table = field(default_factory=Passing)
    queues: Table = field(default_factory=Learnt)
    users: Table = field(default_factory=Learnt)
    racks: Table = field(default_factory=Learnt)
    labels: Table = field(default_factory=lambda: Learnt([""]))
    words: Table = field(default_factory=lambda: Learnt([""]))  # hosts, states, addresses, attempts
