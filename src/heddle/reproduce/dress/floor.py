"""Beyond the paper: a learnt floor of delta against DRESS as in the paper, on its jobs and on recorded ones."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from heddle.reproduce import verdicts
from heddle.reproduce.claims import Claim, Source, Table, mean_text
from heddle.reproduce.dress.compared import Mixes, by_member
from heddle.reproduce.dress.jobs import Kind, Twenty, paper_cluster
from heddle.reproduce.job_times import JobResults, job_runs
from heddle.reproduce.lab import Findings, Part, Work
from heddle.reproduce.recorded_jobs import RecordedJobs, imported
from heddle.reproduce.verdicts import Ensemble

SMALL_CONTAINERS = 10  # the paper: small is less than so many


@dataclass(frozen=True)
class Recorded(RecordedJobs):
    def small(self, seed: int) -> npt.NDArray[np.bool_]:
        """Which jobs have so few tasks, in order of submission."""
        jobs = self.jobs(seed)
        tasks = np.bincount(jobs.stages["job"], jobs.stages["n_tasks"], jobs.n_jobs) - 1  # its AM
        few: npt.NDArray[np.bool_] = tasks < SMALL_CONTAINERS
        return few


def floor(given: Mixes) -> Part:
    known, cluster = given.known, paper_cluster(given.known)
    size = (known["cluster.container_mb"], 1000 * known["cluster.container_vcores"])
    traces = {
        name: Recorded(
            path, known["recorded.jobs"], known["recorded.interval_ms"], known["recorded.most_tasks"],
            round(1000 * known["recorded.longest_s"]), size, size,
        )
        for name, path in imported(given.lab).items()
    }  # fmt: skip
    kinds: tuple[Kind, ...] = ("spark", "map-reduce")
    share = known["jobs.small_share"]
    own = {f"{kind}, {m}": given.workloads[m, kind, share] for kind in kinds for m in given.members_of(kind)}
    policies = [given.baseline, given.dress, given.policy("floor")]
    plan: dict[Hashable, Work] = {}
    workloads: dict[str, Twenty | Recorded] = {**own, **traces}
    for name, jobs in workloads.items():
        for policy in policies:
            plan.update(job_runs(name, jobs, cluster, policy, given.seeds))
    runs: Mapping[Any, JobResults] = yield plan

    def by_seed(name: str, before: str, after: str, what: str) -> dict[int, float]:
        """By how much sooner, in percent: small jobs, all jobs, or the whole run."""
        found = {}
        for seed in given.seeds:
            one, other = runs[name, before, seed], runs[name, after, seed]
            small = workloads[name].small(seed)
            if not one.finished or not other.finished or not small.any():
                continue
            if what == "small":
                found[seed] = 100 * (1 - float((other.completion_s / one.completion_s)[small].mean()))
            elif what == "all":
                found[seed] = 100 * (1 - float(other.completion_s.mean() / one.completion_s.mean()))
            else:
                found[seed] = 100 * (1 - other.makespan_s / one.makespan_s)
        return found

    def against_dress(names: Mapping[str, Any], what: str) -> Ensemble:
        return {name: by_seed(name, given.dress, given.policy("floor"), what) for name in names}

    claims = [
        _sooner("floor.1", "the paper's jobs", against_dress(own, "small")),
        _makespan(against_dress(own, "span")),
    ]
    for number, name in enumerate(traces, 3):
        claims.append(_sooner(f"floor.{number}", f"jobs of {name}", against_dress({name: None}, "small")))
    rows = []
    for name in (*own, *traces):
        for policy in policies[1:]:
            cells = (mean_text(by_seed(name, given.baseline, policy, what)) for what in ("small", "all", "span"))
            rows.append((name, policy, *cells))
    return Findings(
        claims=claims,
        tables=[
            Table(
                "Beyond the paper: a floor of the share that is learnt",
                ("jobs", "policy", "small jobs sooner (%)", "all jobs sooner (%)", "makespan shorter (%)"),
                tuple(rows),
                "Against Capacity. Jobs of recorded traces: their numbers of tasks and durations, one every "
                f"{known['recorded.interval_ms'] / 1000:g} s; small: fewer than {SMALL_CONTAINERS} tasks.",
            )
        ],
        remarks=[] if traces else ["The recorded traces are not here (--traces): their claims were left out."],
    )


def _sooner(id_: str, which: str, lead: Ensemble) -> Claim:
    return Claim(
        id_, f"With a learnt floor small jobs finish sooner than under DRESS ({which})", "not in the paper", "% sooner",
        verdicts.order({which: lead}), by_member(lead), Source.OURS,
    )  # fmt: skip


def _makespan(lead: Ensemble) -> Claim:
    later = {name: {seed: -value for seed, value in seeds.items()} for name, seeds in lead.items()}
    return Claim(
        "floor.2", "With a learnt floor the makespan stays as under DRESS (the paper's jobs)", "not in the paper",
        "% change", verdicts.sameness(later), by_member(later), Source.OURS,
    )  # fmt: skip
