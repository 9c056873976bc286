"""Nodes as the dashboard shows them: numbered rows, of which a viewer is told those that have changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from heddle.dashboard.ledger import Held
from heddle.yarn.live.metrics_age import figures_of
from heddle.yarn.live.things_seen import NodeSeen, Size

FORGOTTEN_AFTER_S: Final = 3600.0  # nodes that have been away so long
GONE: Final = "GONE"  # the RM no longer lists it; we remember it
OUT: Final = frozenset(("LOST", "DECOMMISSIONED", "SHUTDOWN", "REBOOTED"))  # listed, but its figures are of the past
FIELDS: Final = (
    "own_mb", "promised_mb", "reserved_mb", "used_mb", "own_vcores", "promised_vcores", "reserved_vcores",
    "used_vcores", "state", "moved_at_s", "moved", "seen_at_s",
)  # fmt: skip


@dataclass
class _Row:
    name: str
    rack: str
    seen: NodeSeen
    seen_at_s: float  # when it was last on the RM's list
    figures_since_s: float
    moved: bool = False  # whether its figures were ever seen to change; before, nobody knows how old they are
    gone: bool = False
    shown: tuple[Any, ...] = field(default=())
    version: int = 0  # at which `shown` last changed
    own: Size = (0, 0)

    @property
    def away(self) -> bool:
        return self.gone or self.seen.state in OUT

    @property
    def tells_use(self) -> bool:
        """A NodeManager that measures nothing says 0 everywhere."""
        return any(figures_of(self.seen))

    def show(self, own: Size, version: int) -> None:
        self.own, seen = own, self.seen
        used: tuple[Any, Any] = (None, None)
        if self.tells_use:
            used = seen.containers_memory_mb, round(seen.container_vcores_used, 1)
        numbers: tuple[Any, ...] = (
            own[0], seen.total[0], seen.allocated[0], used[0],
            own[1] // 1000, seen.total[1] // 1000, seen.allocated[1] // 1000, used[1],
        )  # fmt: skip
        if self.away:  # what it had is no longer true
            numbers = (own[0], None, None, None, own[1] // 1000, None, None, None)
        state = GONE if self.gone else seen.state
        # When it was last seen changes with every look: only of those that are gone is it worth telling.
        seen_at_s = round(self.seen_at_s, 1) if self.gone else None
        shown = (*numbers, state, round(self.figures_since_s, 1), int(self.moved), seen_at_s)
        if shown != self.shown:
            self.shown, self.version = shown, version


class Nodes:
    """`version`s are the caller's: rows that changed later than one are what a viewer who has that one lacks."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._rows: dict[str, _Row] = {}
        self._say = say
        self.epoch = 0  # another one: rows have other numbers

    def __len__(self) -> int:
        return len(self._rows)

    def saw(self, nodes: Iterable[NodeSeen], own: Mapping[str, Size], at_s: float, version: int) -> None:
        """`own`: sizes without us, of nodes whose size a controller may have changed."""
        first = not self._rows
        there = {node.id: node for node in nodes}
        for name, seen in there.items():
            row = self._rows.get(name)
            if row is None:
                row = self._rows[name] = _Row(name, seen.rack, seen, at_s, at_s)
                if not first:
                    self._say(f"node {name} has joined")
            elif figures_of(seen) != figures_of(row.seen):
                row.figures_since_s, row.moved = at_s, True
            if row.gone:
                self._say(f"node {name} is back")
            if row.seen.state != seen.state:
                self._say(f"node {name}: {row.seen.state} → {seen.state}")
            row.seen, row.seen_at_s, row.gone = seen, at_s, False
            row.show(own.get(name, seen.total), version)
        for name, row in self._rows.items():
            if name not in there:
                if not row.gone:
                    self._say(f"node {name} is gone: the ResourceManager no longer lists it")
                row.gone = True
                row.show(own.get(name, row.own), version)
        self._forget(at_s)

    def _forget(self, at_s: float) -> None:
        kept = {name: row for name, row in self._rows.items() if at_s - row.seen_at_s < FORGOTTEN_AFTER_S}
        if len(kept) < len(self._rows):
            self._rows = kept
            self.epoch += 1

    def held(self, at_s: float, stale_s: float) -> Iterator[Held]:
        """For the ledger: figures that may be old are not counted as use."""
        for row in self._rows.values():
            fresh = row.moved and at_s - row.figures_since_s <= stale_s
            used = (row.seen.containers_memory_mb, 1000 * row.seen.container_vcores_used)
            yield Held(row.own, None if row.away else row.seen.allocated, used if fresh and row.tells_use else None)

    def names(self) -> list[tuple[str, str]]:
        """In the order of their numbers, each with its rack."""
        return [(row.name, row.rack) for row in self._rows.values()]

    def changed_since(self, version: int) -> list[list[Any]]:
        """Number and fields of each row that has changed."""
        return [[number, *row.shown] for number, row in enumerate(self._rows.values()) if row.version > version]
