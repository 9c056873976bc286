"""Fitness, urgency and alignment over a run: what HaSTE-A saw in three jobs whenever it placed a task.

Recomputed from the record of the run, by the formulas of policy/levers/haste*.py, for the next map of each job that has
maps left to place and whose AM runs: the paper shows terasort, kmeans and scan.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from heddle.model.cluster import Cluster
from heddle.model.resources import MEMORY_MB
from heddle.record.run import Run
from heddle.reproduce import verdicts
from heddle.reproduce.claims import Claim, mean_text
from heddle.reproduce.drawing import Curve, draw_curves
from heddle.reproduce.haste.batches import Batch
from heddle.reproduce.haste.settings import ITERATIVE, Settings
from heddle.reproduce.lab import Findings, Part, Work
from heddle.reproduce.verdicts import Judgement
from heddle.run import simulate

SHOWN = ("terasort", "kmeans", "scan")
TERMS = ("fitness", "urgency", "alignment")
MAP, REDUCE = "map", "reduce"
FULL = 1.0  # alignment as it is, not weighted by how many jobs are not iterative


@dataclass(frozen=True)
class Seen:
    """Of one job, whenever a task was placed while it had maps left: each term from 0 to 1 among all such jobs."""

    at_s: tuple[float, ...]
    terms: tuple[tuple[float, float, float], ...]
    raw_urgency: tuple[float, ...]

    def mean(self, term: str) -> float:
        return float(np.mean([one[TERMS.index(term)] for one in self.terms]))

    @property
    def urgency_grows_by(self) -> float:
        """Of the last third of its life over the first, in percent of the most."""
        third = max(1, len(self.raw_urgency) // 3)
        most = max(self.raw_urgency) or 1.0
        return 100 * float(np.mean(self.raw_urgency[-third:]) - np.mean(self.raw_urgency[:third])) / most


@dataclass
class _Phase:
    """Maps or reduces of one iteration of a job."""

    demand: tuple[float, float]  # parts of a node
    tasks: int
    iteration: int
    held: int = 0
    done: int = 0


def seen_by(batch: Batch, cluster: Cluster, policy: str, seed: int, weight: float | None = None) -> dict[str, Seen]:
    run = simulate(batch.jobs(seed), cluster, policy, seed=seed, record=True)
    return terms_of(run, cluster, weight)


def terms_of(run: Run, cluster: Cluster, weight: float | None = None) -> dict[str, Seen]:
    """By name of the job. `weight` is that of alignment; by default the part of the jobs that are not iterative."""
    node = cluster.nodes[0].allowance
    sizes = {row["shape"]: (row[MEMORY_MB] / node[0], row["vcores_milli"] / node[1]) for row in run.shapes.to_dicts()}
    names = dict(zip(run.jobs["job"].to_list(), run.jobs["name"].to_list(), strict=True))
    iterative = sum(name.startswith(("pagerank", "kmeans")) for name in names.values())
    weight = 1 - iterative / len(names) if weight is None else weight
    phases: dict[int, tuple[str, int, _Phase]] = {}
    for row in run.stages.filter(pl.col("name") != "am").to_dicts():
        role, _, iteration = row["name"].partition("-")
        phases[row["stage"]] = role, row["job"], _Phase(sizes[row["shape"]], row["n_tasks"], int(iteration))
    used = np.zeros((len(cluster.nodes), 2))
    begun: set[int] = set()
    seen: dict[int, list[tuple[float, float, float, float, float]]] = {job: [] for job in names}
    for at_ms, is_end, row in _events(run):
        sign = -1 if is_end else 1
        if not is_end and row["stage"] in phases:
            for job, terms in _terms(phases, begun, names, used[row["node"]], len(cluster.nodes), weight).items():
                seen[job].append((at_ms / 1000, *terms))
        used[row["node"]] += sign * np.array(sizes[row["shape"]])
        if row["stage"] in phases:
            phase = phases[row["stage"]][2]
            phase.held += sign
            phase.done += is_end
        elif not is_end:
            begun.add(row["job"])
    return {
        names[job]: Seen(
            tuple(one[0] for one in rows),
            tuple((one[1], one[2], one[3]) for one in rows),
            tuple(one[4] for one in rows),
        )
        for job, rows in seen.items()
        if rows
    }


def _events(run: Run) -> list[tuple[int, bool, dict[str, int]]]:
    """Allocations and ends in time; ends first, as they make the room."""
    found = []
    attempts = run.attempts.sort("allocation")
    for row in attempts.select("job", "stage", "node", "shape", "allocated_at_ms", "ended_at_ms").to_dicts():
        found += [(row["allocated_at_ms"], False, row), (row["ended_at_ms"], True, row)]
    return sorted(found, key=lambda one: (one[0], not one[1]))


def _terms(
    phases: Mapping[int, tuple[str, int, _Phase]],
    begun: set[int],
    names: Mapping[int, str],
    used: npt.NDArray[Any],
    n_nodes: int,
    weight: float,
) -> dict[int, tuple[float, float, float, float]]:
    """Of each job's next map: the three terms between the least and the most, and its urgency as it is."""
    raw: dict[int, tuple[float, float, float]] = {}
    for job in begun:
        current = _current(phases, job)
        if current is None:
            continue
        maps, reduces = current
        free = np.maximum(0, 1 - used)
        fitness = float(np.dot(maps.demand, free))
        part = {id(one): sum(one.demand) / n_nodes for one in (maps, reduces)}
        progress = (maps.held + maps.done) / maps.tasks
        ever = sum((one.held + one.done) * part[id(one)] for one in (maps, reduces))
        aligned = 1 - 1 / (maps.iteration + 2) if names[job].startswith(("pagerank", "kmeans")) else 0.0
        raw[job] = fitness, progress * ever, aligned
    scaled = {}
    for job, values in raw.items():
        between = [_between(values[term], [one[term] for one in raw.values()]) for term in range(3)]
        scaled[job] = between[0], between[1], weight * between[2], values[1]
    return scaled


