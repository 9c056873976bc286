"""Run number so-and-so of the storm: small and nasty, the same for ever."""

from __future__ import annotations

from dataclasses import replace

from golden import runs as golden
from golden.clusters import cluster
from golden.draws import Draws
from golden.runs import GoldenRun
from golden.workloads import workload
from heddle.model.cluster import Cluster, LabelShare
from heddle.model.errors import BadInput, RunRefused
from heddle.policy.parse import parse_policy
from heddle.run import check_executor

from .policies import NOT_IN_THE_REFERENCE, random_policy

FIRST = 1 << 32  # apart from the numbers of the golden runs
KINDS = (*golden.KINDS_A, *golden.KINDS_B, *golden.KINDS_KNOBS)
FEATURES = sorted({word for kind in KINDS for word in kind.split()})
TRIES = 50  # at a policy that can be run


def storm_run(number: int, *, knows_reference: bool) -> GoldenRun | None:
    """None: no policy that was drawn can be run on this cluster."""
    draws = Draws(FIRST + number)
    features = frozenset(word for word in FEATURES if draws.often(350))
    # By knobs the reference sees what nobody outside does (what a job will want, its number, inner tasks); what the two
    # have in common is compared by tests/golden and tests/property.
    knobs = not knows_reference and draws.often(250)
    machines = _nastier(draws, cluster(draws, features | ({"pool-leaves"} if knobs else frozenset())), features)
    jobs = workload(draws, features, machines)
    executor = "yarn-knobs" if knobs else "native"
    left_out = NOT_IN_THE_REFERENCE if knows_reference else frozenset()
    for _ in range(TRIES):
        policy = random_policy(draws, left_out)
        try:
            check_executor([parse_policy(policy)], jobs, machines, executor)
        except (BadInput, RunRefused):
            continue
        until = golden.KNOBS_UNTIL_MS if knobs else golden.UNTIL_MS
        return GoldenRun(number, features, policy, draws.between(0, 5), executor, until, jobs, machines)
    return None


def _nastier(draws: Draws, machines: Cluster, features: frozenset[str]) -> Cluster:
    """What came after the golden runs: nodes that are decommissioned, and queues' shares of labels."""
    nodes = tuple(
        replace(node, decommission_at_ms=draws.between(1, 60_000)) if draws.often(100) else node
        for node in machines.nodes
    )
    queues = machines.queues
    labels = sorted({node.label for node in nodes if node.label})
    if "labels" in features and labels and draws.often(500):
        queues = tuple(
            replace(queue, labels=(LabelShare(draws.pick(*labels), draws.pick(0, 300, 500), draws.pick(500, 1000)),))
            if draws.often(400) and queue.name != "root"
            else queue
            for queue in queues
        )
    return replace(machines, nodes=nodes, queues=queues)
