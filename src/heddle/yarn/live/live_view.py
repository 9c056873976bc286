"""The view of a live cluster: what snapshots and their differences tell, in the same arrays that the simulator fills.

Rows are stable: a node or container keeps its number as long as it is there, a job for ever; jobs are numbered in
order of submission. A *job* is an application; a *stage* is a kind of request of one: priority x size.

What is allocated is the sum of the containers that were seen, not the RM's own figure: a sizing lever adds what is
allocated to what is free by its estimate, and both must rest on the same evidence, or a container in between is
promised twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from heddle.model.cluster import Calculator
from heddle.model.view import (
    EVENT_ALLOCATED,
    EVENT_ARRIVED,
    EVENT_FINISHED,
    EVENT_NODE_RETURNED,
    EVENT_REPORTED,
    EVENT_STOPPED,
    View,
)
from heddle.yarn.live.absorbing import apps, containers, nodes, sums
from heddle.yarn.live.absorbing.known import all_known
from heddle.yarn.live.absorbing.requests import ROOM_AT_FIRST
from heddle.yarn.live.columns import STAGE, Rows
from heddle.yarn.live.declared_data import DeclaredData
from heddle.yarn.live.declared_rows import DeclaredRows
from heddle.yarn.live.differ import Changes, Happened
from heddle.yarn.live.live_memory import (
    CONTAINERS,
    JOBS,
    LEAF,
    LIVE_JOBS,
    MEMBER,
    MEMBERS,
    N_RESOURCES,
    NODES,
    NOTHING,
    SHAPES,
    STAGES,
    LiveMemory,
)
from heddle.yarn.live.names import Names
from heddle.yarn.live.queue_rows import QueueRows
from heddle.yarn.live.snapshot import Snapshot
from heddle.yarn.live.things_seen import NodeSeen, Size

CapacityOf = Callable[[NodeSeen], Size]
_NO_STAGES = np.zeros(0, STAGE)


class Batch(NamedTuple):
    """Events of one kind: rows of (node, stage, container, value), -1 where it does not apply."""

    kind: int
    rows: npt.NDArray[np.int64]


class LiveView:
    """Keeps the view up to date. `capacity_of`: a node's hardware; `own_size_of`: what it may promise without us."""

    def __init__(
        self,
        capacity_of: CapacityOf,
        *,
        report_ms: int,
        n_pools: int,
        calculator: Calculator,
        own_size_of: CapacityOf = lambda seen: seen.total,
        counts_labels: bool = True,
        declared: DeclaredData | None = None,
    ) -> None:
        """`counts_labels`: whether the scheduler has a tree of queues for each label. Of those in a ResourceManager,
        only one that does, the Capacity scheduler, tells its queues. `declared`: None: nothing is known of data."""
        self.declared = DeclaredRows(declared) if declared is not None else None
        self._counts_labels = counts_labels
        self._capacity_of, self._own_size_of = capacity_of, own_size_of
        self._memory = LiveMemory(n_pools)
        self._memory.counts[SHAPES] = 1  # of the size that nobody knows yet
        self._clock = self._memory["clock"]
        self._clock["report_ms"] = report_ms
        self._clock["counts"] = (1, calculator == "dominant")
        self._clock["increment"] = 1  # what requests are rounded up to, no RM tells
        self._queues = QueueRows(self._memory)
        self._names = Names()
        self.node_row: dict[str, int] = {}
        self._job_row: dict[str, int] = {}
        self._job_row_at = 0, 0  # so many jobs so far, and live: each that comes or goes changes it

    @property
    def view(self) -> View:
        """The view now. Take it anew after every batch: arrays are replaced as they grow."""
        return self._memory.view

    @property
    def job_row(self) -> dict[str, int]:
        """Live applications by name. The same object as long as none has come or gone."""
        counts = int(self._memory.counts[JOBS]), int(self._memory.counts[LIVE_JOBS])
        if counts != self._job_row_at:
            jobs, name = self.live_jobs(), self._names.apps.name
            numbers = self._memory["job_app"][jobs].tolist()
            self._job_row = {name(number): job for number, job in zip(numbers, jobs.tolist(), strict=True)}
            self._job_row_at = counts
        return self._job_row

    def rooms(self) -> tuple[int, int, int]:
        """As many nodes, jobs and containers as there may be before anything grows."""
        rooms = self._memory.rooms
        return int(rooms[NODES]), int(rooms[JOBS]), int(rooms[CONTAINERS])

    def live_jobs(self) -> npt.NDArray[np.int64]:
        return self._memory["live_jobs"][: self._memory.counts[LIVE_JOBS]].copy()

    def waiting_stages(self) -> npt.NDArray[np.int64]:
        found = np.empty(int(self._memory.counts[STAGES]), np.int64)
        return found[: apps.waiting_stages(self._memory.address, found)]

    def priority_of(self, stage: int) -> int:
        """Of a kind of request, in its application; an AM's is not known."""
        return int(self._memory["stage_priority"][stage])

    def leaves(self) -> dict[str, int]:
        """Leaf queues: name -> row."""
        return self._queues.leaves()

    def submitted_to(self, job: int) -> int:
        """The leaf that a job came to, wherever it is now."""
        return int(self._memory["came_to"][job, LEAF])

    def with_am(self) -> npt.NDArray[np.int64]:
        """Live jobs whose AM is there."""
        jobs = self.live_jobs()
        return jobs[self._memory["ams"][jobs] > 0]

    @contextmanager
    def as_submitted(self) -> Iterator[None]:
        """The view as it would be had we moved no application and set no queue's share."""
        job, queue, came_to = self.view.job, self.view.queue, self._memory["came_to"][: len(self.view.job)]
        jobs = {name: job[name].copy() for name in ("queue", "member")}
        queues = {name: queue[name].copy() for name in ("guarantee", "maximum")}
        job["queue"], job["member"] = came_to[:, LEAF], came_to[:, MEMBER]
        sums.set_as_found(self._memory.address)
        self.add_up()
        try:
            yield
        finally:
            for name, column in jobs.items():
                job[name] = column
            for name, column in queues.items():
                queue[name] = column
            self.add_up()

    def am_demand(self, job: int) -> npt.NDArray[np.int64]:
        """What a job's AM reserves; nothing if it has none."""
        view = self.view
        if not view.job_spec["has_am"][job]:
            return np.zeros(N_RESOURCES, np.int64)
        demand: npt.NDArray[np.int64] = view.shape["demand"][
            view.stage_spec["shape"][view.job_spec["first_stage"][job]]
        ]
        return demand

    def sight(self, snapshot: Snapshot) -> None:
        """Takes in what is no event: the time, new nodes, totals, queues. Comes before absorb()."""
        self._clock["now_ms"] = snapshot.at_ms
        names, columns, memory = snapshot.names, snapshot.columns, self._memory
        self._names = names
        memory.make_room_for_names(
            row_of_node=len(names.nodes),
            row_of_app=len(names.apps),
            row_of_container=len(names.containers),
            leaf_of_queue=len(names.queues),
        )
        if not all_known(memory.address, columns.nodes, columns.queues, columns.apps):
            for i in np.flatnonzero(memory["row_of_node"][columns.nodes["node"]] < 0).tolist():
                self._new_node(snapshot.node(i))
            self._queues.know(columns, names)
        nodes.see_nodes(memory.address, columns.nodes, self._counts_labels and len(columns.queues) > 0)
        sums.set_queues(memory.address, columns.queues)

    def absorb(self, changes: Changes) -> Iterator[Batch]:
        """Applies the changes kind by kind and gives each kind out as one batch, with the view as it is just then."""
        at_ms, columns, memory = changes.after.at_ms, changes.after.columns, self._memory
        for happened in changes.happened:
            events = np.empty((len(happened.rows), 4), np.int64)
            self._apply(happened, changes, events)
            yield Batch(happened.kind, events)
            if happened.kind in (EVENT_FINISHED, EVENT_STOPPED):
                containers.unlink(memory.address, events)
        apps.end_jobs(memory.address, columns.apps, columns.ended)
        done = 0
        while (done := apps.read_apps(memory.address, columns.apps, columns.asks, at_ms, done)) < len(columns.apps):
            self._make_room()
        self.add_up()

    def _apply(self, happened: Happened, changes: Changes, events: npt.NDArray[np.int64]) -> None:
        kind, rows, at_ms, columns = happened.kind, happened.rows, changes.after.at_ms, changes.after.columns
        address, done = self._memory.address, 0
        before: Rows | None = changes.before.columns.containers if changes.before else None
        if kind in (EVENT_FINISHED, EVENT_STOPPED):
            containers.end_containers(address, before, rows, kind, events)
        elif kind == EVENT_REPORTED:
            nodes.report(address, columns.nodes, rows, happened.reports, at_ms, events)
        elif kind == EVENT_ARRIVED:
            self._arrive(changes.after, rows, events)
        elif kind == EVENT_ALLOCATED:
            while (done := containers.allocate(address, columns.containers, rows, at_ms, done, events)) < len(rows):
                self._make_room()
        else:
            returned = kind == EVENT_NODE_RETURNED
            there = columns.nodes if returned or changes.before is None else changes.before.columns.nodes
            nodes.set_alive(address, there["node"][rows], int(returned), events)

    def _arrive(self, after: Snapshot, rows: npt.NDArray[np.int64], events: npt.NDArray[np.int64]) -> None:
        columns, memory, done = after.columns, self._memory, 0
        firsts, declared, jobs = np.zeros(len(rows) + 1, np.int64), _NO_STAGES, list[int]()
        if self.declared is not None:
            firsts, declared, jobs = self.declared.stages_of(after, rows)
            stages = len(declared) + ROOM_AT_FIRST * len(rows)
            memory.make_room((STAGES, stages), (SHAPES, len(declared) + 1), (JOBS, len(rows)))
        given, laid_out = (columns.apps, columns.asks, rows, after.at_ms), np.empty(len(rows), np.int64)
        while (done := apps.arrive(memory.address, *given, done, firsts, declared, laid_out, events)) < len(rows):
            self._make_room()
        for first, job in zip(laid_out.tolist(), jobs, strict=False):
            if job >= 0 and self.declared is not None:
                self.declared.lay_out(first, job)

    def add_up(self) -> None:
        """All sums over jobs, from their rows."""
        sums.add_up(self._memory.address)

    def _make_room(self) -> None:
        """For more of whatever a compiled loop has run out of."""
        counts = self._memory.counts
        kinds = (SHAPES, STAGES, MEMBERS, JOBS, CONTAINERS)
        # A block of stages that moves takes at most as many rows again as there are, twice.
        self._memory.make_room(*((kind, 2 * int(counts[kind]) + ROOM_AT_FIRST) for kind in kinds))

    def _new_node(self, seen: NodeSeen) -> None:
        self._memory.make_room((NODES, 1))
        row = int(self._memory.counts[NODES])
        self._memory.counts[NODES] += 1
        self.node_row[seen.id] = row
        self._memory["row_of_node"][self._names.nodes.number(seen.id)] = row
        node = self._memory["node"]
        node["capacity"][row], node["allowance"][row], node["total"][row] = (
            self._capacity_of(seen),
            self._own_size_of(seen),
            seen.total,
        )
        node["first_container"][row] = node["reserved_for"][row] = node["reported_at_ms"][row] = NOTHING
        node["rack"][row] = self._names.racks.number(seen.rack)
        node["label"][row] = self._names.labels.number(seen.label)
        node["alive"][row] = seen.alive
        self._clock["allowance"][0] += node["allowance"][row]
        if self.declared is not None:
            self.declared.meet_node(seen, int(node["rack"][row]))
