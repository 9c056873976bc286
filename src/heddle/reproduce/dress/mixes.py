"""Small jobs against Capacity on Spark, on MapReduce and in mixes; what it costs; and DRESS taken apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from heddle.reproduce import verdicts
from heddle.reproduce.claims import Claim, Drawing, Table, mean_text
from heddle.reproduce.drawing import Curve, draw_curves
from heddle.reproduce.dress.jobs import Kind, Twenty, paper_cluster, twenty
from heddle.reproduce.job_times import Floats, JobResults, job_runs
from heddle.reproduce.lab import Findings, Part, Scope, Work
from heddle.reproduce.verdicts import Ensemble

Results = Mapping[Any, JobResults]


@dataclass(frozen=True)
class Mixes(Scope):
    """Every workload of the paper, and the policies that run it."""

    @property
    def members(self) -> list[str]:
        return list(self.known.of("ensemble"))

    def workloads(self) -> dict[tuple[str, Kind, float], Twenty]:
        """By member, platform and share of small jobs."""
        share = self.known["jobs.small_share"]
        platforms: list[tuple[Kind, float]] = [("spark", share), ("map-reduce", share)]
        platforms += [("mixed", mixed) for mixed in self.known["claims.mixed_shares"]]
        return {
            (member, kind, small): twenty(self.known, member, kind, small)
            for member in self.members
            for kind, small in platforms
        }

    @property
    def policies(self) -> list[str]:
        return [str(self.known[f"policy.{name}"]) for name in ("baseline", "dress", "partition_alone", "order_alone")]


def mixes(given: Mixes) -> Part:
    workloads, cluster = given.workloads(), paper_cluster(given.known)
    plan: dict[Hashable, Work] = {}
    for name, jobs in workloads.items():
        for policy in given.policies:
            plan.update(job_runs(name, jobs, cluster, policy, given.seeds))
    runs: Results = yield plan
    known = given.known
    share = known["jobs.small_share"]
    published: list[tuple[str, tuple[Kind, float], float]] = [
        ("Spark.1", ("spark", share), known["claims.spark_sooner_pct"]),
        ("MapReduce.1", ("map-reduce", share), known["claims.map_reduce_sooner_pct"]),
    ]
    shares, effects = known["claims.mixed_shares"], known["claims.mixed_sooner_pct"]
    published += [
        (f"Mixed.{number}", ("mixed", mixed), paper)
        for number, (mixed, paper) in enumerate(zip(shares, effects, strict=True), 1)
    ]
    claims = [_small_sooner(given, runs, where, paper, id_) for id_, where, paper in published]
    claims += [*_table_two(given, runs), *_costs(given, runs)]
    return Findings(
        claims=claims,
        drawings=[
            _by_job(given, runs, "spark", "wait", "Fig. 6: wait of 20 Spark jobs"),
            _by_job(given, runs, "spark", "completion", "Fig. 7: completion of 20 Spark jobs"),
            _by_job(given, runs, "map-reduce", "wait", "Fig. 8: wait of 20 MapReduce jobs"),
            _by_job(given, runs, "map-reduce", "completion", "Fig. 9: completion of 20 MapReduce jobs"),
        ],
        tables=[_ablation(given, runs), _losers(given, runs)],
        remarks=_stalled(runs),
    )


Change = Callable[[JobResults, JobResults, Twenty, int], float]  # before, after, jobs, seed -> percent sooner


def sooner(given: Mixes, runs: Results, where: tuple[Kind, float], policy: str, by: Change) -> Ensemble:
    """By how much sooner than under the baseline, for each member and each seed that both finish."""
    found: dict[str, dict[int, float]] = {}
    for member in given.members:
        name = (member, *where)
        pairs = {seed: (runs[name, given.policies[0], seed], runs[name, policy, seed]) for seed in given.seeds}
        found[member] = {
            seed: by(before, after, given.workloads()[name], seed)
            for seed, (before, after) in pairs.items()
            if before.finished and after.finished
        }
    return found


def small_jobs(before: JobResults, after: JobResults, jobs: Twenty, seed: int) -> float:
    """The mean over small jobs of how much sooner each finishes: the paper's "average reduction rate"."""
    ratio = after.completion_s / before.completion_s
    return 100 * (1 - float(ratio[jobs.small(seed)].mean()))


