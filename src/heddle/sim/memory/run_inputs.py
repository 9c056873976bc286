"""What a run is given, and what follows from it before any memory is allocated: what declarations compute from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from heddle.model.cluster import Cluster, Observation
from heddle.model.draw import STREAM_NODE_HEARTBEAT, STREAM_USAGE_REPORT
from heddle.model.view import EVENT_REPORTED
from heddle.model.workload import AM, EXECUTORS, Workload
from heddle.policy.lever import Admission, Ordering, Partition, Placement, Question, Queues, Sizing
from heddle.policy.policy import Policy
from heddle.policy.reserving import RESERVING
from heddle.sim.memory.facts import Facts
from heddle.sim.memory.given import nodes
from heddle.sim.memory.given.csr import Csr, followers
from heddle.sim.memory.given.early import EarlyStages
from heddle.sim.memory.given.lanes import Lanes
from heddle.sim.memory.given.links import Links
from heddle.sim.memory.given.members import Members
from heddle.sim.memory.given.nodes import Background
from heddle.sim.memory.given.places import Preferred
from heddle.sim.memory.given.running import Running
from heddle.sim.memory.given.trees import Trees
from heddle.sim.memory.queue_tree import QueueTree
from heddle.sim.memory.window import Numbers, Window


@dataclass(frozen=True)
class RunInputs:
    workload: Workload
    cluster: Cluster
    policy: Policy
    seed: int
    logging: bool
    moves_to: tuple[str, ...] = ()  # leaves to which jobs may be moved while they run
    window: Window | None = None  # where jobs come in blocks: `workload` is what of them is in memory

    @property
    def n_resources(self) -> int:
        return len(self.workload.resources)

    @cached_property
    def facts(self) -> Facts:
        """Of the whole workload."""
        return Facts.of(self.workload) if self.window is None else self.window.facts

    @cached_property
    def numbers(self) -> Numbers:
        """Which jobs, stages and tasks those in memory are."""
        return Numbers.from_0(len(self.workload.jobs)) if self.window is None else self.window.numbers

    # Levers, and what they want to know.

    @property
    def walk(self) -> Queues:
        """How the queue tree is walked."""
        return self.policy.queues

    @cached_property
    def admission(self) -> Admission:
        return self.policy.admission

    @cached_property
    def sizing(self) -> Sizing:
        return self.policy.sizing

    @cached_property
    def partition(self) -> Partition:
        return self.policy.partition

    @cached_property
    def ordering(self) -> Ordering:
        return self.policy.ordering

    @cached_property
    def placement(self) -> Placement:
        return self.policy.placement

    @cached_property
    def listens(self) -> Mapping[Question, int]:
        """The events that each lever listens to, as bits."""
        levers = self.policy.by_question
        return {question: sum(1 << event for event in lever.listens) for question, lever in levers.items()}

    @property
    def has_gate(self) -> bool:
        return "admits" in self.admission.hooks

    @cached_property
    def sizing_changes(self) -> bool:
        """Totals are never below what is allocated: they change where a node begins with more than its allowance."""
        return self.sizing.depends_on != "nothing" or bool((self.running.held > self.node_allowances).any())

    @property
    def foresees(self) -> bool:
        """Whether sizing is told the future of what nodes hold."""
        return "future_peak" in self.sizing.truth

    def every_ms(self, question: Question) -> int:
        """How often the lever hears that time has passed."""
        return max(1, self.policy.by_question[question].every_ms)

    @property
    def keeps_containers(self) -> bool:
        """Whether some lever remembers something of containers."""
        return any(lever.state.container for lever in self.policy.levers)

    @property
    def veto_ms(self) -> int:
        waits = self.placement.waits
        return round(1000 * float(self.placement.parameter(waits))) if waits else 0

    @property
    def score_by_node(self) -> bool:
        no_data = not self.facts.has_dag and self.workload.prefers is None
        return self.placement.score_by == "node" or (self.placement.is_by_data and no_data)

    @property
    def preempts(self) -> bool:
        return self.cluster.preemption.every_ms > 0 and self.walk.by_queue and self.walk.dues != "none"

    @property
    def reserves(self) -> int:
        """How nodes are kept for requests that do not fit: a place in RESERVING."""
        return RESERVING.index(self.walk.reserving) if self.has_heartbeats else 0

    @property
    def reservable_permille(self) -> int:
        part = self.walk.reservable
        return round(1000 * float(self.walk.parameter(part))) if part else 0

    @property
    def heads_differ(self) -> bool:
        return self.has_gate or "allows" in self.walk.hooks or "allows" in self.placement.hooks

    @property
    def lone_goes_at_once(self) -> bool:
        """Whether a request that comes while nothing waits goes as soon as there is room, whoever asks."""
        takes_turns = self.has_heartbeats or "fit" in self.ordering.hooks or self.walk.by_queue
        return not (takes_turns or self.heads_differ or "pool" in self.partition.hooks)

    @property
    def shares_out(self) -> bool:
        moves = self.sizing_changes or self.cluster.faults.node_mtbf_s > 0
        asked = self.walk.by_queue or self.has_gate or "pool" in self.partition.hooks or self.early.there
        return self.decommissions or (moves and asked)

    @cached_property
    def decommissions(self) -> bool:
        return any(node.decommission_at_ms >= 0 for node in self.cluster.nodes)

    @cached_property
    def by_label(self) -> bool:
        """Whether the nodes of each label have a tree of queues of their own, and there are any labels."""
        labelled = len(self.workload.labels) > 1 or any(node.label for node in self.cluster.nodes)
        return self.walk.by_label and labelled

    # Queues and requests.

    @cached_property
    def queues(self) -> QueueTree:
        """As the cluster has them: the tree of requests without a label."""
        return QueueTree.of(self.cluster, self.workload)

    @cached_property
    def trees(self) -> Trees:
        return Trees.of(self.workload, self.cluster, self.queues, self.by_label)

    @cached_property
    def members(self) -> Members:
        """In the tree of requests without a label; there are as many in each other one."""
        return Members.of(self.workload, self.facts, self.queues, self.moves_to)

    @property
    def by_stage(self) -> bool:
        """Whether requests are kept apart stage by stage."""
        return self.placement.trait(self.placement.by_stage) or self.ordering.trait(self.ordering.blocks_in_job)

    @cached_property
    def lanes(self) -> Lanes:
        n_pools = self.partition.n_pools
        return Lanes.of(
            self.workload, self.facts, self.members, self.trees, self.walk, self.by_stage, n_pools, self.has_gate
        )

    @property
    def leaf_of_stage(self) -> npt.NDArray[np.int64]:
        leaf: npt.NDArray[np.int64] = self.members.leaf_of_job[0][self.workload.stages["job"]]
        return leaf + self.trees.first_queue_of_stage

    @property
    def member_of_stage(self) -> npt.NDArray[np.int64]:
        member: npt.NDArray[np.int64] = self.members.of_job[0][self.workload.stages["job"]]
        return member + self.trees.of_stage * len(self.members.queue)

    # The workload.

    @cached_property
    def running(self) -> Running:
        return Running.of(self.workload, self.cluster)

    @cached_property
    def preferred(self) -> Preferred:
        return Preferred.of(self.workload, self.cluster)

    @cached_property
    def early(self) -> EarlyStages:
        return EarlyStages(self.workload, self.facts.has_early)

    @cached_property
    def later_stages(self) -> Csr:
        return followers(self.workload.stages, self.workload.stage_after)

    @cached_property
    def later_jobs(self) -> Csr:
        return followers(self.workload.jobs, self.workload.job_after)

    @property
    def stages_with_work(self) -> npt.NDArray[np.int64]:
        """Of each job: neither its AM nor its executors."""
        stages = self.workload.stages
        counted = ~np.isin(stages["kind"], (AM, EXECUTORS))
        return np.bincount(stages["job"][counted], minlength=len(self.workload.jobs))

    # Nodes and links.

    @cached_property
    def total_allowance(self) -> npt.NDArray[np.int64]:
        return np.array(self.cluster.total_allowance(), np.int64)

    @cached_property
    def node_allowances(self) -> npt.NDArray[np.int64]:
        return np.array([node.allowance for node in self.cluster.nodes], np.int64)

    @cached_property
    def exclusive(self) -> npt.NDArray[np.bool_]:
        return np.array([name in self.cluster.exclusive for name in self.workload.resources])

    @property
    def counted(self) -> npt.NDArray[np.bool_]:
        """The resources that the calculator looks at."""
        counted: npt.NDArray[np.bool_] = self.exclusive | (np.arange(self.n_resources) == 0)
        return counted | (self.policy.calculator(self.cluster.calculator) == "dominant")

    @cached_property
    def racks(self) -> npt.NDArray[np.int32]:
        return nodes.racks(self.cluster)

    @cached_property
    def has_network(self) -> bool:
        return self.cluster.has_network

    @cached_property
    def links(self) -> Links:
        return Links.of(self.cluster, self.racks)

    @property
    def labels(self) -> npt.NDArray[np.int32]:
        return nodes.labels(self.cluster, self.workload.labels)

    @property
    def speeds(self) -> npt.NDArray[np.int64]:
        return nodes.speeds(self.cluster, self.seed)

    @cached_property
    def background(self) -> Background:
        return nodes.background(self.cluster, self.n_resources)

    @property
    def has_use(self) -> bool:
        """Whether it matters what containers use; to a node that others fill it does even if nothing is known of it."""
        return self.facts.has_use or len(self.background.level) > 0 or self.sizing.depends_on != "nothing"

    @property
    def first_nodes_of_tree(self) -> npt.NDArray[np.int64]:
        return nodes.first_nodes_of_tree(self.cluster.n_nodes)

    # Heartbeats and reports.

    @property
    def has_heartbeats(self) -> bool:
        return self.cluster.timing.node_heartbeat_ms > 0

    @cached_property
    def heartbeat_phases(self) -> npt.NDArray[np.int64]:
        interval_ms = self.cluster.timing.node_heartbeat_ms
        return nodes.phases(self.seed, STREAM_NODE_HEARTBEAT, interval_ms, self.cluster.n_nodes)

    @property
    def first_heartbeats(self) -> npt.NDArray[np.int32]:
        return nodes.first_of_phase(self.heartbeat_phases, self.cluster.timing.node_heartbeat_ms)

    @cached_property
    def report_phases(self) -> npt.NDArray[np.int64]:
        interval_ms = self.cluster.timing.usage_report_ms
        return nodes.phases(self.seed, STREAM_USAGE_REPORT, interval_ms, self.cluster.n_nodes)

    @property
    def first_report_ms(self) -> int:
        """When it is seen."""
        observation = self.cluster.observation
        return 0 if observation.poll_ms else int(self.report_phases.min()) + observation.lag_ms

    @property
    def reports_matter(self) -> bool:
        heard = any(bits >> EVENT_REPORTED & 1 for bits in self.listens.values())
        return heard or self.sizing.depends_on == "reports"

    @property
    def reads_containers(self) -> bool:
        return self.sizing.trait(self.sizing.reads_containers)

    @property
    def observed(self) -> bool:
        """Whether reports are seen later than they are made, or not at all."""
        latency_ms = self.cluster.observation.latency_ms  # has nothing to do with reports
        return self.reports_matter and self.cluster.observation != Observation(latency_ms=latency_ms)

    @property
    def flights(self) -> int:
        """How many reports of a node can be on their way at once; those that one poll sees count once."""
        if not self.observed:
            return 0
        observation = self.cluster.observation
        return observation.lag_ms // max(1, self.cluster.timing.usage_report_ms, observation.poll_ms) + 3
