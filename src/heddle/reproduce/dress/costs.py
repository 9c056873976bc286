"""Who gains by DRESS and who pays: how many jobs finish sooner and later than under Capacity, and by how much."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from heddle.reproduce import verdicts
from heddle.reproduce.claims import Claim, Table, mean_text
from heddle.reproduce.dress.compared import Mixes, Results, by_member, unless_stalled
from heddle.reproduce.dress.jobs import Kind
from heddle.reproduce.job_times import Floats
from heddle.reproduce.verdicts import Ensemble


def gains_and_costs(given: Mixes, runs: Results, policy: str) -> list[Claim]:
    """MapReduce: how many jobs get sooner and how many later, and by how much; and which large ones gain."""
    known = given.known
    where: tuple[Kind, float] = ("map-reduce", known["jobs.small_share"])
    members = given.members_of("map-reduce")
    changes = {member: _changes(given, runs, (member, *where), policy) for member in members}
    gains = {member: {seed: -change for seed, change in seeds.items()} for member, seeds in changes.items()}
    small = {member: given.workloads[member, *where].small for member in members}
    small_later = verdicts.over_seeds(
        {m: above_zero({seed: change[small[m](seed)] for seed, change in changes[m].items()}) for m in members}
    )[0]
    winners = known["claims.large_winners_pct"]
    of_large = {
        m: {seed: float(np.sort(gain[~small[m](seed)])[-len(winners) :].mean()) for seed, gain in gains[m].items()}
        for m in members
    }

    def claim(id_: str, says: str, paper: str, unit: str, values: Ensemble, point: float, note: str) -> Claim:
        judged = unless_stalled(given, runs, where, policy, verdicts.point(values, point))
        return Claim(id_, says, paper, unit, judged, f"{note} {by_member(values)}")

    later, later_pct = known["claims.later_jobs"], known["claims.later_by_pct"]
    sooner, sooner_pct = known["claims.sooner_jobs"], known["claims.sooner_by_pct"]
    best = float(np.mean(winners))
    return [
        claim(
            "MapReduce.2", "So many jobs finish later (MapReduce)", f"{later} of 20", "of 20 jobs",
            {m: above_zero(seeds) for m, seeds in changes.items()}, later,
            f"Counted on each seed; any amount later counts. Of them small: {small_later or 0:.1f}.",
        ),
        claim(
            "MapReduce.3", "Those that finish later do so by (MapReduce)", f"{later_pct:g} % on average", "% later",
            {m: mean_above_zero(seeds) for m, seeds in changes.items()}, later_pct,
            "Mean of each seed over the jobs that finish later.",
        ),
        claim(
            "MapReduce.4", "So many jobs finish sooner (MapReduce)", f"{sooner} of 20", "of 20 jobs",
            {m: above_zero(seeds) for m, seeds in gains.items()}, sooner, "Counted on each seed.",
        ),
        claim(
            "MapReduce.5", "Those that finish sooner do so by (MapReduce)", f"{sooner_pct:g} % on average", "% sooner",
            {m: mean_above_zero(seeds) for m, seeds in gains.items()}, sooner_pct,
            "Mean of each seed over the jobs that finish sooner.",
        ),
        claim(
            "MapReduce.6", "The three large jobs that gain most finish sooner by (MapReduce)",
            f"{best:.1f} % on average ({', '.join(f'{one:g}' for one in winners)})", "% sooner", of_large, best,
            "Of each seed the three that gain most, as the paper names its own.",
        ),
    ]  # fmt: skip


def _changes(given: Mixes, runs: Results, name: tuple[str, str, float], policy: str) -> dict[int, Floats]:
    """Of each job, the change of its completion time in percent."""
    return {
        seed: 100 * (runs[name, policy, seed].completion_s / runs[name, given.baseline, seed].completion_s - 1)
        for seed in given.seeds
        if runs[name, policy, seed].finished and runs[name, given.baseline, seed].finished
    }


def above_zero(changes: Mapping[int, Floats]) -> dict[int, float]:
    """How many jobs have a change above 0, of each seed."""
    return {seed: float((change > 0).sum()) for seed, change in changes.items()}


def mean_above_zero(changes: Mapping[int, Floats]) -> dict[int, float]:
    """The mean of the changes above 0, of each seed; 0 where there is none."""
    return {seed: float(change[change > 0].mean()) if (change > 0).any() else 0.0 for seed, change in changes.items()}


def losers(given: Mixes, runs: Results) -> Table:
    rows = []
    for name, jobs in given.workloads.items():
        changes = _changes(given, runs, name, given.dress)
        large = {seed: change[~jobs.small(seed)] for seed, change in changes.items()}
        worst = {seed: float(change.max()) for seed, change in changes.items()}
        rows.append(
            (
                f"{name[1]}, {100 * name[2]:.0f} % small, {name[0]}",
                mean_text(above_zero(changes)),
                mean_text(mean_above_zero(changes)),
                mean_text({seed: float(change.mean()) for seed, change in large.items()}),
                mean_text(worst),
            )
        )
    heads = ("jobs", "later, of 20", "those by (%)", "large jobs, mean change (%)", "worst job (%)")
    return Table("What it costs: completion under DRESS against Capacity", heads, tuple(rows))
