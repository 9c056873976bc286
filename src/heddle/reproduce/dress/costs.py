"""What DRESS costs: how many jobs finish later than under Capacity, which, and by how much."""

from __future__ import annotations

from collections.abc import Mapping

from heddle.reproduce import verdicts
from heddle.reproduce.claims import Claim, Table, mean_text
from heddle.reproduce.dress.compared import Mixes, Results, by_member, unless_stalled
from heddle.reproduce.dress.jobs import Kind
from heddle.reproduce.job_times import Floats


def costs(given: Mixes, runs: Results) -> list[Claim]:
    """MapReduce: how many jobs get later, and by how much."""
    known = given.known
    where: tuple[Kind, float] = ("map-reduce", known["jobs.small_share"])
    changes = {member: _changes(given, runs, (member, *where), given.policies[1]) for member in given.members}
    count = {member: later_jobs(of_seeds) for member, of_seeds in changes.items()}
    by = {member: later_by(of_seeds) for member, of_seeds in changes.items()}
    small = {
        member: {seed: change[given.workloads()[member, *where].small(seed)] for seed, change in of_seeds.items()}
        for member, of_seeds in changes.items()
    }
    small_later = verdicts.over_seeds({member: later_jobs(of_seeds) for member, of_seeds in small.items()})[0] or 0.0
    return [
        Claim(
            "MapReduce.2",
            "So many jobs finish later (MapReduce)",
            f"{known['claims.later_jobs']} of 20",
            "of 20 jobs",
            unless_stalled(given, runs, where, verdicts.point(count, known["claims.later_jobs"])),
            f"Counted on each seed; any amount later counts. {by_member(count)} Of them small: {small_later:.1f}.",
        ),
        Claim(
            "MapReduce.3",
            "Those that finish later do so by (MapReduce)",
            f"{known['claims.later_by_pct']:g} % on average",
            "% later",
            unless_stalled(given, runs, where, verdicts.point(by, known["claims.later_by_pct"])),
            f"Mean of each seed over the jobs that finish later. {by_member(by)}",
        ),
    ]


def _changes(given: Mixes, runs: Results, name: tuple[str, str, float], policy: str) -> dict[int, Floats]:
    """Of each job, the change of its completion time in percent."""
    return {
        seed: 100 * (runs[name, policy, seed].completion_s / runs[name, given.policies[0], seed].completion_s - 1)
        for seed in given.seeds
        if runs[name, policy, seed].finished and runs[name, given.policies[0], seed].finished
    }


def later_jobs(changes: Mapping[int, Floats]) -> dict[int, float]:
    """How many jobs got later, of each seed."""
    return {seed: float((change > 0).sum()) for seed, change in changes.items()}


def later_by(changes: Mapping[int, Floats]) -> dict[int, float]:
    """The mean change of the jobs that got later, of each seed; 0 where none did."""
    return {seed: float(change[change > 0].mean()) if (change > 0).any() else 0.0 for seed, change in changes.items()}


def losers(given: Mixes, runs: Results) -> Table:
    rows = []
    for name, jobs in given.workloads().items():
        changes = _changes(given, runs, name, given.policies[1])
        large = {seed: change[~jobs.small(seed)] for seed, change in changes.items()}
        worst = {seed: float(change.max()) for seed, change in changes.items()}
        rows.append(
            (
                f"{name[1]}, {100 * name[2]:.0f} % small, {name[0]}",
                mean_text(later_jobs(changes)),
                mean_text(later_by(changes)),
                mean_text({seed: float(change.mean()) for seed, change in large.items()}),
                mean_text(worst),
            )
        )
    heads = ("jobs", "later, of 20", "those by (%)", "large jobs, mean change (%)", "worst job (%)")
    return Table("What it costs: completion under DRESS against Capacity", heads, tuple(rows))
