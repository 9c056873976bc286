"""Small jobs against Capacity on Spark, on MapReduce and in mixes; and DRESS taken apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable

import numpy as np

from heddle.reproduce import verdicts
from heddle.reproduce.claims import Claim, Drawing, Table, interval_text, mean_text
from heddle.reproduce.drawing import Curve, draw_curves
from heddle.reproduce.dress.by_part import about_all_jobs, by_part
from heddle.reproduce.dress.compared import (
    Mixes,
    Results,
    all_jobs,
    by_member,
    small_jobs,
    small_waits,
    sooner,
    unless_stalled,
)
from heddle.reproduce.dress.costs import losers
from heddle.reproduce.dress.jobs import Kind, paper_cluster
from heddle.reproduce.job_times import job_runs
from heddle.reproduce.lab import Findings, Part, Work


def mixes(given: Mixes) -> Part:
    cluster = paper_cluster(given.known)
    plan: dict[Hashable, Work] = {}
    for name, jobs in given.workloads.items():
        for policy in given.policies_on(name[1]):
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
    claims += [*_waits(given, runs), *about_all_jobs(given, runs, given.dress)]
    return Findings(
        claims=claims,
        drawings=[
            _by_job(given, runs, "spark", "wait", "Fig. 6: wait of 20 Spark jobs"),
            _by_job(given, runs, "spark", "completion", "Fig. 7: completion of 20 Spark jobs"),
            _by_job(given, runs, "map-reduce", "wait", "Fig. 8: wait of 20 MapReduce jobs"),
            _by_job(given, runs, "map-reduce", "completion", "Fig. 9: completion of 20 MapReduce jobs"),
        ],
        tables=[_ablation(given, runs), losers(given, runs), by_part(given, runs)],
        remarks=_stalled(runs),
    )


def _small_sooner(given: Mixes, runs: Results, where: tuple[Kind, float], paper: float, id_: str) -> Claim:
    values = sooner(given, runs, where, given.dress, small_jobs)
    kind, share = where
    name = {"spark": "Spark", "map-reduce": "MapReduce"}.get(kind, f"a mix with {100 * share:.0f} % small jobs")
    return Claim(
        id_,
        f"Small jobs finish sooner than under Capacity ({name})",
        f"{paper:g} % sooner",
        "%",
        unless_stalled(given, runs, where, given.dress, verdicts.effect(values, paper)),
        f"Mean over small jobs of each one's change. {by_member(values)} The paper's number is one run of 20 jobs. "
        f"With Alg. 3 as printed {_by_printed(given, runs, where, paper)}.",
    )


def _by_printed(given: Mixes, runs: Results, where: tuple[Kind, float], paper: float) -> str:
    """What the same claim comes to with the slips of the text."""
    judged = verdicts.effect(sooner(given, runs, where, given.policy("printed"), small_jobs), paper)
    return f"{judged.measured or 0:.1f} %{interval_text(judged.ci95)}: {judged.verdict}"


def _waits(given: Mixes, runs: Results) -> list[Claim]:
    """Figs 6 and 8: that the waits of small jobs become shorter is said, by how much on average is not."""
    claims = []
    figures: tuple[tuple[str, Kind, str], ...] = (("Fig.6", "spark", "Spark"), ("Fig.8", "map-reduce", "MapReduce"))
    for id_, kind, name in figures:
        where = (kind, given.known["jobs.small_share"])
        values = sooner(given, runs, where, given.dress, small_waits)
        claims.append(
            Claim(
                id_,
                f"Small jobs wait less than under Capacity ({name})",
                "significantly reduced",
                "% shorter",
                unless_stalled(given, runs, where, given.dress, verdicts.order({name: values})),
                f"Sum over small jobs. {by_member(values)}",
            )
        )
    return claims


def _stalled(runs: Results) -> list[str]:
    """Seeds on which a policy did not come to an end are left out of its comparisons: then that must be said."""
    found = Counter(policy for (_, policy, _), run in runs.items() if not run.finished)
    return [f"{policy} stalled in {count} runs, which are left out." for policy, count in found.items()]


def _ablation(given: Mixes, runs: Results) -> Table:
    rows = []
    for member, kind, share in given.workloads:
        for policy in given.policies_on(kind)[1:]:
            small, mean, makespan = (
                sooner(given, runs, (kind, share), policy, by)[member]
                for by in (
                    small_jobs,
                    all_jobs(lambda run: float(np.mean(run.completion_s))),
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
    caption = (
        "Each against Capacity: DRESS; as printed; by what was asked for so far, which is what a live ResourceManager "
        "knows; with whole jobs only; its pools with Capacity's order; its order without pools."
    )
    return Table("DRESS taken apart", heads, tuple(rows), caption)


def _by_job(given: Mixes, runs: Results, kind: Kind, what: str, title: str) -> Drawing:
    """Each job of one seed."""
    name = (given.members_of(kind)[0], kind, given.known["jobs.small_share"])
    seed, jobs = given.seeds[0], given.workloads[name]
    curves = [
        Curve(
            policy,
            list(range(1, jobs.count + 1)),
            np.nan_to_num(getattr(runs[name, policy, seed], f"{what}_s")).tolist(),
        )
        for policy in (given.baseline, given.dress)
    ]
    small = ", ".join(str(number + 1) for number in np.flatnonzero(jobs.small(seed)))
    return draw_curves(title, "job", f"{what} (s)", curves, f"One seed. Small jobs: {small}.")
