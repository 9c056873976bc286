"""Run number so-and-so of the storm: small and nasty, the same for ever."""

from __future__ import annotations

from dataclasses import replace

from golden import runs as golden
from golden.clusters import cluster
from golden.draws import Draws
from golden.runs import GoldenRun
from golden.workloads import workload
from heddle.model.cluster import Cluster, LabelShare, Queue
from heddle.model.errors import BadInput, RunRefused
from heddle.policy.parse import parse_policy
from heddle.run import check_executor

from .policies import any_policy, policy_of_the_reference, with_network_aware

FIRST = 1 << 32  # apart from the numbers of the golden runs
# From this number on half of the runs that the reference must do alike, inside the scheduler, have network-aware; the
# numbers before it, run when the reference did not know that lever, stay what they were.
NETWORK_AWARE_FROM = 17_600
KINDS = (*golden.KINDS_A, *golden.KINDS_B, *golden.KINDS_KNOBS)
FEATURES = sorted({word for kind in KINDS for word in kind.split()})
EXECUTORS = ("native",) * 6 + ("yarn-knobs", "bridge")
# Outside YARN a job has the number of its arrival, and who looks first does not know what ran before.
NOT_SEEN_ALIKE = frozenset({"jobs-after-jobs", "begun", "executors"})
TRIES = 50  # at a policy that can be run


def storm_run(number: int, *, knows_reference: bool) -> GoldenRun | None:
    """None: no policy that was drawn can be run on this cluster."""
    draws = Draws(FIRST + number)
    features = frozenset(word for word in FEATURES if draws.often(350))
    executor = draws.pick(*EXECUTORS)
    outside = executor != "native"
    if outside:  # which knows memory and vcores only, and sets the shares of pools
        features = features - {"gpu"} | {"pool-leaves"}
    if outside and knows_reference:
        features -= NOT_SEEN_ALIKE
    machines = cluster(draws, features)
    # With the bridge, a node that is first seen while it leaves seems small.
    leaving = executor != "bridge" or not knows_reference
    machines = _nastier(draws, machines, features, leaving=leaving)
    jobs = workload(draws, features, machines)
    for _ in range(TRIES):
        policy = policy_of_the_reference(draws, executor) if knows_reference else any_policy(draws)
        if knows_reference and not outside and number >= NETWORK_AWARE_FROM and draws.often(500):
            policy = with_network_aware(draws, policy)
        try:
            check_executor([parse_policy(policy)], jobs, machines, executor)
        except (BadInput, RunRefused):
            continue
        until = golden.KNOBS_UNTIL_MS if outside else golden.UNTIL_MS
        return GoldenRun(number, features, policy, draws.between(0, 5), executor, until, jobs, machines)
    return None


def _nastier(draws: Draws, machines: Cluster, features: frozenset[str], *, leaving: bool) -> Cluster:
    """What came after the golden runs: nodes that are decommissioned, queues' shares of labels, amounts in place of
    shares, how many reduces give way at once, and how soon a bridge tells of a request."""
    nodes = tuple(
        replace(node, decommission_at_ms=draws.between(1, 60_000)) if leaving and draws.often(100) else node
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
    if "pool-leaves" not in features and draws.often(200):
        queues = tuple(_with_amounts(draws, queue, len(machines.resources)) for queue in queues)
    return replace(
        machines,
        nodes=nodes,
        queues=queues,
        map_reduce=replace(machines.map_reduce, preemption_limit_permille=draws.pick(0, 500, 1000)),
        observation=replace(machines.observation, latency_ms=draws.pick(1, 30, 400)),
    )


def _with_amounts(draws: Draws, queue: Queue, n_resources: int) -> Queue:
    """The children of root all have amounts, those below them shares."""
    if queue.name.count(".") != 1:
        return queue
    amount = (draws.pick(0, 700, 1024, 4096), draws.pick(0, 1000, 2500), 1)[:n_resources]
    most = (draws.pick(1500, 4096, 9000), draws.pick(2500, 9000), 2)[:n_resources]
    return replace(queue, guarantee=amount, maximum=most if draws.often(300) else ())
