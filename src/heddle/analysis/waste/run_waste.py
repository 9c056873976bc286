"""Everything about a recorded run that tells where its capacity went."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import polars as pl

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
    return {name: _largest(efficiency(containers, name)) for name in dict.fromkeys([by, *rest])}


def _largest(found: list[Efficiency]) -> list[Efficiency]:
    """With those groups alone that are among the largest wasters of some resource."""
    kept = pl.concat([one.groups.select("group").head(WASTERS) for one in found]).unique()
    return [replace(one, groups=one.groups.join(kept, on="group", how="semi", maintain_order="left")) for one in found]
