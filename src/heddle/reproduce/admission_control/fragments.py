"""Whether vcores that no container can use are why a round scores low: equation (1) counts them.

A node of 8 vcores holds two containers of 3 and 2 vcores are left over. The reserve is a part of all 64 vcores, so more
AMs may start than leave enough places for tasks. On nodes of 9 vcores nothing is left over.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace

from heddle.reproduce import verdicts
from heddle.reproduce.admission_control.optimum import best_reserve
from heddle.reproduce.admission_control.settings import Rounds
from heddle.reproduce.claims import Table, interval_text, mean_text
from heddle.reproduce.lab import Findings, Part, Scores, Work, runs_of


def fragments(rounds: Rounds) -> Part:
    am, task = rounds.known["why.size"]
    size = (am, task)
    clusters = {vcores: replace(rounds, node_vcores=vcores) for vcores in rounds.known["why.node_vcores"]}
    batches = {(member, size): rounds.batches[member, size] for member in rounds.first_start}
    plan: dict[Hashable, Work] = {}
    for vcores, on in clusters.items():
        for (kind, _), jobs in batches.items():
            for policy in set(on.static(am).values()):
                plan.update(runs_of((kind, size, vcores), jobs, on.cluster(kind), policy, on.tuning_seeds))
    tuning = Scores((yield plan))
    best = {
        (kind, size, vcores): on.static(am)[best_reserve(on, tuning, (kind, size, vcores))]
        for vcores, on in clusters.items()
        for kind, _ in batches
    }
    plan = {}
    for (kind, _, vcores), policy in best.items():
        on = clusters[vcores]
        for one in (policy, on.controlled):
            plan.update(runs_of((kind, size, vcores), batches[kind, size], on.cluster(kind), one, on.seeds))
    scores = Scores((yield plan))
    rows = []
    found: dict[int, dict[str, dict[int, float]]] = {vcores: {} for vcores in clusters}
    for kind in rounds.first_start:
        cells = []
        for vcores in clusters:
            name = (kind, size, vcores)
            loss = verdicts.change_pct(
                scores.metric(name, best[name], "makespan_s"),
                scores.metric(name, rounds.controlled, "makespan_s"),
            )
            found[vcores][kind] = {seed: 100 - value for seed, value in loss.items()}
            cells.append(mean_text(found[vcores][kind]))
        rows.append((kind, *cells))
    return Findings(
        tables=[
            Table(
                f"Why: AMs of {am} and tasks of {task} vcores on other nodes",
                ("jobs", *(f"score on nodes of {vcores} vcores (%)" for vcores in clusters)),
                tuple(rows),
                what_nodes_say(found, task),
            )
        ]
    )


def what_nodes_say(scores: Mapping[int, verdicts.Ensemble], task_vcores: int) -> str:
    """By how much the score differs between nodes with vcores left over and nodes without."""
    with_rest, without = (
        next(vcores for vcores in scores if bool(vcores % task_vcores) is rest) for rest in (True, False)
    )
    gain = {
        kind: {
            seed: value - scores[with_rest][kind][seed]
            for seed, value in seeds.items()
            if seed in scores[with_rest][kind]
        }
        for kind, seeds in scores[without].items()
    }
    mean, interval = verdicts.over_seeds(gain)
    says = f"Without vcores left over the score changes by {mean or 0:+.1f} points{interval_text(interval)}:"
    if interval is not None and interval[0] > 0:
        return f"{says} equation (1) counts what no container can use, and that costs."
    return f"{says} what is left over does not explain a low score."
