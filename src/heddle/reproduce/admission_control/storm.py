"""A storm of bursts on clusters of all kinds: how often does each rule stall?"""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial

import numpy as np

from heddle.model.cluster import Cluster
from heddle.model.resources import MILLI
from heddle.model.workload import Workload
from heddle.reproduce import verdicts
from heddle.reproduce.admission_control.settings import Rounds
from heddle.reproduce.claims import Claim, Source
from heddle.reproduce.constants import Constants
from heddle.reproduce.lab import Findings, Part, Work
from heddle.reproduce.yarn_cluster import yarn_cluster
from heddle.run import simulate
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build

RULES = ("placeable", "literal")


def burst(known: Constants, seed: int) -> tuple[Workload, Cluster]:
    """One cluster and the jobs that come all at once."""
    random = np.random.default_rng([3, seed])

    def between(name: str) -> int:
        low, high = known[f"storm.{name}"]
        return int(random.integers(low, high + 1))

    memory = known["round.memory_mb"]
    vcores = between("node_vcores") * MILLI
    n_nodes = between("nodes")
    largest = vcores // MILLI
    low, high = known["storm.duration_s"]
    jobs = []
    for number in range(between("jobs")):
        am, task = (min(largest, between("container_vcores")) for _ in range(2))
        if am + task > largest and n_nodes == 1:
            am, task = 1, max(1, min(task, largest - 1))  # alone on the cluster it must be able to run
        maps = between("maps")
        seconds = random.uniform(low, high, maps + 1)
        demand = (memory, task * MILLI)
        stages = (
            StageSpec("maps", demand, [TaskSpec(round(1000 * s)) for s in seconds[:-1]]),
            StageSpec(
                "reduces", demand, [TaskSpec(round(1000 * seconds[-1]))], after=("maps",),
                slow_start_permille=known["round.slow_start_permille"],
            ),
        )  # fmt: skip
        jobs.append(JobSpec(f"job-{number}", 0, stages, am=(memory, am * MILLI)))
    # Memory to spare: vcores are what AMs and tasks compete for.
    return build("burst", jobs), yarn_cluster(known, n_nodes, 64 * memory, vcores)


def stalls(known: Constants, policy: str, first: int, count: int) -> list[int]:
    """The seeds on which the policy stalls."""
    found = []
    for seed in range(first, first + count):
        jobs, cluster = burst(known, seed)
        if simulate(jobs, cluster, policy, seed=seed).manifest["outcome"] != "finished":
            found.append(seed)
    return found


def storm(rounds: Rounds) -> Part:
    known = rounds.known
    bursts = rounds.lab.size(known["storm.bursts"], known["storm.bursts_quick"])
    batch = known["storm.batch"]
    limit_pct = rounds.lab.size(known["storm.limit_pct"], known["storm.limit_quick_pct"])
    policies = {rule: f"{known['policy.ordering']}+admission-control(rule={rule})" for rule in RULES}
    policies["no cap"] = f"{known['policy.ordering']}+admit-all"
    plan: dict[Hashable, Work] = {
        (rule, first): partial(stalls, known, policy, first, batch)
        for rule, policy in policies.items()
        for first in range(0, bursts, batch)
    }
    found = yield plan
    by_rule = {
        rule: {first: 100.0 * len(found[rule, first]) / batch for first in range(0, bursts, batch)} for rule in policies
    }
    total = {rule: sum(len(found[rule, first]) for first in range(0, bursts, batch)) for rule in policies}
    example = next((seeds[0] for (rule, _), seeds in found.items() if rule == "literal" and seeds), None)
    return Findings(
        claims=[
            Claim(
                "storm.1", f"A storm of {bursts:,} bursts: no stall with rule=placeable", "not in the paper",
                "% of bursts", verdicts.limit(by_rule["placeable"], limit_pct, 100.0 / batch),
                f"{total['placeable']} of {bursts:,} stalled; without a cap {total['no cap']:,}. Limit {limit_pct} %.",
                Source.OURS,
            ),
            Claim(
                "storm.2", "The literal rule, which does not ask whether a task fits on any one node, stalls",
                "not in the paper", "% of bursts",
                verdicts.order({"stalls": {"": by_rule["literal"]}}),
                f"{total['literal']:,} of {bursts:,} stalled{'' if example is None else f', seed {example} for one'}.",
                Source.OURS,
            ),
        ]
    )  # fmt: skip
