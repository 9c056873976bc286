"""What an import gives: a queue tree, and everything that was said and could not be taken along."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from heddle.model.cluster import YARN, Calculator, Cluster, Queue
from heddle.model.errors import BadInput


@dataclass(frozen=True)
class Left:
    """A setting that is not in the cluster that came out, or not quite as it was."""

    setting: str
    value: str
    why: str

    def __str__(self) -> str:
        return f"{self.setting} = {self.value}: {self.why}"


@dataclass(frozen=True)
class ImportedQueues:
    """The queues of a scheduler's configuration."""

    scheduler: str  # capacity, fair: the policy that does what this scheduler does
    queues: tuple[Queue, ...]  # parents before children; root first
    calculator: Calculator = "memory"
    off_switch_per_heartbeat: int = 0
    left: tuple[Left, ...] = ()


def with_queues(nodes: Cluster, imported: ImportedQueues) -> Cluster:
    """A cluster of these nodes with these queues, in YARN's own rhythm."""

    def padded(amounts: tuple[int, ...]) -> tuple[int, ...]:
        # Memory and vcores are what schedulers' files speak of; nothing of the rest.
        return amounts and (*amounts, *(0,) * (len(nodes.resources) - len(amounts)))

    return replace(
        nodes,
        queues=tuple(replace(one, min_share=padded(one.min_share)) for one in imported.queues),
        calculator=imported.calculator,
        off_switch_per_heartbeat=imported.off_switch_per_heartbeat,
        timing=YARN,
        policy=imported.scheduler,
        name="imported",
    )


@dataclass
class Leftovers:
    """Collects what is left, in the order in which it was met."""

    found: list[Left] = field(default_factory=list)

    def add(self, setting: str, value: Any, why: str) -> None:
        self.found.append(Left(setting, " ".join(str(value).split()), why))


def read_queues_xml(path: Path, totals: Sequence[int] | None) -> ImportedQueues:
    """The queues of capacity-scheduler.xml or fair-scheduler.xml, told apart by what is in them.

    `totals` is what the cluster may promise (MB, millicores), where it is known: absolute amounts become shares of it.
    """
    from heddle.traces.cluster_import.capacity import capacity_queues
    from heddle.traces.cluster_import.fair import fair_queues

    try:
        root = ElementTree.parse(path).getroot()
    except OSError as error:
        raise BadInput.of(str(path), f"cannot be read: {error.strerror or error}") from None
    except ElementTree.ParseError as error:
        raise BadInput.of(str(path), f"not XML: {error}", row=error.position[0]) from None
    if root.tag == "configuration":
        return capacity_queues(_properties(root), str(path))
    if root.tag == "allocations":
        return fair_queues(root, str(path), totals)
    what = (
        f"<{root.tag}> is neither a capacity-scheduler.xml (<configuration>) nor a fair-scheduler.xml (<allocations>)"
    )
    raise BadInput.of(str(path), what)


def _properties(root: ElementTree.Element) -> Mapping[str, str]:
    """Name and value of each <property>; of a name given twice the last wins, as in Hadoop."""
    found = {}
    for one in root.iter("property"):
        name = (one.findtext("name") or "").strip()
        if name:
            found[name] = (one.findtext("value") or "").strip()
    return found
