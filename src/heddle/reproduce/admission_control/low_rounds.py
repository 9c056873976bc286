"""Why rounds score below the lowest of Table I: each of them again without nodes, and with AMs that start at once.

Equation (1) sees neither. It is a share of one pool of resources, so that what nodes leave over counts; and it reckons
that every AM has tasks to run, so that an AM which is still starting keeps room that nobody uses yet.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Mapping
from dataclasses import replace
from statistics import fmean
from typing import Any

from heddle.model.cluster import Cluster, Node
from heddle.reproduce import verdicts
from heddle.reproduce.admission_control.optimum import best_reserve
from heddle.reproduce.admission_control.settings import MIXED, Losses, Name, Rounds
from heddle.reproduce.claims import Table, mean_text
from heddle.reproduce.lab import Plan, Scores, Work, runs_of
from heddle.reproduce.verdicts import Seeds

AS_IT_IS = "as it is"


def as_one_node(cluster: Cluster) -> Cluster:
    """All that the nodes have, in one: nothing is left over."""
    memory_mb, vcores_milli = (sum(node.allowance[r] for node in cluster.nodes) for r in (0, 1))
    size = (memory_mb, vcores_milli)
    return replace(cluster, nodes=(Node("node-0", size, size),))


def at_once(cluster: Cluster) -> Cluster:
    return replace(cluster, timing=replace(cluster.timing, am_start_ms=0))


CHANGES: Mapping[str, Callable[[Cluster], Cluster]] = {
    "one node with all vcores": as_one_node,
    "AMs that start at once": at_once,
    "both": lambda cluster: at_once(as_one_node(cluster)),
}


def low_rounds(rounds: Rounds, loss: Losses) -> Generator[Plan, Mapping[Any, Any], Table]:
    """Asks for its runs as a part does; `loss` is that of the scored rounds."""
    lowest = rounds.known["score.lowest_pct"]
    low = [name for name, seeds in loss.items() if name[1] != MIXED and seeds and 100 - fmean(seeds.values()) < lowest]
    plan: dict[Hashable, Work] = {}
    for name in low:
        for change, changed in CHANGES.items():
            cluster = changed(rounds.cluster(name[0]))
            for policy in set(rounds.static(name[1][0]).values()):
                plan.update(runs_of((*name, change), rounds.batches[name], cluster, policy, rounds.tuning_seeds))
    tuning = Scores((yield plan))
    plan, best = {}, {}
    for name in low:
        for change, changed in CHANGES.items():
            best[name, change] = rounds.static(name[1][0])[best_reserve(rounds, tuning, (*name, change))]
            cluster = changed(rounds.cluster(name[0]))
            for policy in {best[name, change], rounds.controlled}:
                plan.update(runs_of((*name, change), rounds.batches[name], cluster, policy, rounds.seeds))
    scores = Scores((yield plan))
    found: dict[Name, dict[str, Seeds]] = {}
    for name in low:
        found[name] = {AS_IT_IS: {seed: 100 - value for seed, value in loss[name].items()}}
        for change in CHANGES:
            policies = best[name, change], rounds.controlled
            spans = [scores.metric((*name, change), policy, "makespan_s") for policy in policies]
            found[name][change] = {seed: 100 - value for seed, value in verdicts.change_pct(*spans).items()}
    rows = tuple(
        (member, f"{am}/{task}", *(mean_text(of[change]) for change in (AS_IT_IS, *CHANGES)))
        for (member, (am, task)), of in found.items()
    )
    return Table(
        f"Why: rounds that score below {lowest:g} %, with one thing changed",
        ("jobs", "AM/task vcores", *(f"score, {change} (%)" for change in (AS_IT_IS, *CHANGES))),
        rows,
        f"The best static reserve is chosen anew for each. {what_changes_say(found, lowest)}",
    )


def what_changes_say(scores: Mapping[Name, Mapping[str, Seeds]], lowest: float) -> str:
    """How many of the low rounds each change lifts to the limit, and which none does."""
    if not scores:
        return "No round scores so low."

    def lifted(change: str) -> list[Name]:
        return [name for name, of in scores.items() if of[change] and fmean(of[change].values()) >= lowest]

    counts = "; ".join(f"{change}: {len(lifted(change))}" for change in CHANGES)
    explained = {name for change in CHANGES for name in lifted(change)}
    rest = [f"{member} {am}/{task}" for member, (am, task) in scores if (member, (am, task)) not in explained]
    left = f"Lifted by none: {', '.join(rest)}." if rest else "None is left unexplained."
    return f"Of {len(scores)} such rounds these changes lift to {lowest:g} % or more: {counts}. {left}"