def _current(phases: Mapping[int, tuple[str, int, _Phase]], job: int) -> tuple[_Phase, _Phase] | None:
    """The maps that are being placed, and the reduces of their iteration."""
    own = [(role, phase) for role, of, phase in phases.values() if of == job]
    for iteration in sorted({phase.iteration for _, phase in own}):
        maps, reduces = (next(p for r, p in own if r == role and p.iteration == iteration) for role in (MAP, REDUCE))
        if reduces.done < reduces.tasks:
            return (maps, reduces) if maps.held + maps.done < maps.tasks else None
    return None


def _between(value: float, values: list[float]) -> float:
    least, most = min(values), max(values)
    return (value - least) / (most - least) if most > least else 0.0


def alignment_first(runs: Mapping[int, Mapping[str, Seen]]) -> Judgement:
    """Whether alignment is the largest of the three terms of kmeans."""
    leads = {
        term: {"": {s: run["kmeans"].mean("alignment") - run["kmeans"].mean(term) for s, run in runs.items()}}
        for term in TERMS
        if term != "alignment"
    }
    return verdicts.order(leads)


def what_weight_says(given: Judgement, in_full: Judgement) -> str:
    """Whether the weight of alignment, which is ours where the text leaves it open, decides."""
    says = f"With aggressiveness={FULL:g} the lesser lead is {in_full.measured or 0:.2f}: {in_full.verdict.value}."
    decides = "decides" if in_full.verdict is not given.verdict else "does not decide"
    return f"{says} The weight of alignment {decides}."


def trajectories(settings: Settings) -> Part:
    known = settings.known
    batch, cluster = settings.batches()[ITERATIVE, known["trajectories.batch"]]
    policy = f"haste-a(urgency={known['policy.urgency_forms'][0]})"
    weights: dict[str, float | None] = {policy: None, policy.replace(")", f",aggressiveness={FULL:g})"): FULL}
    plan: dict[Hashable, Work] = {
        (under, seed): partial(seen_by, batch, cluster, under, seed, weight)
        for under, weight in weights.items()
        for seed in settings.seeds
    }
    results: Mapping[tuple[str, int], Mapping[str, Seen]] = yield plan
    runs, full = (
        {seed: {name.partition("-")[0]: one for name, one in results[under, seed].items()} for seed in settings.seeds}
        for under in weights
    )

    def over_seeds(kind: str, term: str) -> dict[int, float]:
        return {seed: run[kind].mean(term) for seed, run in runs.items()}

    fitness = {kind: over_seeds(kind, "fitness") for kind in SHOWN}
    others = [kind for kind in SHOWN if kind != "scan"]
    lower = {kind: {s: fitness[kind][s] - fitness["scan"][s] for s in runs} for kind in others}
    kmeans = {term: over_seeds("kmeans", term) for term in TERMS}
    first, first_in_full = alignment_first(runs), alignment_first(full)
    grows = {seed: run["scan"].urgency_grows_by for seed, run in runs.items()}
    shown = runs[settings.seeds[0]]
    return Findings(
        claims=[
            Claim(
                "trajectory.1", "Of terasort, kmeans and scan, scan's requests have the least fitness",
                "small demands of both resources, so the least fitness", "of 1, the lesser lead",
                verdicts.order({kind: {"": seeds} for kind, seeds in lower.items()}),
                "Mean of fitness, from 0 to 1 among jobs with maps left: "
                + ", ".join(f"{kind} {mean_text(seeds, 2)}" for kind, seeds in fitness.items()) + ".",
            ),
            Claim(
                "trajectory.2", "Alignment is the largest part of kmeans' preference",
                "alignment dominates", "of 1, the lesser lead",
                first,
                "Means: " + ", ".join(f"{term} {mean_text(seeds, 2)}" for term, seeds in kmeans.items()) + ". "
                + what_weight_says(first, first_in_full),
            ),
            Claim(
                "trajectory.3", "Scan's urgency rises as its tasks are assigned", "increases with A_m and A_r",
                "% of its most, the last third over the first", verdicts.order({"": {"": grows}}),
            ),
        ],
        drawings=[
            draw_curves(
                f"{term.capitalize()} over time: terasort, kmeans and scan", "time (s)", f"{term}, from 0 to 1",
                [
                    Curve(kind, list(shown[kind].at_s), [one[place] for one in shown[kind].terms])
                    for kind in SHOWN
                ],
                f"`{policy}`, {known['trajectories.batch']}, one seed: the next map of each, whenever a task was "
                "placed. Alignment is weighted by aggressiveness.",
            )
            for place, term in enumerate(TERMS)
        ],
    )  # fmt: skip
