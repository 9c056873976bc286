"""A table: all that the bridge inside a ResourceManager is told, for as long as its lease lasts.

The text is what TableReader.java reads. Amounts are the levers' own integers: MB, millicores, parts of ONE.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from heddle.policy.form import Kind
from heddle.yarn.live.things_seen import Size

MOST_BYTES: Final = 4 << 20  # the bridge reads no more


class RequestRow(NamedTuple):
    """A request: all containers that an application asks for at one priority and allocation id."""

    app: str
    priority: int
    allocation: int
    leaf: str
    size: Size
    key: int
    term: int = 0
    ahead: bool = False
    vetoed: frozenset[str] = frozenset()  # nodes


@dataclass(frozen=True)
class Table:
    """Requests stand in the order in which they go where nothing else tells them apart."""

    kind: Kind
    requests: tuple[RequestRow, ...]
    nodes: Mapping[str, Size]  # what each has without us
    leaves: tuple[str, ...] = ()  # of which it speaks, also where nothing waits; all others are left to YARN
    fitness: bool = True
    alignment_milli: int = 0
    counts: tuple[bool, bool] = (True, True)  # memory, vcores
    reserves: bool = False
    step_over_vetoed: bool = False  # False: one that is vetoed stops those of its size behind it
    plans: Mapping[str, Mapping[Size, int]] = field(default_factory=dict)  # node -> size -> how many go first

    def text(self, version: int, lease_ms: int, hold_ms: int = 0, patience_ms: int = 60_000) -> str:
        lines = [
            f"heddle-table 1 {version} {lease_ms}",
            f"form {self.kind} {self.fitness:d} {self.alignment_milli}",
            f"counts {self.counts[0]:d} {self.counts[1]:d}",
            f"hold {hold_ms}",
            f"patience {patience_ms}",
            *(["reserve"] if self.reserves else []),
            *(["step-over-vetoed"] if self.step_over_vetoed else []),
            *(f"node {name} {memory} {vcores}" for name, (memory, vcores) in self.nodes.items()),
            *self._requests(),
            *self._plans(),
        ]
        return "\n".join([*lines, f"end {len(lines)}", ""])

    def _requests(self) -> Iterator[str]:
        number_of = {name: number for number, name in enumerate(self.nodes)}
        sets: dict[frozenset[str], int] = {}
        for row in self.requests:
            if row.vetoed and row.vetoed not in sets:
                sets[row.vetoed] = len(sets)
                there = sorted(number_of[node] for node in row.vetoed if node in number_of)
                yield " ".join(["set", str(sets[row.vetoed]), *map(str, there)])
        yield from (f"leaf {leaf}" for leaf in self.leaves)
        ranked = sorted(enumerate(self.requests), key=lambda one: (one[1].leaf, one[1].size))
        leaf, size = "", None
        for rank, row in ranked:
            if row.leaf != leaf:
                leaf, size = row.leaf, None
                yield f"leaf {leaf}"
            if row.size != size:
                size = row.size
                yield f"size {size[0]} {size[1]}"
            vetoed = sets[row.vetoed] if row.vetoed else "-"
            asked = f"{row.app} {row.priority} {row.allocation}"
            yield f"request {asked} {row.key} {row.term} {rank} {row.ahead:d} {vetoed}"

    def within(self, leaves: frozenset[str], nodes: frozenset[str] | None) -> Table:
        """What it says of these leaves, with vetoes of these nodes alone; None: of all."""
        rows = (row for row in self.requests if row.leaf in leaves)
        if nodes is not None:
            rows = (row._replace(vetoed=row.vetoed & nodes) for row in rows)
        return replace(self, requests=tuple(rows), leaves=tuple(leaf for leaf in self.leaves if leaf in leaves))

    def _plans(self) -> Iterable[str]:
        for number, node in enumerate(self.nodes):
            for (memory, vcores), count in self.plans.get(node, {}).items():
                yield f"plan {number} {memory} {vcores} {count}"
