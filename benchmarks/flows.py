"""The network: shuffles of 100 flows each, between 200 hosts in racks of 20, one after another until it is enough."""

from dataclasses import dataclass

import numpy as np

from benchmarks.heddle_run import SEED

HOSTS, HOSTS_PER_RACK, MBPS = 200, 20, 1000
WIDTH = 10  # tasks that write, tasks that read
GAP_MS = 100  # between two jobs: the links are busy but not blocked
MB = 1_000_000


@dataclass(frozen=True)
class Flows:
    count: int
    cpu_s: float
    most: int  # room for flows at once that the engine came to need


def measure_flows(wanted: int) -> Flows:
    """CPU time of a run with at least so many flows, simulation phase alone."""
    from heddle.model.cluster import Cluster, Network, Node
    from heddle.policy.parse import parse_policy
    from heddle.sim.run import run_engine
    from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build

    random = np.random.default_rng(SEED)
    size = (65_536, 8000)
    nodes = tuple(
        Node(f"node-{n}", size, size, f"rack-{n // HOSTS_PER_RACK}", bandwidth_mbps=MBPS) for n in range(HOSTS)
    )
    cluster = Cluster(nodes, network=Network(rack_uplink_mbps=HOSTS_PER_RACK * MBPS // 2))

    def tasks() -> list[TaskSpec]:
        return [TaskSpec(int(duration)) for duration in random.integers(1000, 20_000, WIDTH)]

    jobs = []
    for number in range(-(-wanted // WIDTH**2)):
        carried = WIDTH**2 * int(random.integers(1, 10)) * MB
        writers = StageSpec("write", (1024, 1000), tasks())
        readers = StageSpec("read", (1024, 1000), tasks(), after=("write",), after_bytes=(carried,))
        jobs.append(JobSpec(f"job-{number}", number * GAP_MS, [writers, readers]))
    ended = run_engine(build("flows", jobs), cluster, parse_policy("fifo+random-node"), SEED, False)
    return Flows(len(jobs) * WIDTH**2, ended.simulate_cpu_s, len(ended.sim.flow))
