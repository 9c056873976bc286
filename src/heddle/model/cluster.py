"""The cluster: nodes, queues, how long things take, and what happens when a node is oversold."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from heddle.model.resources import BASE_RESOURCES

OomRule = Literal["paper", "newest", "largest", "all"]
CpuRule = Literal["proportional", "shares", "cap", "paper"]
Calculator = Literal["memory", "dominant"]
LeafOrder = Literal["", "fifo", "fair", "drf"]

OOM_RULES: tuple[OomRule, ...] = ("paper", "newest", "largest", "all")
CPU_RULES: tuple[CpuRule, ...] = ("proportional", "shares", "cap", "paper")
CALCULATORS: tuple[Calculator, ...] = ("memory", "dominant")
MOST_MBPS = 1_000_000  # of a link; also what the link of a node has that declares nothing
BYTES_PER_MS_OF_MBPS = 125
LEAF_ORDERS: tuple[LeafOrder, ...] = ("", "fifo", "fair", "drf")


@dataclass(frozen=True)
class Level:
    """A level of background load on a node, from an instant on."""

    from_at_ms: int
    use: tuple[int, ...]


@dataclass(frozen=True)
class Node:
    """A worker: its hardware, and what of it the framework may promise."""

    name: str
    capacity: tuple[int, ...]
    allowance: tuple[int, ...]
    rack: str = "rack-0"
    label: str = ""
    speed_permille: int = 1000
    background: tuple[Level, ...] = ()  # load that is not ours, by time; empty = none
    bandwidth_mbps: int = 0  # of its link, in each direction; 0 = not declared
    decommission_at_ms: int = -1  # from then on it takes nothing, and keeps what runs on it until that ends; -1 = never


@dataclass(frozen=True)
class LabelShare:
    """What a queue has of the nodes with a label, permille of its parent's, where queues are counted label by label."""

    label: str
    guarantee_permille: int = 0
    maximum_permille: int = 1000


@dataclass(frozen=True)
class Queue:
    """A queue of the tree. Shares are permille of the parent's; -1 means unlimited or not set.

    Amounts stand in place of shares and do not follow root; the children of one parent have one or the other.
    """

    name: str  # full name: "root", "root.prod"
    guarantee_permille: int = 1000
    maximum_permille: int = 1000
    weight_milli: int = 1000
    min_share: tuple[int, ...] = ()  # Fair's minimum share; () = none
    am_share_permille: int = -1  # of what the leaf could have now; -1 = what the admission lever says
    user_limit_percent: int = 100  # Capacity's minimum-user-limit-percent
    user_limit_factor_milli: int = 1000
    max_running_jobs: int = -1
    order: LeafOrder = ""  # inside a leaf; "" = the policy's own
    guarantee: tuple[int, ...] = ()  # an amount of each resource; () = guarantee_permille counts
    maximum: tuple[int, ...] = ()  # () = maximum_permille counts
    stopped: bool = False  # keeps its place in the tree, but takes no jobs: a workload that has some is refused
    labels: tuple[LabelShare, ...] = ()  # of nodes with these labels


@dataclass(frozen=True)
class Timing:
    """Intervals and delays in milliseconds. All 0 is the ideal scheduler."""

    node_heartbeat_ms: int = 0
    am_heartbeat_ms: int = 0
    usage_report_ms: int = 1000
    launch_ms: int = 0
    am_start_ms: int = 0
    retry_ms: int = 1000
    heartbeat_at_end: bool = False  # a node also heartbeats when a container on it ends, as YARN's nodes do


IDEAL = Timing()
YARN = Timing(node_heartbeat_ms=1000, am_heartbeat_ms=1000, usage_report_ms=1000, launch_ms=1000, am_start_ms=3000)


@dataclass(frozen=True)
class Physics:
    """What really happens on an oversold node, and when attempts run out."""

    oom: OomRule = "paper"
    cpu: CpuRule = "proportional"
    pmem_check: bool = False  # kill a task whose memory exceeds its own reservation
    max_attempts: int = 4
    am_max_attempts: int = 2
    livelock_crashes: int = 100


