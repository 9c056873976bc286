"""The engine's memory: every table and array, with how many rows it has; columns are in the classes named here.

What levers may see is in the view (model/view.py, shown.py); everything else is the truth or the engine's own
bookkeeping. declaring.py says how to read the lines of Sim.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from heddle.model.view import View
from heddle.model.workload import TASK, segment_dtype
from heddle.sim.codes import FOREVER
from heddle.sim.memory.container_tables import Called, JobRun, Keeping, Looks, Slot, StageRun, TaskRun
from heddle.sim.memory.control import Control
from heddle.sim.memory.declaring import Array, Table, array, dtype_of, fixed, one_row, rows
from heddle.sim.memory.given import nodes
from heddle.sim.memory.lever_memory import Levers
from heddle.sim.memory.log_tables import Attempt, LogRow
from heddle.sim.memory.network_tables import Flow, Link, Route
from heddle.sim.memory.node_tables import NodeRun, Promise, TreeRow, Truth
from heddle.sim.memory.request_tables import Bucket, Dues, Lane, QueueRun, QueueShare, Waiting, Want
from heddle.sim.memory.settings import Setting
from heddle.sim.memory.timeline_tables import Due, Timer

I32, I64 = np.int32, np.int64
_NO_BYTES: Final = np.zeros(0, np.int64)


class Sim:
    """Everything the engine reads and writes. What is declared here is an array of that name in an instance."""

    def __init__(self, shown: View, levers: Levers, own: Mapping[str, Array]) -> None:
        self.shown = shown  # what levers see (Numba reserves the attribute name "view")
        self.levers = levers
        vars(self).update({name: own[name] for name in OWN})

    @property
    def own(self) -> dict[str, Array]:
        """The arrays that are declared here."""
        return {name: getattr(self, name) for name in OWN}

    control: Array = one_row(Control)
    setting: Array = one_row(Setting, fixed=True)

    # The workload.
    task_spec: Array = fixed(TASK, lambda run: run.workload.tasks)
    segment: Array = fixed(segment_dtype, lambda run: run.workload.segments)
    task: Array = rows(TaskRun, lambda n: n.tasks)
    stage_run: Array = rows(StageRun, lambda n: n.stages)
    keeping: Array = rows(Keeping, lambda n: n.stages_if_reserving)
    job_run: Array = rows(JobRun, lambda n: n.jobs)
    looks: Array = rows(Looks, lambda n: n.jobs_if_early)
    listeners: Array = array(I32, lambda n: n.jobs_if_early)  # a heap of jobs (containers/listeners.py)
    after: Array = fixed(I32, lambda run: run.workload.stage_after)  # stages a stage comes after
    before_first: Array = fixed(I32, lambda run: run.later_stages.first)  # CSR: stages that come after a stage
    before: Array = fixed(I32, lambda run: run.later_stages.owned)
    job_before_first: Array = fixed(I32, lambda run: run.later_jobs.first)  # CSR: jobs that come after a job
    job_before: Array = fixed(I32, lambda run: run.later_jobs.owned)
    prefers: Array = fixed(I32, lambda run: run.preferred.by_task)  # [tasks] or [0]
    running_jobs: Array = fixed(I32, lambda run: run.running.jobs)  # jobs that have containers when the run begins
    running_on: Array = fixed(I32, lambda run: run.running.on)  # [tasks] or [0]: the node where it runs then; -1: none
    running_since_ms: Array = fixed(I64, lambda run: run.running.since_ms)  # [tasks] or [0]

    # Containers, and what is due.
    slot: Array = rows(Slot, lambda n: n.slots)
    called: Array = rows(Called, lambda n: n.slots_if_preempting)
    due: Array = rows(Due, lambda n: n.slots)
    due_place: Array = array(I32, lambda n: n.slots, initial=-1)  # where it is in `due`; -1: not due
    timer: Array = rows(Timer, lambda n: n.timers)

    # Requests.
    run: Array = rows(Waiting, lambda n: n.requests)  # all buckets' runs, one behind the other
    heap: Array = rows(Waiting, lambda n: n.requests)  # and their heaps
    turn: Array = fixed(I32, lambda run: run.early.turn)  # [stages]: who goes first of those with equal keys
    stage_of_turn: Array = fixed(I32, lambda run: run.early.stage_of_turn)
    place_of_turn: Array = array(I32, lambda n: n.stages)  # where the stage's request is in its bucket (requests.py)
    bucket: Array = rows(Bucket, lambda n: n.buckets)
    lane: Array = rows(Lane, lambda n: n.lanes)
    want: Array = rows(Want, lambda n: n.wants)
    full: Array = array(I64, lambda n: n.wants)  # wants for which there is no room
    stage_combo: Array = fixed(I32, lambda run: run.lanes.stage_combo)  # [stages]: its (lane base, want), as a number
    queue_run: Array = rows(QueueRun, lambda n: n.queues)
    queue_share: Array = rows(QueueShare, lambda n: n.queues)
    dues: Array = rows(Dues, lambda n: n.queues)

    # Nodes.
    increment: Array = fixed(I64, lambda run: np.array(run.cluster.increment, np.int64))  # per resource
    node_run: Array = rows(NodeRun, lambda n: n.nodes)
    promise: Array = rows(Promise, lambda n: len(n.run.trees.n_nodes))
    # What no scheduler knows, for a sizing lever that declares it: nobody but the engine writes it.
    truth: Array = rows(Truth, lambda n: n.nodes if n.run.foresees else 0)
    tree: Array = rows(TreeRow, lambda n: n.tree)  # over the nodes
    heartbeat_order: Array = fixed(I32, lambda run: nodes.by_phase(run.heartbeat_phases))
    heartbeat_first: Array = fixed(I32, lambda run: run.first_heartbeats)
    report_order: Array = fixed(I32, lambda run: nodes.by_phase(run.report_phases))
    level_first: Array = fixed(I32, lambda run: run.background.first)  # CSR: background levels of a node
    level: Array = fixed(I64, lambda run: run.background.level, axes=2)
    # Reports on their way (observation.py), and what they say of each container.
    flight: Array = array(I64, lambda n: n.flights, width=lambda n: 2 + 2 * n.run.n_resources)
    flight_container: Array = array(I64, lambda n: n.flights_of_containers, width=lambda n: n.run.n_resources)
    gained: Array = array(I32, lambda n: n.nodes)  # this and the next four: lists of nodes (node_tables.py)
    stale: Array = array(I32, lambda n: n.nodes)
    coarse: Array = array(I32, lambda n: n.nodes)
    touched: Array = array(I32, lambda n: n.nodes)
    untold: Array = array(I32, lambda n: n.nodes)
    telling: Array = array(I32, lambda n: n.nodes)  # in order: those that tell of ends in this instant

    # Network; empty while it is off.
    edge_bytes: Array = fixed(I64, lambda run: _or_nothing(run.workload.edge_bytes))  # aligned with after, or [0]
    input_bytes: Array = fixed(I64, lambda run: _or_nothing(run.workload.input_bytes))  # [tasks] or [0]
    # From its first task on, the nodes where a stage that is done wrote its output, and how many tasks did so there.
    output_node: Array = array(I32, lambda n: n.tasks_if_network)
    output_tasks: Array = array(I32, lambda n: n.tasks_if_network)
    link: Array = rows(Link, lambda n: n.links)
    # When the first flow out of each node ends, in leaves as those of `tree`; above them the earlier of two.
    first_end_ms: Array = array(I64, lambda n: n.tree_if_network, initial=int(FOREVER))
    route: Array = rows(Route, lambda n: n.flows)
    flow: Array = rows(Flow, lambda n: n.flows)
    uplink: Array = fixed(I32, lambda run: run.links.uplink)
    changed_links: Array = array(I32, lambda n: n.links)
    reached_links: Array = array(I32, lambda n: n.links)
    reached_routes: Array = array(I32, lambda n: n.flows)
    link_heap: Array = array(I32, lambda n: n.links)
    fetchers: Array = array(I32, lambda n: n.slots_if_network)  # slots that fetch and whose flows have not begun
    sources: Array = array(I32, lambda n: n.nodes_if_network)  # those of the task at hand
    bytes_on_node: Array = array(I64, lambda n: n.nodes_if_network)  # all 0 between two uses
    # 1 + the route from there to the node at hand; all 0 between two uses.
    route_from: Array = array(I32, lambda n: n.nodes_if_network)

    # What one step leaves for settle().
    endings: Array = array(I64, lambda n: 4 * n.slots + 16)  # (slot, outcome) pairs
    starts: Array = array(I32, lambda n: 2 * n.slots + 16)  # slots
    asks: Array = array(I32, lambda n: n.asks)  # stages
    rekeys: Array = array(I32, lambda n: 2 * n.asks)  # jobs
    climb: Array = array(I64, lambda n: 128)  # for a search in `tree`: two nodes of each level
    scratch: Array = array(I64, lambda n: n.scratch)  # for searches

    # What has been.
    log: Array = rows(LogRow, lambda n: n.log)
    attempt: Array = rows(Attempt, lambda n: n.log)


def _or_nothing(given: Array | None) -> Array:
    return _NO_BYTES if given is None else given


OWN: Final[dict[str, Table]] = {name: table for name, table in vars(Sim).items() if isinstance(table, Table)}
"""The declared tables of Sim."""

LOG_ROW: Final = dtype_of(LogRow, 0)
