"""The engine's memory: one structured array per kind of thing, and one NamedTuple that holds them all.

What levers may see is in the view (model/view.py); everything here is the truth or the engine's own bookkeeping.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np

from heddle.model.view import LeverState, View

LOG_ROW: Final = np.dtype(
    [
        ("place", np.int64),  # in the order of all that happened, attempts' lives included
        ("at_ms", np.int64),
        ("value", np.int64),
        ("job", np.int32),
        ("stage", np.int32),
        ("node", np.int32),
        ("kind", np.int8),
        ("code", np.int8),  # a Reason, the state of a job, or the number of a resource
    ],
    align=True,
)

TASK_RUN: Final = np.dtype(
    [
        ("started_at_ms", np.int64),
        ("ended_at_ms", np.int64),
        ("node", np.int32),
        ("link", np.int32),  # next task in its stage's list of returned ones
        ("crashes", np.int16),  # in a row, while no task of any job finished
        ("finished_before", np.uint16),  # tasks finished by all jobs before its last crash, modulo 2**16
        ("attempts", np.int16),
        ("failures", np.int8),
        ("state", np.int8),
    ],
    align=True,
)

STAGE_RUN: Final = np.dtype(
    [
        ("next_fresh", np.int32),  # tasks before it were allocated at least once
        ("asked", np.int32),  # fresh tasks asked for so far, allocated ones included
        ("to_ask", np.int32),  # newly asked for, on their way into the index
        ("returned", np.int32),  # first of its returned tasks, by number; -1: none
        ("bucket", np.int32),  # where its request waits; -1: nowhere
        ("place", np.int32),  # its position in that bucket (requests.py)
        ("after_left", np.int16),  # stages it comes after that are not done
        ("runnable", np.int8),
        ("starvation_watched", np.int8),  # a check whether its maps starve is due
    ],
    align=True,
)

JOB_RUN: Final = np.dtype(
    [
        ("started_at_ms", np.int64),  # first task or executor running
        ("am_started_at_ms", np.int64),
        ("ended_at_ms", np.int64),
        ("first_executor", np.int32),  # slot; executors of the job by number
        ("after_left", np.int32),  # jobs it comes after that have not finished
        ("stages_left", np.int32),
        ("am_slot", np.int32),  # 1 + the slot of its AM; 0: it has none now
        ("am_losses", np.int8),
        ("begun", np.int8),  # its AM is ready, or it has none and has arrived
        ("submitted", np.int8),
        ("after_failed", np.int8),
    ],
    align=True,
)

DUE: Final = np.dtype([("at_ms", np.int64), ("task", np.int32), ("slot", np.int32)], align=True)
TIMER: Final = np.dtype([("at_ms", np.int64), ("kind", np.int32), ("subject", np.int32)], align=True)
WAITING: Final = np.dtype([("key", np.int64), ("stage", np.int32)])  # a request in a bucket

BUCKET: Final = np.dtype(
    [
        ("offset", np.int64),  # where its room in `run` and in `heap` begins
        ("head_key", np.int64),
        ("head", np.int32),  # the stage that goes first
        ("size", np.int32),
        ("room", np.int32),
        ("run_first", np.int32),
        ("run_end", np.int32),
        ("heap_size", np.int32),
        ("lane", np.int32),
        ("want", np.int32),  # distinct (shape, label)
        ("next", np.int32),  # in its lane's list of buckets that are not empty
        ("previous", np.int32),
        ("tried", np.int32),  # the walk in which it was passed over
        ("gated", np.int8),
    ],
    align=True,
)
LANE: Final = np.dtype([("first", np.int32)])
WANT: Final = np.dtype(
    [
        ("tested", np.int64),  # the pass in which its room was last looked for
        ("shape", np.int32),
        ("label", np.int32),
        ("no_room", np.int8),  # nothing fits but, perhaps, on nodes that gained room since
    ],
    align=True,
)

CALLED: Final = np.dtype(  # a container that rounds of preemption call for
    [
        ("since_ms", np.int64),  # the first of the rounds that have called for it one after another
        ("next_round_ms", np.int64),  # after the last one: who is not called for then is called for anew
        ("job_key", np.int64),  # of its job, as of this round
    ]
)


@cache
def attempt_dtype(n_resources: int) -> np.dtype[Any]:
    """The life of an attempt: kept when it ends, if a log is kept. Places are as in LOG_ROW."""
    return np.dtype(
        [
            ("used_ms", np.int64, (n_resources,)),
            ("asked_at_ms", np.int64),
            ("allocated_at_ms", np.int64),
            ("allocated_place", np.int64),
            ("started_at_ms", np.int64),  # NEVER: it did not start
            ("started_place", np.int64),
            ("fetched_at_ms", np.int64),  # the end of its fetch; NEVER: it fetched nothing, as for the next four
            ("fetched_place", np.int64),
            ("fetch_ms", np.int64),
            ("fetched_bytes", np.int64),
            ("cross_rack_bytes", np.int64),
            ("ended_at_ms", np.int64),  # NEVER: it was still there when the run was over
            ("ended_place", np.int64),
            ("task", np.int32),
            ("stage", np.int32),
            ("node", np.int32),
            ("attempt", np.int16),
            ("outcome", np.int8),
        ],
        align=True,
    )


@cache
def slot_dtype(n_resources: int) -> np.dtype[Any]:
    """A container (or an inner task) while it lives."""
    return np.dtype(
        [
            ("use", np.int64, (n_resources,)),  # true use now
            ("seen", np.int64, (n_resources,)),  # what a report says of it
            ("used_ms", np.int64, (n_resources,)),  # integral of use until integrated_at_ms
            ("integrated_at_ms", np.int64),
            ("work_us", np.int64),
            ("since_ms", np.int64),  # work_us is as of then
            ("rate", np.int64),
            ("mark_us", np.int64),  # work at which something happens next
            ("end_us", np.int64),
            ("shuffle_us", np.int64),
            ("fail_us", np.int64),  # work at which a fault strikes; -1: none
            ("rise_at_ms", np.int64),  # last rise of its memory use
            ("reports_before", np.int64),  # of its node, when it was allocated
            ("inner_memory", np.int64),  # EXECUTOR: memory used by its inner tasks
            ("asked_at_ms", np.int64),
            ("allocated_place", np.int64),  # this and the other places: if a log is kept
            ("started_place", np.int64),
            ("fetched_at_ms", np.int64),  # NEVER: it has not fetched
            ("fetched_place", np.int64),
            ("fetching_since_ms", np.int64),
            ("fetched_bytes", np.int64),  # by flows that have ended
            ("cross_rack_bytes", np.int64),  # of these
            ("local_bytes", np.int64),  # what it reads on its own node
            ("first_flow", np.int32),  # FETCHING: its flows; -1: none
            ("task", np.int32),
            ("job", np.int32),
            ("segment", np.int32),
            ("host", np.int32),  # slot of its executor; -1: a container of its own
            ("next_executor", np.int32),
            ("next_free", np.int32),
            ("inner", np.int16),  # EXECUTOR: tasks in it
            ("phase", np.int8),
            ("doomed", np.int8),
            ("listed", np.int8),  # FETCHING: its flows have not begun yet
        ],
        align=True,
    )


@cache
def node_run_dtype(n_resources: int) -> np.dtype[Any]:
    return np.dtype(
        [
            ("use", np.int64, (n_resources,)),  # true use, background included
            ("seen", np.int64, (n_resources,)),  # of containers, as a report would say
            ("background", np.int64, (n_resources,)),
            ("speed_permille", np.int64),
            ("report_phase_ms", np.int64),
            ("heartbeat_phase_ms", np.int64),
            ("reports", np.int64),  # made so far (those included that it would have made while it was lost)
            ("numbered", np.int64),  # really made; this and the next three: observation.py
            ("known", np.int64),  # made up to the last one that was seen
            ("sent", np.int64),  # not lost
            ("unseen", np.int64),  # the first of those that is still on its way
            ("epoch", np.int64),  # of the last full offer
            ("fault", np.int32),  # number of its next loss or return
            ("level", np.int32),  # its next background level
            ("contended", np.int8),
            ("touched", np.int8),  # in the list of nodes whose rates must be looked at
            ("coarse", np.int8),  # in the list of nodes whose free amounts the index has not handed upwards
            ("stale", np.int8),  # in the list of nodes that the placement index must be told of
            ("gained", np.int8),  # in the list of nodes that have more free than at their last offer
            ("untold", np.int8),  # in the list of nodes that have yet to tell that a container ended
        ],
        align=True,
    )


@cache
def dues_dtype(n_resources: int) -> np.dtype[Any]:
    """What a round of preemption finds out about a queue; plain numbers are of the resource at hand."""
    return np.dtype(
        [
            ("claimed", np.int64, (n_resources,)),  # wanted by requests that could be served
            ("own", np.int64, (n_resources,)),  # what nobody may take from it
            ("obtain", np.int64, (n_resources,)),  # what is still to be called for
            ("kept", np.int64, (n_resources,)),  # what it has without the containers called for
            ("wanted", np.int64),
            ("ideal", np.int64),
            ("cap", np.int64),  # of what it may be given when an amount is shared
            ("filled", np.int64),  # what it is given; -1: not served yet
            ("active", np.int64),  # a container or a claim is in it or below
        ]
    )


@cache
def tree_dtype(n_resources: int) -> np.dtype[Any]:
    """The best of the nodes below: the highest score and the first node that has it, the most free of each resource."""
    return np.dtype([("score", np.int64), ("node", np.int64), ("free", np.int64, (n_resources,))])


@cache
def control_dtype(n_resources: int) -> np.dtype[Any]:
    """The engine's own scalars."""
    whole = [
        "phase", "next_arrival", "jobs_left", "waiting", "n_due", "n_timers", "free_slot", "n_free",
        "n_log", "n_attempts", "n_places",
        "walk", "passes", "epoch", "n_fresh", "fresh_epoch", "next_reporter", "next_report_ms",
        "news", "ended_in_pass", "n_gained", "n_stale", "n_coarse", "blocked_epoch", "blocked_want",
        "n_touched", "n_untold", "n_telling", "telling",
        "n_endings", "n_starts", "n_asks", "n_rekeys", "n_no_room", "crashed", "killed", "retried", "preempted",
        "failed_jobs", "integrated_at_ms", "last_progress_ms", "offer_node", "offered", "heartbeats_at_ms",
        "broken", "finished", "round_at_ms", "idle", "tick_at_ms", "keys_changed", "look_at_ms",
        "next_flow_ms", "flows_are_news", "n_flows", "free_flow", "n_free_flows", "free_route", "n_free_routes",
        "n_fetchers", "n_changed_links", "n_reached_links", "rates_turn", "traffic_turn",
        "moved_bytes", "cross_rack_bytes", "local_bytes", "fetch_ms",
    ]  # fmt: skip
    return np.dtype(
        [(name, np.int64) for name in whole]
        + [
            ("reserved_ms", np.int64, (n_resources,)),
            ("used_ms", np.int64, (n_resources,)),
            ("reserved_now", np.int64, (n_resources,)),
            ("used_now", np.int64, (n_resources,)),
        ],
        align=True,
    )


