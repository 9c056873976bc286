"""Inside a leaf of YARN's schedulers: by submission, memory held or dominant share, as the queue's `order` says."""

from __future__ import annotations

from heddle.model.compilable import callable_too
from heddle.model.resources import MEMORY
from heddle.model.view import ORDER_DEFAULT, ORDER_DRF, ORDER_FAIR, ORDER_FIFO
from heddle.policy.lever import Ordering, Parameter
from heddle.policy.shares import dominant_share, submission_rank

ORDERS = (ORDER_FIFO, ORDER_FAIR, ORDER_DRF)  # as the parameter's choices


@callable_too
def key(view, state, params, stage):
    job = view.stage_spec["job"][stage]
    order = view.queue["order"][view.job["queue"][job]]
    if order == ORDER_DEFAULT:
        order = ORDERS[params.default // 1000]
    if order == ORDER_FIFO:
        return submission_rank(view, stage)
    if order == ORDER_DRF:
        return dominant_share(view, view.job["allocated"], job)
    return view.job["allocated"][job, MEMORY]


LEAF_ORDER = Ordering(
    name="leaf-order",
    summary="what each queue's `order` says: by submission, least memory first, or smallest dominant share first",
    key=key,
    parameters=(Parameter("default", "fifo", "for queues that do not say", choices=("fifo", "fair", "drf")),),
    depends_on="allocations",
    of_yarn=True,
)
