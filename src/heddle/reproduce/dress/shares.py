"""What limits the gain of small jobs: the share that DRESS starts with, or that it moves?

Lines 7 and 8 of Alg. 3 hand everything that small jobs do not ask for now to large ones. If the share that DRESS starts
with does not matter, it is moved away before it can serve; a share that never moves shows what keeping it would give.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Final

from heddle.reproduce.claims import Table, interval_text, mean_text
from heddle.reproduce.dress.compared import Mixes, all_jobs, small_jobs, sooner
from heddle.reproduce.dress.jobs import Kind, paper_cluster
from heddle.reproduce.job_times import job_runs
from heddle.reproduce.lab import Findings, Part, Work
from heddle.reproduce.verdicts import Ensemble, Verdict, over_seeds, sameness

MOVED: Final = "dress"  # how policies begin that move the share
KEPT: Final = "small-pool("  # and those that keep it


def shares(given: Mixes) -> Part:
    cluster, small = paper_cluster(given.known), given.known["jobs.small_share"]
    admission = given.dress.partition("+")[2]  # the same as DRESS has
    policies = [f"{policy}+{admission}" for policy in given.known["why.policies"]]
    kinds: tuple[Kind, ...] = ("spark", "map-reduce")
    names = [(member, kind, small) for kind in kinds for member in given.members_of(kind)]
    plan: dict[Hashable, Work] = {}
    for name in names:
        for policy in (given.baseline, *policies):
            plan.update(job_runs(name, given.workloads[name], cluster, policy, given.seeds))
    runs = yield plan
    rows = []
    gains: dict[str, dict[str, dict[int, float]]] = {policy: {} for policy in policies}
    for member, kind, _ in names:
        for policy in policies:
            gain = dict(sooner(given, runs, (kind, small), policy, small_jobs)[member])
            gains[policy][f"{kind}, {member}"] = gain
            makespan = sooner(given, runs, (kind, small), policy, all_jobs(lambda run: run.makespan_s))[member]
            later = {seed: -value for seed, value in makespan.items()}
            rows.append((f"{kind}, {member}", policy.removesuffix(f"+{admission}"), mean_text(gain), mean_text(later)))
    return Findings(
        tables=[
            Table(
                "Why: the share of small jobs as DRESS moves it, and shares that never move",
                ("jobs", "policy", "small jobs sooner (%)", "makespan (% change)"),
                tuple(rows),
                f"Against Capacity. Under `small-pool` the share never moves. {what_shares_say(gains)}",
            )
        ]
    )


def what_shares_say(gains: Mapping[str, Ensemble]) -> str:
    """Whether the share that DRESS starts with matters, and whether one that stays gives small jobs more."""
    moved = [policy for policy in gains if policy.startswith(MOVED)]
    kept = [policy for policy in gains if policy.startswith(KEPT)]
    by_start = _minus(gains[moved[-1]], gains[moved[0]])
    mean, interval = over_seeds(by_start)
    matters = "does not matter" if sameness(by_start).verdict is Verdict.REPRODUCED else "matters"
    start = f"The share that DRESS starts with {matters}: small jobs gain {mean or 0:+.1f} points"
    said = [f"{start}{interval_text(interval)} by the largest against the smallest."]
    over = {policy: over_seeds(_minus(gains[policy], gains[moved[0]])) for policy in kept}
    more = [policy for policy, (_, span) in over.items() if span is not None and span[0] > 0]
    points = ", ".join(f"{(value or 0):+.1f}" for value, _ in over.values())
    said.append(f"Shares that stay give them more in {len(more)} of {len(kept)} cases ({points} points).")
    return " ".join(said)


def _minus(values: Ensemble, others: Ensemble) -> dict[str, dict[int, float]]:
    return {
        name: {seed: value - others[name][seed] for seed, value in seeds.items() if seed in others[name]}
        for name, seeds in values.items()
    }