SETTING: Final = np.dtype(
    [
        (name, np.int64)
        for name in (
            "seed", "node_heartbeat_ms", "am_heartbeat_ms", "report_ms", "launch_ms", "am_start_ms", "retry_ms",
            "heartbeat_at_end",
            "oom", "cpu", "pmem_check", "max_attempts", "am_max_attempts", "livelock_crashes", "ramp_up_limit_permille",
            "starved_ms", "task_failure_permyriad", "node_mtbf_ms", "node_repair_ms", "off_switch", "quiet_ms",
            "blocking", "reserves", "by_queue", "uses_fit", "has_gate", "has_order_limits", "has_vetoes", "has_pools",
            "sizing_changes", "reports_matter", "container_reports", "key_changes", "score_by_node", "oracle",
            "has_dag", "has_executors", "listens", "veto_ms", "heads_differ", "has_job_dag", "has_use",
            "observed", "poll_ms", "lag_ms", "loss_permyriad", "flights",
            "has_preferences", "logging", "n_bases", "n_combos", "slot_margin", "timer_margin", "log_margin",
            "admission_listens", "sizing_listens", "partition_listens", "ordering_listens", "placement_listens",
            "preemption_every_ms", "preemption_starved_ms", "preemption_round_permille", "fair_dues", "memory_dues",
            "network", "traffic_permille", "traffic_ms", "flow_margin",
            "tick_ms", "has_offer", "has_term", "not_plain",
        )
    ]
)  # fmt: skip