def all_jobs(of: Callable[[JobResults], float]) -> Change:
    """How much shorter a time of the whole run is."""
    return lambda before, after, *_: 100 * (1 - of(after) / of(before))


def _small_sooner(given: Mixes, runs: Results, where: tuple[Kind, float], paper: float, id_: str) -> Claim:
    values = sooner(given, runs, where, given.policies[1], small_jobs)
    kind, share = where
    name = {"spark": "Spark", "map-reduce": "MapReduce"}.get(kind, f"a mix with {100 * share:.0f} % small jobs")
    return Claim(
        id_,
        f"Small jobs finish sooner than under Capacity ({name})",
        f"{paper:g} % sooner",
        "%",
        verdicts.effect(values, paper),
        f"Mean over small jobs of each one's change. {_by_member(values)} The paper's number is one run of 20 jobs. "
        "The table `Why` has what a share that stays would give: Alg. 3 gives it away whenever no small job waits.",
    )


def _stalled(runs: Results) -> list[str]:
    """Seeds on which a policy did not come to an end are left out of its comparisons: then that must be said."""
    found = Counter(policy for (_, policy, _), run in runs.items() if not run.finished)
    return [f"{policy} stalled in {count} runs, which are left out." for policy, count in found.items()]


def _by_member(values: Ensemble) -> str:
    return "; ".join(f"{member} {mean_text(seeds)}" for member, seeds in values.items()) + "."


def _table_two(given: Mixes, runs: Results) -> list[Claim]:
    known = given.known
    where: tuple[Kind, float] = ("spark", known["jobs.small_share"])
    makespan = sooner(given, runs, where, given.policies[1], all_jobs(lambda run: run.makespan_s))
    later = {member: {seed: -value for seed, value in seeds.items()} for member, seeds in makespan.items()}
    claims = [
        Claim(
            "II.1",
            "The makespan remains stable (Spark)",
            f"{known['claims.makespan_pct']:+g} %",
            "% change",
            verdicts.sameness(later),
            _by_member(later),
        )
    ]
    rows: list[tuple[str, Callable[[JobResults], float], float]] = [
        ("mean wait", lambda run: _mean(run.wait_s), known["claims.mean_wait_sooner_pct"]),
        ("median wait", lambda run: _median(run.wait_s), known["claims.median_wait_sooner_pct"]),
        ("mean completion", lambda run: _mean(run.completion_s), known["claims.mean_completion_sooner_pct"]),
        ("median completion", lambda run: _median(run.completion_s), known["claims.median_completion_sooner_pct"]),
    ]
    for number, (what, of, paper) in enumerate(rows, 2):
        values = sooner(given, runs, where, given.policies[1], all_jobs(of))
        claims.append(
            Claim(
                f"II.{number}",
                f"The {what} of all jobs becomes shorter (Spark)",
                f"{paper:g} % shorter",
                "%",
                verdicts.effect(values, paper),
                _by_member(values),
            )
        )
    return claims


def _mean(values: Floats) -> float:
    return float(np.mean(values))


def _median(values: Floats) -> float:
    return float(np.median(values))


