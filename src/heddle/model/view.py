"""The view: all that a lever may know, as one structured array per kind of thing.

The simulator fills it as it goes; the controller of a live cluster fills it from REST. It never holds a task's true
duration or use: what is in it, a ResourceManager could know. Levers read `view.node["allocated"][n, r]` - field first,
then index - which means the same compiled and in plain Python.

The number of resources is part of the dtypes (a nested field of fixed length), so that compiled loops over
resources have a constant bound.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np

VIEW_VERSION: Final = 5

# States of a job.
JOB_AWAY: Final = 0  # not arrived
JOB_ARRIVED: Final = 1  # arrived, not admitted
JOB_ADMITTED: Final = 2  # at least one container was allocated
JOB_FINISHED: Final = 3
JOB_FAILED: Final = 4

# Leaf orders, as in Queue.order.
ORDER_DEFAULT: Final = 0
ORDER_FIFO: Final = 1
ORDER_FAIR: Final = 2
ORDER_DRF: Final = 3

# Events, one at a time, to the levers that listen to them.
EVENT_ARRIVED: Final = 0  # a job: `stage` is its first stage
EVENT_ALLOCATED: Final = 1  # a container of `stage` on `node`
EVENT_STARTED: Final = 2  # the container of `stage` on `node` runs
EVENT_FINISHED: Final = 3  # it ended well; value = reports its node made since the allocation
EVENT_STOPPED: Final = 4  # it ended otherwise; value as above
EVENT_REPORTED: Final = 5  # `node` reported its use; value = this many reports in a row said the same
EVENT_NODE_LOST: Final = 6  # `node` takes no more containers; those of a lost one end, each with an event of its own
EVENT_NODE_RETURNED: Final = 7  # `node` is there again
EVENT_INNER_FINISHED: Final = 8  # a task inside an executor, which no scheduler sees: for clairvoyant levers only
EVENT_FETCHED: Final = 9  # the last of a task's input has come, and it begins to work
EVENT_TICK: Final = 10  # time has passed: every `every_ms` of the lever, as long as requests wait
EVENT_NAMES: Final = (
    "arrived", "allocated", "started", "finished", "stopped", "reported", "node-lost", "node-returned",
    "inner-finished", "fetched", "tick",
)  # fmt: skip


def event_constant(kind: int) -> str:
    """`EVENT_NODE_LOST`: the kind as code names it."""
    return f"EVENT_{EVENT_NAMES[kind].upper().replace('-', '_')}"


class View(NamedTuple):
    """What is known of the cluster now. Index of a stage = its request; see docs/decisions/0001."""

    clock: Any  # one row
    node: Any
    queue: Any
    member: Any  # a user in a leaf queue
    pool: Any
    shape: Any  # distinct reservations
    container: Any  # rows are reused; node["first_container"] and container["next"] link those of a node
    job_spec: Any  # as the workload has it
    job: Any
    stage_spec: Any
    stage: Any


class Dtypes(NamedTuple):
    clock: np.dtype[Any]
    node: np.dtype[Any]
    queue: np.dtype[Any]
    member: np.dtype[Any]
    pool: np.dtype[Any]
    shape: np.dtype[Any]
    container: np.dtype[Any]
    job: np.dtype[Any]
    stage: np.dtype[Any]


@cache
def view_dtypes(n_resources: int) -> Dtypes:
    """The dtypes of a view over this many resources."""

    def vector(name: str) -> tuple[str, Any, tuple[int]]:
        return (name, np.int64, (n_resources,))

    return Dtypes(
        clock=np.dtype(
            [
                ("now_ms", np.int64),  # the time: simulated from 0, or the live cluster's
                ("seed", np.int64),  # of the run
                ("allocations", np.int64),  # so far
                vector("allowance"),  # of all nodes, lost ones included
                vector("total"),  # what the nodes that are alive may promise now: for queues, admission and partition
                vector("root_total"),  # that of the nodes without a label, where queues count labels apart: root's
                vector("am_allocated"),  # what application masters hold
                vector("increment"),  # requests and sizes are multiples of this
                ("report_ms", np.int64),  # how often nodes report their use
                ("running_jobs", np.int64),  # admitted and not ended
                ("counts", np.int8, (n_resources,)),  # 1: the calculator looks at this resource
                ("exclusive", np.int8, (n_resources,)),  # 1: never oversold, whatever sizing says
                ("labels_apart", np.int8),  # 1: queues count labels apart; who names none stays off labelled nodes
            ],
            align=True,
        ),
        node=np.dtype(
            [
                vector("capacity"),  # what the machine has
                vector("allowance"),  # what of it the framework may promise, as configured
                vector("total"),  # what may be promised now
                vector("allocated"),  # what containers on it reserve
                vector("used"),  # of the whole node, last report
                vector("containers_used"),  # of our containers, last report
                ("reported_at_ms", np.int64),  # when it reported last
                ("first_container", np.int32),  # newest; -1: none
                ("n_containers", np.int32),  # on it
                ("rack", np.int32),  # its number
                ("label", np.int32),  # its number; 0: none
                ("reserved_for", np.int32),  # a stage; -1: none
                ("alive", np.int8),  # 0: lost, or it is being decommissioned and takes no containers
            ],
            align=True,
        ),
        queue=np.dtype(
            [
                vector("guarantee"),  # its part of what is promised now
                vector("maximum"),  # what it may hold
                vector("min_share"),  # of the Fair scheduler
                vector("allocated"),  # what it holds, with all below
                vector("am_allocated"),  # by application masters
                ("weight_milli", np.int64),  # of the Fair scheduler, in thousandths
                ("am_share_permille", np.int64),  # what application masters may hold of it; -1: as the policy says
                ("user_limit_percent", np.int64),  # minimum-user-limit-percent of the Capacity scheduler
                ("user_limit_factor_milli", np.int64),  # user-limit-factor, in thousandths
                ("max_running_jobs", np.int64),  # -1: no limit
                ("running_jobs", np.int64),  # admitted and not ended
                ("running_ams", np.int64),  # application masters that run
                ("active_users", np.int64),  # users with requests that wait
                ("waiting", np.int64),  # containers asked for and not allocated, in it and below
                ("parent", np.int32),  # -1: it is root
                ("first_child", np.int32),  # -1: it is a leaf
                ("next_sibling", np.int32),  # -1: the last
                ("order", np.int8),  # of a leaf: ORDER_FIFO and so on
            ],
            align=True,
        ),
        member=np.dtype(
            [
                vector("allocated"),  # what the user holds there
                ("waiting", np.int64),  # containers asked for and not allocated
                ("queue", np.int32),  # the leaf
                ("user", np.int32),  # as in view.job_spec
            ],
            align=True,
        ),
        pool=np.dtype(
            [
                vector("limit"),  # as the partition said last
                vector("allocated"),  # what its jobs hold
                vector("waiting"),  # what they ask for
            ],
            align=True,
        ),
        shape=np.dtype(
            [
                vector("demand"),  # of one container
            ],
            align=True,
        ),
        container=np.dtype(
            [
                vector("used"),  # last report
                ("allocated_at_ms", np.int64),  # when it was granted
                ("started_at_ms", np.int64),  # -1: not running yet
                ("stage", np.int32),  # -1: the row is free
                ("node", np.int32),  # where it is
                ("next", np.int32),  # on its node, older; -1: none
                ("previous", np.int32),  # on its node, newer; -1: none
            ],
            align=True,
        ),
        job=np.dtype(
            [
                vector("allocated"),  # what its containers reserve
                ("arrived_at_ms", np.int64),  # when it could first ask
                ("number", np.int64),  # its place among all jobs, by submission; a row may be another job's later
                ("waiting", np.int32),  # containers asked for and not allocated
                ("held", np.int32),  # containers allocated or running
                ("queue", np.int32),  # the leaf it is in now
                ("member", np.int32),  # row of view.member: its user in its queue
                ("priority", np.int32),  # a larger number is more important
                ("pool", np.int16),  # what the partition said when it arrived
                ("state", np.int8),  # JOB_AWAY, JOB_ARRIVED, JOB_ADMITTED, JOB_FINISHED, JOB_FAILED
            ],
            align=True,
        ),
        stage=np.dtype(
            [
                ("asked_at_ms", np.int64),  # -1: never
                ("waiting", np.int32),  # containers asked for and not allocated
                ("held", np.int32),  # containers allocated or running
                ("done", np.int32),  # tasks that finished
                ("queue", np.int32),  # the leaf in which it waits and its containers count: its job's, or of its label
                ("member", np.int32),  # row of view.member: its user there
                ("reason", np.int8),  # why its requests wait (model.reasons.Reason)
            ],
            align=True,
        ),
    )
