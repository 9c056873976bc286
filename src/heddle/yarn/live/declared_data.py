"""What a workload and a network declare of data, for a host that meets applications and nodes one by one.

No ResourceManager knows how much an application reads from where. An operator who does says it beforehand: by a
workload whose jobs have the applications' names and whose hosts have the nodes', and by a cluster whose nodes have
their links' rates. An application that no job is called like is one of which nothing is known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from heddle.model.cluster import Cluster
from heddle.model.errors import BadInput
from heddle.model.workload import AM, TASKS, Workload
from heddle.yarn.live.kinds import replay_priorities
from heddle.yarn.live.live_memory import NOTHING
from heddle.yarn.live.things_seen import AppSeen, NodeSeen

REPLAYED: Final = "HEDDLE"  # the type of applications that heddle submits itself
_MAPREDUCE: Final = "MAPREDUCE"
_MAPS, _REDUCES = 20, 10  # Hadoop's RMContainerAllocator

Stages = tuple[int, ...]  # of one job, by their numbers in the workload


@dataclass(frozen=True)
class DeclaredData:
    """A workload, and how its jobs, stages and hosts are recognised."""

    workload: Workload
    job_of: Callable[[AppSeen], int]  # NOTHING: it is none of these
    priorities_of: Callable[[AppSeen, Stages], tuple[int, ...] | None]  # at which it asks for them; None: not known
    host_of: Callable[[NodeSeen], str]  # as the workload calls it
    link_mbps_of: Callable[[NodeSeen], int]  # 0: not declared
    uplink_mbps_of: Callable[[str], int]  # of a rack; 0: no limit
    pair_mbps_of: Callable[[NodeSeen, NodeSeen], int] | None = None  # 0: as their links; None: all are
    one_at_a_time: bool = True  # nodes are offered so, by their heartbeats
    _stages: dict[int, Stages] = field(default_factory=dict, compare=False, repr=False)

    def stages_of(self, job: int) -> Stages:
        """Those whose tasks are containers, as the scheduler sees them; none if it sees others."""
        if job not in self._stages:
            first, n_stages = (int(self.workload.jobs[name][job]) for name in ("first_stage", "n_stages"))
            kinds = self.workload.stages["kind"][first : first + n_stages].tolist()
            seen = set(kinds) <= {AM, TASKS}
            self._stages[job] = tuple(first + i for i, kind in enumerate(kinds) if seen and kind == TASKS)
        return self._stages[job]


def declared_by_name(workload: Workload, network: Cluster | None) -> DeclaredData:
    """As on a real cluster: jobs are called as applications, hosts and nodes of the network as YARN calls its nodes.

    BadInput where two jobs have one name. `network`: None: nothing is declared of links.
    """
    names = [workload.job_name(job) for job in range(workload.n_jobs)]
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise BadInput.of("--declared", f"{workload.name} has more than one job called {twice[0]!r}")
    number_of = {name: job for job, name in enumerate(names)}
    links = {node.name: node.bandwidth_mbps for node in network.nodes} if network else {}
    known = {*workload.hosts, *links}

    def host_of(node: NodeSeen) -> str:
        names = node.host, node.id.rpartition(":")[0], node.host.partition(".")[0]
        return next((name for name in names if name in known), node.host)

    return DeclaredData(
        workload,
        job_of=lambda app: number_of.get(app.name, NOTHING),
        priorities_of=lambda app, stages: _priorities(workload, app.type, stages),
        host_of=host_of,
        link_mbps_of=lambda node: links.get(host_of(node), 0),
        uplink_mbps_of=lambda rack: network.network.uplink_mbps(rack.lstrip("/")) if network else 0,
    )


def _priorities(workload: Workload, type_of_app: str, stages: Stages) -> tuple[int, ...] | None:
    if type_of_app == REPLAYED:
        return replay_priorities([bool(workload.stages["slow_start_permille"][stage] >= 0) for stage in stages])
    if type_of_app == _MAPREDUCE and [int(workload.stages["n_after"][stage]) for stage in stages] in ([0], [0, 1]):
        return (_MAPS, _REDUCES)[: len(stages)]
    return None


def unknown_hosts(data: DeclaredData, nodes: Mapping[str, NodeSeen]) -> list[str]:
    """Hosts that hold declared input, and that no node is called like."""
    there = {data.host_of(node) for node in nodes.values()}
    numbers = set() if data.workload.prefers is None else set(data.workload.prefers.tolist())
    return sorted({data.workload.hosts[number] for number in numbers if number >= 0} - there)
