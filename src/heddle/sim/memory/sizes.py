"""How much memory the engine has: what grows while a run goes on, and what follows from that."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from heddle.sim.memory.given import nodes
from heddle.sim.memory.run_inputs import RunInputs

FIRST_FLOWS = 1024  # doubled as often as needed
LOG_ROWS = 1 << 18


@dataclass(frozen=True)
class Sizes:
    run: RunInputs
    slots: int  # containers that live at once
    timers: int
    flows: int

    @classmethod
    def at_start(cls, run: RunInputs) -> Sizes:
        """A first guess of how many containers live at once; the engine asks for more when it needs them."""
        workload = run.workload
        smallest = np.maximum(workload.shapes.min(axis=0), 1) if len(workload.shapes) else np.ones(run.n_resources)
        fit = int((run.total_allowance // smallest).min())
        slots = min(run.facts.n_tasks, fit, 1 << 20) + run.facts.most_inner + 24 + run.running.n_containers
        first = cls(run, slots, 0, FIRST_FLOWS)
        return replace(first, timers=2 * first.timer_margin + (2 + run.decommissions) * first.nodes)

    def more_slots(self) -> Sizes:
        """And more timers, which are set for containers and their stages."""
        return replace(self, slots=2 * self.slots, timers=2 * self.timers)

    def more_flows(self) -> Sizes:
        return replace(self, flows=2 * self.flows + self.flow_margin)

    # The most that one step of the engine can take.

    @property
    def slot_margin(self) -> int:
        """All inner tasks that a job's executors hold, and some."""
        return self.run.facts.most_inner + 8

    @property
    def asks(self) -> int:
        """How many stages can ask in one step: some for each container that ends, and a whole job's."""
        return 4 * self.slots + 4 * self.run.facts.most_stages + 64

    @property
    def timer_margin(self) -> int:
        """Two timers for each stage that asks, one for each job that follows, two for each that may look."""
        facts = self.run.facts
        return 2 * self.asks + facts.most_followers + 2 * facts.n_jobs * facts.has_early

    @property
    def log_margin(self) -> int:
        """Rows of the log, and attempts."""
        return 8 * self.slots + 4096

    @property
    def flow_margin(self) -> int:
        """One task has a flow from each node at most."""
        return self.nodes

    # Rows.

    @property
    def log(self) -> int:
        return max(LOG_ROWS, 2 * self.log_margin) if self.run.logging else 1

    @property
    def scratch(self) -> int:
        return max(self.slots, 3 * self.buckets, 2 * self.tree) + 64

    @property
    def slots_if_preempting(self) -> int:
        return self.slots if self.run.preempts else 0

    @property
    def stages_if_reserving(self) -> int:
        return self.stages if self.run.reserves else 0

    @property
    def jobs_if_early(self) -> int:
        return self.jobs if self.run.early.there else 0

    @property
    def slots_if_network(self) -> int:
        return self.slots if self.run.has_network else 0

    @property
    def nodes_if_network(self) -> int:
        return self.nodes if self.run.has_network else 0

    @property
    def tasks_if_network(self) -> int:
        return self.tasks if self.run.has_network else 0

    @property
    def links(self) -> int:
        return len(self.run.links.mbps)

    @property
    def flights(self) -> int:
        return self.nodes * self.run.flights

    @property
    def flights_of_containers(self) -> int:
        return self.slots * self.run.flights if self.run.reads_containers else 0

    @property
    def nodes(self) -> int:
        return self.run.cluster.n_nodes

    @property
    def tree(self) -> int:
        return 2 * nodes.leaves_of_tree(self.nodes)

    @property
    def tree_if_network(self) -> int:
        return self.tree if self.run.has_network else 0

    @property
    def jobs(self) -> int:
        return len(self.run.workload.jobs)

    @property
    def stages(self) -> int:
        return len(self.run.workload.stages)

    @property
    def tasks(self) -> int:
        return len(self.run.workload.tasks)

    @property
    def shapes(self) -> int:
        return len(self.run.workload.shapes)

    @property
    def queues(self) -> int:
        return self.run.trees.n_queues

    @property
    def members(self) -> int:
        return len(self.run.trees.trees) * len(self.run.members.queue)

    @property
    def pools(self) -> int:
        return self.run.partition.n_pools

    @property
    def lanes(self) -> int:
        return self.run.lanes.n_lanes

    @property
    def wants(self) -> int:
        return len(self.run.lanes.want_shape)

    @property
    def buckets(self) -> int:
        return len(self.run.lanes.bucket_room)

    @property
    def requests(self) -> int:
        """The room of all buckets."""
        return int(self.run.lanes.bucket_room.sum()) + 1
