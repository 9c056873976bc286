"""Everything about a recorded run that tells where its capacity went."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from heddle.analysis.waste.efficiency import Containers, Efficiency, efficiency
from heddle.analysis.waste.ledger import Ledger, LedgerOverTime, ledger_and_course
from heddle.analysis.waste.node_map import NodeMap, node_map
from heddle.record.run import Run

LEDGER_BINS: Final = 80
WASTERS: Final = 150  # of each resource


@dataclass(frozen=True)
class Waste:
    """The ledger, the same over time, and node by node."""

    ledger: Ledger
    over_time: LedgerOverTime
    nodes: NodeMap


def run_waste(run: Run) -> Waste:
    """BadInput where the record has no log of events."""
    return Waste(*ledger_and_course(run, LEDGER_BINS), node_map(run))


def efficiencies(containers: Containers, by: str = "job") -> dict[str, list[Efficiency]]:
    """The efficiency in every grouping, `by` first, with the distribution; of groups the largest wasters are kept."""
    rest = ["job", "user", "queue", *(["node"] if containers.has_nodes else []), "container"]
    return {name: efficiency(containers, name, WASTERS) for name in dict.fromkeys([by, *rest])}