@dataclass(frozen=True)
class MapReduce:
    """How the MapReduce AM asks for reduces while maps still run."""

    ramp_up_limit_permille: int = 500  # of what the job may have, for reduces while maps wait
    preemption_limit_permille: int = 500  # of it, taken from reduces at once for maps that starve
    no_headroom_delay_ms: int = 0  # how long maps starve, with no room for one, before reduces give way
    unconditional_delay_ms: int = 300_000  # and whatever room there is


@dataclass(frozen=True)
class Preemption:
    """YARN's preemption between queues: off unless an interval is set."""

    every_ms: int = 0
    starved_ms: int = 15_000  # how long a queue must be below its due before others give way
    round_permille: int = 100  # of the cluster, at most, per round


@dataclass(frozen=True)
class Observation:
    """How well the use of nodes is known. All 0: each report is seen in the instant in which it is made.

    A policy outside a YARN sees everything so (stock_yarn/); with the bridge it also hears of new requests.
    """

    poll_ms: int = 0  # reports are looked at so often; 0 = as they come
    lag_ms: int = 0  # from making a report until it can be seen
    loss_permyriad: int = 0  # chance that a report never comes
    latency_ms: int = 30  # with the bridge: from a new request until the controller outside looks


@dataclass(frozen=True)
class Faults:
    """Failures drawn from the seed. 0 switches a kind off."""

    node_mtbf_s: int = 0  # mean time between losses of one node
    node_repair_s: int = 600  # mean time until it returns
    task_failure_permyriad: int = 0  # chance that an attempt fails, at a uniform point of its work
    slow_node_permille: int = 0  # share of nodes that are slow
    slow_speed_permille: int = 500  # their speed


@dataclass(frozen=True)
class Network:
    """What joins the nodes, beside their own links. 0 = not declared."""

    rack_uplink_mbps: int = 0  # of each rack, in each direction
    uplink_of_rack: tuple[tuple[str, int], ...] = ()  # (rack, mbps) where it differs
    traffic_permille: int = 0  # mean share of each link that traffic of others takes
    traffic_ms: int = 60_000  # how long that traffic stays the same

    def uplink_mbps(self, rack: str) -> int:
        return dict(self.uplink_of_rack).get(rack, self.rack_uplink_mbps)


@dataclass(frozen=True)
class Cluster:
    """Everything about the machines and the framework's configuration."""

    nodes: tuple[Node, ...]
    resources: tuple[str, ...] = BASE_RESOURCES
    exclusive: tuple[str, ...] = ()  # resources that are never oversold
    queues: tuple[Queue, ...] = (Queue("root"),)  # parents before children; root first
    increment: tuple[int, ...] = (1, 1)  # resized node totals are rounded down to multiples of this
    calculator: Calculator = "dominant"
    off_switch_per_heartbeat: int = 0  # containers given away in one node heartbeat; 0 = no limit
    timing: Timing = IDEAL
    physics: Physics = Physics()
    map_reduce: MapReduce = MapReduce()
    preemption: Preemption = Preemption()
    observation: Observation = Observation()
    faults: Faults = Faults()
    network: Network = Network()
    policy: str = ""  # what its scheduler does today; "" = not known. Comparisons take it as their baseline
    name: str = ""
    about: dict[str, Any] = field(default_factory=dict)

    @property
    def n_nodes(self) -> int:
        return len(self.nodes)

    @property
    def has_network(self) -> bool:
        """Whether moving data takes time: any bandwidth is declared."""
        uplinks = (self.network.uplink_mbps(node.rack) for node in self.nodes)
        return any(node.bandwidth_mbps for node in self.nodes) or any(uplinks)

    def total_allowance(self) -> tuple[int, ...]:
        return tuple(sum(node.allowance[r] for node in self.nodes) for r in range(len(self.resources)))