class Levers(NamedTuple):
    """State and parameters of the five levers."""

    admission: LeverState
    admission_params: Any
    sizing: LeverState
    sizing_params: Any
    partition: LeverState
    partition_params: Any
    ordering: LeverState
    ordering_params: Any
    placement: LeverState
    placement_params: Any


class Sim(NamedTuple):
    """Everything the engine reads and writes."""

    shown: View  # what levers see (Numba reserves the attribute name "view")
    levers: Levers
    control: Any  # one row
    setting: Any  # one row, never written
    increment: Any  # [resources]
    task_spec: Any
    segment: Any
    task: Any
    stage_run: Any
    job_run: Any
    node_run: Any
    slot: Any
    due: Any
    due_place: Any  # [slots]: where it is in `due`; -1: not due
    timer: Any
    run: Any  # all buckets' runs, one behind the other
    heap: Any  # and their heaps
    bucket: Any
    lane: Any
    want: Any
    stage_combo: Any  # [stages]: its (lane base, want), as a number
    leaf_bases: Any  # CSR: bases of a queue's lanes: [queues + 1] offsets, then bases
    queue_tried: Any  # [queues]: the walk in which nothing of it could be allocated
    dues: Any  # [queues]
    called: Any  # [slots] or, without preemption, [0]
    after: Any  # stages a stage comes after
    before_first: Any  # CSR of the reverse: [stages + 1]
    before: Any
    job_before_first: Any  # CSR: jobs that come after a job
    job_before: Any
    heartbeat_order: Any  # nodes by heartbeat phase
    heartbeat_first: Any  # [interval + 2]: position there of the first node whose phase is not before this ms
    report_order: Any  # nodes by report phase
    flight: Any  # [nodes * flights]: reports on their way (observation.py)
    flight_container: Any  # [slots * flights]: what they say of each container
    level_first: Any  # CSR: background levels of a node
    level: Any  # from_at_ms, then use per resource
    prefers: Any  # [tasks] or [0]
    running_jobs: Any  # jobs that have containers when the run begins
    running_on: Any  # [tasks] or [0]: the node where it runs then; -1: none
    running_since_ms: Any  # [tasks] or [0]
    edge_bytes: Any  # aligned with after, or [0]
    input_bytes: Any  # [tasks] or [0]
    output_node: Any  # [tasks] or [0]: from its first task on, the nodes where a stage that is done wrote its output
    output_tasks: Any  # and how many of its tasks did so there
    link: Any  # this and the following: network_arrays.py; all empty while the network is off
    route: Any
    flow: Any
    uplink: Any  # [racks]: number of the rack's link up; -1: none
    changed_links: Any
    reached_links: Any
    reached_routes: Any
    link_heap: Any
    fetchers: Any  # slots that fetch and whose flows have not begun
    sources: Any  # [nodes]: those of the task at hand
    bytes_on_node: Any  # [nodes]: all 0 between two uses
    route_from: Any  # [nodes]: 1 + the route from there to the node at hand; all 0 between two uses
    tree: Any  # over the nodes
    full: Any  # wants for which there is no room
    gained: Any  # nodes
    stale: Any  # nodes
    coarse: Any  # nodes
    touched: Any  # nodes
    untold: Any  # nodes
    telling: Any  # nodes, in order: those that tell of ends in this instant
    endings: Any  # (slot, outcome) pairs
    starts: Any  # slots
    asks: Any  # stages
    rekeys: Any  # jobs
    scratch: Any  # int64, for searches
    log: Any
    attempt: Any
