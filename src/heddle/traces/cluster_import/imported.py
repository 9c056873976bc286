"""What an import gives: a queue tree, and everything that was said and could not be taken along."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from heddle.model.cluster import YARN, Calculator, Cluster, Queue


@dataclass(frozen=True)
class Left:
    """A setting that is not in the cluster that came out, or not quite as it was.

    `setting` and `value` hold what somebody else wrote or answered; `why` is in our own words, and names nobody.
    """

    setting: str
    value: str
    why: str
    matters: bool = False  # runs on this cluster may come out differently for it: every run says so

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

    everything, nothing = nodes.total_allowance(), (0,) * len(nodes.resources)

    def padded(amounts: tuple[int, ...], rest: tuple[int, ...]) -> tuple[int, ...]:
        # Memory and vcores are what schedulers' files speak of.
        return amounts and (*amounts, *rest[len(amounts) :])

    return replace(
        nodes,
        queues=tuple(
            replace(
                one,
                min_share=padded(one.min_share, nothing),
                guarantee=padded(one.guarantee, nothing),
                maximum=padded(one.maximum, everything),
            )
            for one in imported.queues
        ),
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

    def add(self, setting: str, value: Any, why: str, *, matters: bool = False) -> None:
        self.found.append(Left(setting, " ".join(str(value).split()), why, matters))
