"""The factors of the ablation: what the five papers add, HaSTE's three terms apart, each on or off."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from heddle.model.cluster import Cluster
from heddle.model.workload import Workload

QUEUES: Final = "capacity"


@dataclass(frozen=True)
class Factor:
    """`without_data`: why a workload that records nothing of it cannot show what it does; empty: every one can."""

    name: str
    about: str
    without_data: str = ""


ADMISSION: Final = Factor("admission", "admission control with a backlog (paper 3)")
SIZING: Final = Factor("sizing", "usage feedback, young containers in full (paper 1)", "records no use")
SHARE: Final = Factor("share", "DRESS's share for small jobs (paper 5)")
FITNESS: Final = Factor("fitness", "HaSTE's fitness and its knapsack (paper 2)")
URGENCY: Final = Factor("urgency", "HaSTE's urgency of maps and reduces (paper 2)")
ALIGNMENT: Final = Factor("alignment", "HaSTE-A's alignment of iterative jobs (paper 2)")
PLACEMENT: Final = Factor("placement", "network-aware placement (paper 4)", "records no bytes, or has no links")
FACTORS: Final = (ADMISSION, SIZING, SHARE, FITNESS, URGENCY, ALIGNMENT, PLACEMENT)

Combination = frozenset[str]  # names of the factors that are on
PAPERS: Final = {
    "usage feedback": frozenset({SIZING.name}),
    "HaSTE": frozenset({FITNESS.name, URGENCY.name}),
    "HaSTE-A": frozenset({FITNESS.name, URGENCY.name, ALIGNMENT.name}),
    "admission control": frozenset({ADMISSION.name}),
    "network-aware": frozenset({PLACEMENT.name}),
    "DRESS": frozenset({SHARE.name}),
}

Parts = Mapping[str, str]  # what a part of a policy is written as; empty: it is left out

# Young reports by the choosing half of the workloads: with 0, the paper's own form, 0.2 % of the tasks of `mix` crash;
# with 10 half of what it gains there is gone.
WRITTEN: Final[Parts] = {
    "pools": "dress-pools(demand=asked)",  # what a ResourceManager knows
    "order": "smallest-first",
    "haste": "",  # further parameters of HaSTE's
    "admission": "admission-control(backlog=0.75)",
    "sizing": "usage-feedback(young_reports=2)",
    "placement": "network-aware",
}


def all_combinations() -> Iterator[Combination]:
    """From none to all."""
    names = [factor.name for factor in FACTORS]
    for size in range(len(names) + 1):
        yield from map(frozenset, combinations(names, size))


def policy_of(chosen: Combination, written: Parts = WRITTEN) -> str:
    """The levers of these factors behind Capacity's queues. Without a term HaSTE is Capacity's own order."""
    parts = [QUEUES]
    if SHARE.name in chosen:
        parts.append(written["pools"])
    parts.append(_ordering(chosen, written))
    parts += [written[factor.name] for factor in (ADMISSION, SIZING, PLACEMENT) if factor.name in chosen]
    return "+".join(part for part in parts if part)


def _ordering(chosen: Combination, written: Parts) -> str:
    fitness, urgency, alignment = (factor.name in chosen for factor in (FITNESS, URGENCY, ALIGNMENT))
    if not (fitness or urgency or alignment):
        return written["order"] if SHARE.name in chosen else ""
    values = [] if fitness else ["fitness=false", "initial=false"]
    values += [] if urgency else ["urgency=none"]
    values += [written["haste"]] if written["haste"] else []
    return ("haste-a" if alignment else "haste") + (f"({','.join(values)})" if values else "")


def shown_by(workload: Workload, cluster: Cluster) -> set[str]:
    """The factors of which this workload on this cluster can show anything."""
    shown = {factor.name for factor in FACTORS if not factor.without_data}
    if workload.has_use:
        shown.add(SIZING.name)
    reads = any(amounts is not None and amounts.any() for amounts in (workload.edge_bytes, workload.input_bytes))
    if reads and cluster.has_network:
        shown.add(PLACEMENT.name)
    return shown
