"""The view of a live cluster: what snapshots and their differences tell, in the same arrays that the simulator fills.

Rows are stable: a node or container keeps its number as long as it is there, a job for ever; jobs are numbered in
order of submission. A *job* is an application; a *stage* is a kind of request of one: priority x size.

What is allocated is the sum of the containers that were seen, not the RM's own figure: a sizing lever adds what is
allocated to what is free by its estimate, and both must rest on the same evidence, or a container in between is
promised twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import groupby
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from heddle.model.cluster import Calculator
from heddle.model.resources import MEMORY, MILLI, VCORES
from heddle.model.view import (
    EVENT_ALLOCATED,
    EVENT_ARRIVED,
    EVENT_FINISHED,
    EVENT_NODE_LOST,
    EVENT_NODE_RETURNED,
    EVENT_REPORTED,
    EVENT_STOPPED,
    JOB_ADMITTED,
    JOB_ARRIVED,
    JOB_FAILED,
    JOB_FINISHED,
    View,
    view_dtypes,
)
from heddle.model.workload import AM, JOB
from heddle.yarn.live.differ import Change
from heddle.yarn.live.growing import Growing
from heddle.yarn.live.queue_rows import QueueRows
from heddle.yarn.live.snapshot import AppSeen, Ask, ContainerSeen, NodeSeen, Size, Snapshot
from heddle.yarn.live.stage_rows import StageRows

N_RESOURCES: Final = 2
NOTHING: Final = -1

CapacityOf = Callable[[NodeSeen], Size]
EventRow = tuple[int, int, int, int]  # node, stage, container, value


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
    ) -> None:
        dtypes = view_dtypes(N_RESOURCES)
        self._capacity_of, self._own_size_of = capacity_of, own_size_of
        self._clock = np.zeros(1, dtypes.clock)
        self._clock["report_ms"] = report_ms
        self._clock["counts"] = (1, calculator == "dominant")
        self._clock["increment"] = 1  # what requests are rounded up to, no RM tells
        self._node, self._container = Growing(dtypes.node), Growing(dtypes.container)
        self._job_spec, self._job, self._am_held = Growing(JOB), Growing(dtypes.job), Growing(np.int64, N_RESOURCES)
        self._ams = Growing(np.int64)  # how many AMs each job has: one may hold nothing
        self._came_to = Growing(np.int64, 2)  # leaf and member of each job as it was submitted
        self._pool = np.zeros(n_pools, dtypes.pool)
        self._stages = StageRows(dtypes)
        self._queues = QueueRows(dtypes)
        self.node_row: dict[str, int] = {}
        self.job_row: dict[str, int] = {}  # live applications only
        self._container_row: dict[str, int] = {}
        self._free_rows: list[int] = []
        self._racks: dict[str, int] = {}
        self._labels: dict[str, int] = {"": 0}
        self._reports: Counter[int] = Counter()  # of each node, so far
        self._reports_before: dict[int, int] = {}  # of a container's node, when it was allocated
        self._on_shared_hosts: set[str] = set()

    @property
    def view(self) -> View:
        """The view now. Take it anew after every batch: arrays are replaced as they grow."""
        return View(
            clock=self._clock, node=self._node.rows, queue=self._queues.queue.rows, member=self._queues.member.rows,
            pool=self._pool, shape=self._stages.shape.rows, container=self._container.rows,
            job_spec=self._job_spec.rows, job=self._job.rows,
            stage_spec=self._stages.spec.rows, stage=self._stages.stage.rows,
        )  # fmt: skip

    def live_jobs(self) -> npt.NDArray[np.int64]:
        return np.fromiter(self.job_row.values(), np.int64, len(self.job_row))

    def waiting_stages(self) -> npt.NDArray[np.int64]:
        return np.flatnonzero(self._stages.stage.rows["waiting"] > 0)

    def leaves(self) -> dict[str, int]:
        """Leaf queues: name -> row."""
        return self._queues.leaves()

    def submitted_to(self, job: int) -> int:
        """The leaf that a job came to, wherever it is now."""
        return int(self._came_to.rows[job, 0])

    def with_am(self) -> list[int]:
        """Live jobs whose AM is there."""
        return [job for job in self.job_row.values() if self._ams.rows[job]]

    @contextmanager
    def as_submitted(self) -> Iterator[None]:
        """The view as it would be had we moved no application and set no queue's share."""
        job, queue = self._job.rows, self._queues.queue.rows
        jobs = {name: job[name].copy() for name in ("queue", "member")}
        queues = {name: queue[name].copy() for name in ("guarantee", "maximum")}
        job["queue"], job["member"] = self._came_to.rows[:, 0], self._came_to.rows[:, 1]
        self._queues.as_found(self._clock["total"][0])
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
        if not self._job_spec.rows["has_am"][job]:
            return np.zeros(N_RESOURCES, np.int64)
        shape = self._stages.spec.rows["shape"][self._job_spec.rows["first_stage"][job]]
        demand: npt.NDArray[np.int64] = self._stages.shape.rows["demand"][shape]
        return demand

    def sight(self, snapshot: Snapshot) -> None:
        """Takes in what is no event: the time, new nodes, totals, queues. Comes before absorb()."""
        self._clock["now_ms"] = snapshot.at_ms
        for seen in snapshot.nodes.values():
            if seen.id not in self.node_row:
                self._new_node(seen)
            self._node.rows["total"][self.node_row[seen.id]] = seen.total
        alive = [np.maximum(seen.total, seen.allocated) for seen in snapshot.nodes.values() if seen.alive]
        self._clock["total"] = np.sum(alive, axis=0) if alive else self._clock["allowance"]
        self._queues.update(snapshot.queues, self._clock["total"][0])
        # NodeManagers of one host each report the whole host's use: only their containers' use tells them apart.
        hosts = Counter(seen.host for seen in snapshot.nodes.values())
        self._on_shared_hosts = {seen.id for seen in snapshot.nodes.values() if hosts[seen.host] > 1}

    def absorb(self, snapshot: Snapshot, changes: list[Change]) -> Iterator[Batch]:
        """Applies the changes kind by kind and gives each kind out as one batch, with the view as it is just then."""
        appliers = {
            EVENT_ARRIVED: self._arrived, EVENT_ALLOCATED: self._allocated, EVENT_FINISHED: self._ended,
            EVENT_STOPPED: self._ended, EVENT_REPORTED: self._reported, EVENT_NODE_LOST: self._lost,
            EVENT_NODE_RETURNED: self._returned,
        }  # fmt: skip
        for kind, group in groupby(changes, key=lambda change: change.kind):
            apply = appliers[kind]
            rows = np.array([apply(change, snapshot) for change in group], np.int64)
            self.add_up()
            yield Batch(kind, rows)
            if kind in (EVENT_FINISHED, EVENT_STOPPED):
                for container in rows[:, 2].tolist():
                    self._unlink(container)
        self._end_jobs(snapshot)
        for app in snapshot.apps.values():
            self._read_app(app, snapshot.at_ms)
        self.add_up()

    # One function per kind of event: changes the view, returns the event's row.

    def _ended(self, change: Change, snapshot: Snapshot) -> EventRow:
        assert change.container is not None
        row = self._container_row.pop(change.container.id)
        node, stage = int(self._container.rows["node"][row]), int(self._container.rows["stage"][row])
        self._hold(row, -1)
        if change.kind == EVENT_FINISHED:
            self._stages.stage.rows["done"][stage] += 1
        return node, stage, row, self._reports[node] - self._reports_before.pop(row)

    def _allocated(self, change: Change, snapshot: Snapshot) -> EventRow:
        seen = change.container
        assert seen is not None
        job, node = self.job_row[seen.app], self.node_row[seen.node]
        stage = self._stage_of(job, seen)
        row = self._free_rows.pop() if self._free_rows else self._container.add()
        container, first = self._container.rows, self._node.rows["first_container"]
        container[row] = np.zeros((), container.dtype)
        container["allocated_at_ms"][row], container["started_at_ms"][row] = snapshot.at_ms, NOTHING
        container["stage"][row], container["node"][row] = stage, node
        container["next"][row], container["previous"][row] = first[node], NOTHING
        if first[node] != NOTHING:
            container["previous"][first[node]] = row
        first[node] = row
        self._container_row[seen.id] = row
        self._reports_before[row] = self._reports[node]
        self._clock["allocations"] += 1
        if self._job.rows["state"][job] == JOB_ARRIVED:
            self._job.rows["state"][job] = JOB_ADMITTED
        self._hold(row, 1)
        return node, stage, row, 0

    def _arrived(self, change: Change, snapshot: Snapshot) -> EventRow:
        app = snapshot.apps[change.app]
        job = self._job_spec.add()
        self._job.add()
        self._am_held.add()
        self._ams.add()
        self._came_to.add()
        self.job_row[app.id] = job
        self._stages.open_job(job, app.has_am)
        spec, rows = self._job_spec.rows, self._job.rows
        spec["submit_at_ms"][job], spec["has_am"][job], spec["priority"][job] = (
            app.started_at_ms,
            app.has_am,
            app.priority,
        )
        rows["arrived_at_ms"][job], rows["state"][job] = snapshot.at_ms, JOB_ARRIVED
        self._read_app(app, snapshot.at_ms)
        return NOTHING, int(spec["first_stage"][job]), NOTHING, 0

    def _reported(self, change: Change, snapshot: Snapshot) -> EventRow:
        seen, row, node = snapshot.nodes[change.node], self.node_row[change.node], self._node.rows
        # The NM counts its containers' CPU in vcores as last told to it, which resizing changes: back to hardware.
        share = seen.container_vcores_used * 1000 / max(1, seen.total[VCORES])
        node["containers_used"][row] = seen.containers_memory_mb, round(share * int(node["capacity"][row, VCORES]))
        if seen.id in self._on_shared_hosts:
            node["used"][row] = node["containers_used"][row]
        else:
            node["used"][row] = _use_that_counts(seen, node["containers_used"][row], node["allowance"][row])
        node["reported_at_ms"][row] = snapshot.at_ms
        self._reports[row] += change.reports
        return row, NOTHING, NOTHING, change.reports

    def _lost(self, change: Change, snapshot: Snapshot) -> EventRow:
        self._node.rows["alive"][self.node_row[change.node]] = 0
        return self.node_row[change.node], NOTHING, NOTHING, 0

    def _returned(self, change: Change, snapshot: Snapshot) -> EventRow:
        self._node.rows["alive"][self.node_row[change.node]] = 1
        return self.node_row[change.node], NOTHING, NOTHING, 0

    # Rows and sums.

    def _new_node(self, seen: NodeSeen) -> None:
        row = self.node_row[seen.id] = self._node.add()
        node = self._node.rows
        node["capacity"][row], node["allowance"][row], node["total"][row] = (
            self._capacity_of(seen),
            self._own_size_of(seen),
            seen.total,
        )
        node["first_container"][row] = node["reserved_for"][row] = node["reported_at_ms"][row] = NOTHING
        node["rack"][row] = self._racks.setdefault(seen.rack, len(self._racks))
        node["label"][row] = self._labels.setdefault(seen.label, len(self._labels))
        node["alive"][row] = seen.alive
        self._clock["allowance"][0] += node["allowance"][row]

    def _stage_of(self, job: int, seen: ContainerSeen) -> int:
        if seen.is_am:
            return self._stages.am(job, seen.size)
        return self._kind(job, seen.priority, seen.size)

    def _kind(self, job: int, priority: int, size: Size) -> int:
        stage, moved = self._stages.kind(job, priority, size)
        if len(moved):
            old, new, room = moved.tolist()
            of_container = self._container.rows["stage"]
            mine = (of_container >= old) & (of_container < old + room)
            of_container[mine] += new - old
        self._note_stages(job)
        return stage

    def _note_stages(self, job: int) -> None:
        rows = self._stages.rows_of(job)
        self._job_spec.rows["first_stage"][job], self._job_spec.rows["n_stages"][job] = (
            rows.start,
            rows.stop - rows.start,
        )

    def _read_app(self, app: AppSeen, at_ms: int) -> None:
        """What an application waits for, its queue and its priority now."""
        job = self.job_row[app.id]
        self._job.rows["priority"][job] = app.priority
        queue = self._queues.leaf(app.queue, self._clock["total"][0])
        self._job.rows["queue"][job], self._job.rows["member"][job] = queue, self._queues.member_of(queue, app.user)
        came_to = self._queues.leaf(app.submitted_to or app.queue, self._clock["total"][0])
        self._came_to.rows[job] = came_to, self._queues.member_of(came_to, app.user)
        self._note_stages(job)
        for ask in app.asks:
            self._ask_stage(job, app, ask)  # all kinds first: a new one may move the job's rows
        rows, stage, spec = self._stages.rows_of(job), self._stages.stage.rows, self._stages.spec.rows
        stage["waiting"][rows] = 0
        for ask in app.asks:
            row = self._ask_stage(job, app, ask)
            stage["waiting"][row] += ask.containers
            if stage["asked_at_ms"][row] < 0:
                stage["asked_at_ms"][row] = at_ms
        spec["n_tasks"][rows] = stage["waiting"][rows] + stage["held"][rows] + stage["done"][rows]
        self._job.rows["waiting"][job] = stage["waiting"][rows].sum()

    def _ask_stage(self, job: int, app: AppSeen, ask: Ask) -> int:
        """Until its AM has registered, all that an application waits for is the AM."""
        if app.has_am and not app.running:
            return self._stages.am(job, ask.size)
        return self._kind(job, ask.priority, ask.size)

    def _hold(self, container: int, sign: int) -> None:
        """A container was allocated (1) or is gone (-1)."""
        stage, node = self._container.rows["stage"][container], self._container.rows["node"][container]
        spec = self._stages.spec.rows
        job, amount = spec["job"][stage], sign * self._stages.shape.rows["demand"][spec["shape"][stage]]
        self._node.rows["allocated"][node] += amount
        self._node.rows["n_containers"][node] += sign
        self._job.rows["allocated"][job] += amount
        self._job.rows["held"][job] += sign
        self._stages.stage.rows["held"][stage] += sign
        if spec["kind"][stage] == AM:
            self._am_held.rows[job] += amount
            self._ams.rows[job] += sign

    def _unlink(self, row: int) -> None:
        container = self._container.rows
        after, before = container["next"][row], container["previous"][row]
        if before == NOTHING:
            self._node.rows["first_container"][container["node"][row]] = after
        else:
            container["next"][before] = after
        if after != NOTHING:
            container["previous"][after] = before
        container["stage"][row] = NOTHING
        self._free_rows.append(row)

    def _end_jobs(self, snapshot: Snapshot) -> None:
        for app_id in [name for name in self.job_row if name not in snapshot.apps]:
            job = self.job_row.pop(app_id)
            self._job.rows["state"][job] = JOB_FINISHED if snapshot.ended.get(app_id, True) else JOB_FAILED
            self._job.rows["waiting"][job] = 0
            self._stages.close_job(job)

    def add_up(self) -> None:
        """All sums over jobs, from their rows."""
        live, job = self.live_jobs(), self._job.rows
        self._queues.add_up(job, self._am_held.rows, self._ams.rows, live)
        self._pool["allocated"] = 0
        np.add.at(self._pool["allocated"], job["pool"][live], job["allocated"][live])
        self._pool["waiting"] = 0
        waiting, spec = self.waiting_stages(), self._stages.spec.rows
        asked = self._stages.shape.rows["demand"][spec["shape"][waiting]]
        asked = asked * self._stages.stage.rows["waiting"][waiting][:, None]
        np.add.at(self._pool["waiting"], job["pool"][spec["job"][waiting]], asked)
        self._clock["am_allocated"] = self._am_held.rows[live].sum(axis=0)
        self._clock["running_jobs"] = np.count_nonzero(job["state"][live] == JOB_ADMITTED)


def _use_that_counts(seen: NodeSeen, containers: npt.NDArray[np.int64], own: npt.NDArray[np.int64]) -> Size:
    """What is used of a machine that one node has for itself, as far as it counts against what the node may promise.

    Memory that the operator has set aside, by promising less than the machine has, is there for others: it counts
    only what they use beyond it. Cores are counted in the node's vcores, as many as stand for the whole machine.
    """
    aside_mb = max(0, (seen.machine_memory_mb or 0) - int(own[MEMORY]))
    others_mb = max(0, seen.used_memory_mb - seen.containers_memory_mb)
    memory_mb = seen.containers_memory_mb + max(0, others_mb - aside_mb)
    if seen.cpu_share is None:
        return memory_mb, round(MILLI * seen.physical_cores_used)
    return memory_mb, max(int(containers[VCORES]), round(seen.cpu_share * int(own[VCORES])))