def _costs(given: Mixes, runs: Results) -> list[Claim]:
    """MapReduce: how many jobs get later, and by how much."""
    share, known = given.known["jobs.small_share"], given.known
    count: dict[str, dict[int, float]] = {}
    by: dict[str, dict[int, float]] = {}
    for member in given.members:
        changes = _changes(given, runs, (member, "map-reduce", share), given.policies[1])
        count[member] = {seed: float((change > 0).sum()) for seed, change in changes.items()}
        by[member] = _later_by(changes)
    later, later_ci = verdicts.over_seeds(count)
    mean, interval = verdicts.over_seeds(by)
    return [
        Claim(
            "MapReduce.2",
            "Some jobs finish later (MapReduce)",
            f"{known['claims.later_jobs']} of 20",
            "of 20 jobs",
            verdicts.shape(later_ci is not None and later_ci[0] > 0, later, later_ci),
            "Any amount later counts.",
        ),
        Claim(
            "MapReduce.3",
            "Those that finish later do so by (MapReduce)",
            f"{known['claims.later_by_pct']:g} % on average",
            "% later",
            verdicts.shape(interval is not None and interval[0] > 0, mean, interval),
            "Mean over the jobs that finish later; which ones, and how large they are, is in the table of costs.",
        ),
    ]


def _changes(given: Mixes, runs: Results, name: tuple[str, str, float], policy: str) -> dict[int, Floats]:
    """Of each job, the change of its completion time in percent."""
    return {
        seed: 100 * (runs[name, policy, seed].completion_s / runs[name, given.policies[0], seed].completion_s - 1)
        for seed in given.seeds
        if runs[name, policy, seed].finished and runs[name, given.policies[0], seed].finished
    }


def _later_by(changes: Mapping[int, Floats]) -> dict[int, float]:
    """The mean change of the jobs that got later, of each seed that has any."""
    return {seed: float(change[change > 0].mean()) for seed, change in changes.items() if (change > 0).any()}


def _ablation(given: Mixes, runs: Results) -> Table:
    rows = []
    for member, kind, share in given.workloads():
        for policy in given.policies[1:]:
            small, mean, makespan = (
                sooner(given, runs, (kind, share), policy, by)[member]
                for by in (
                    small_jobs,
                    all_jobs(lambda run: _mean(run.completion_s)),
                    all_jobs(lambda run: run.makespan_s),
                )
            )
            rows.append(
                (
                    f"{kind}, {100 * share:.0f} % small, {member}",
                    policy,
                    mean_text(small),
                    mean_text(mean),
                    mean_text({seed: -value for seed, value in makespan.items()}, 2),
                )
            )
    heads = ("jobs", "policy", "small jobs sooner (%)", "all jobs sooner (%)", "makespan (% change)")
    caption = "DRESS, its pools with Capacity's order, and its order without pools, each against Capacity."
    return Table("DRESS taken apart", heads, tuple(rows), caption)


def _losers(given: Mixes, runs: Results) -> Table:
    rows = []
    for name, jobs in given.workloads().items():
        changes = _changes(given, runs, name, given.policies[1])
        large = {seed: change[~jobs.small(seed)] for seed, change in changes.items()}
        worst = {seed: float(change.max()) for seed, change in changes.items()}
        rows.append(
            (
                f"{name[1]}, {100 * name[2]:.0f} % small, {name[0]}",
                mean_text({seed: float((change > 0).sum()) for seed, change in changes.items()}),
                mean_text(_later_by(changes)),
                mean_text({seed: float(change.mean()) for seed, change in large.items()}),
                mean_text(worst),
            )
        )
    heads = ("jobs", "later, of 20", "those by (%)", "large jobs, mean change (%)", "worst job (%)")
    return Table("What it costs: completion under DRESS against Capacity", heads, tuple(rows))


def _by_job(given: Mixes, runs: Results, kind: Kind, what: str, title: str) -> Drawing:
    """Each job of one seed."""
    name = (given.members[0], kind, given.known["jobs.small_share"])
    seed, jobs = given.seeds[0], given.workloads()[name]
    curves = [
        Curve(
            policy,
            list(range(1, jobs.count + 1)),
            np.nan_to_num(getattr(runs[name, policy, seed], f"{what}_s")).tolist(),
        )
        for policy in given.policies[:2]
    ]
    small = ", ".join(str(number + 1) for number in np.flatnonzero(jobs.small(seed)))
    return draw_curves(title, "job", f"{what} (s)", curves, f"One seed. Small jobs: {small}.")
