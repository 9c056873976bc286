"""What limits the gain of small jobs: Alg. 3 gives their share away whenever none of them waits.

Lines 7 and 8 of the text hand everything that small jobs do not ask for now to large ones. The share that DRESS starts
with is gone after the first round in which large jobs want more; the next small job finds nothing kept for it. A share
that never moves shows what keeping it would give.
"""

from __future__ import annotations

from collections.abc import Hashable

from heddle.reproduce.claims import Table, mean_text
from heddle.reproduce.dress.jobs import Kind, paper_cluster
from heddle.reproduce.dress.mixes import Mixes, all_jobs, small_jobs, sooner
from heddle.reproduce.job_times import job_runs
from heddle.reproduce.lab import Findings, Part, Work


def shares(given: Mixes) -> Part:
    cluster, small = paper_cluster(given.known), given.known["jobs.small_share"]
    admission = given.policies[1].partition("+")[2]  # the same as DRESS has
    policies = [f"{policy}+{admission}" for policy in given.known["why.policies"]]
    kinds: tuple[Kind, ...] = ("spark", "map-reduce")
    names = [(member, kind, small) for member in given.members for kind in kinds]
    plan: dict[Hashable, Work] = {}
    for name in names:
        for policy in (given.policies[0], *policies):
            plan.update(job_runs(name, given.workloads()[name], cluster, policy, given.seeds))
    runs = yield plan
    rows = []
    for member, kind, _ in names:
        for policy in policies:
            gain = sooner(given, runs, (kind, small), policy, small_jobs)[member]
            makespan = sooner(given, runs, (kind, small), policy, all_jobs(lambda run: run.makespan_s))[member]
            later = {seed: -value for seed, value in makespan.items()}
            rows.append((f"{kind}, {member}", policy.removesuffix(f"+{admission}"), mean_text(gain), mean_text(later)))
    return Findings(
        tables=[
            Table(
                "Why: the share of small jobs as DRESS moves it, and shares that never move",
                ("jobs", "policy", "small jobs sooner (%)", "makespan (% change)"),
                tuple(rows),
                "Against Capacity. Alg. 3 hands what small jobs do not ask for now to large ones (lines 7, 8): the "
                "share that it starts with does not matter, and a small job that comes later finds nothing kept for "
                "it. With `small-pool` the share stays, whoever waits.",
            )
        ]
    )
