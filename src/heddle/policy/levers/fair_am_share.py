"""The Fair scheduler's maxAMShare: the AMs of a leaf may hold a part of its fair share.

Where shares are of memory alone nobody has a fair share of vcores. YARN then goes by the vcores that are free at the
moment, so that on a busy cluster jobs wait for their AM although their queue has less than its share.
"""

from __future__ import annotations

from heddle.model.compilable import callable_too
from heddle.model.resources import MEMORY
from heddle.policy.lever import Admission, Parameter
from heddle.policy.levers.admission import AM_SHARE_USED, ENOUGH_RUN, am_share_permille, queue_is_busy
from heddle.policy.levers.fair_shares import fair_share


@callable_too
def free(view, r):
    """Of the whole cluster: queue 0 is root."""
    return max(0, view.clock["root_total"][0, r] - view.queue["allocated"][0, r])


def admits(view, state, params, job):
    if queue_is_busy(view, job):
        return ENOUGH_RUN
    if view.job_spec["has_am"][job] == 0:
        return 0
    leaf = view.job["queue"][job]
    shape = view.stage_spec["shape"][view.job_spec["first_stage"][job]]
    permille = am_share_permille(view, leaf, params.percent)
    for r in range(view.shape["demand"].shape[1]):
        if view.clock["counts"][0, r]:
            base = fair_share(view, leaf, r) if r == MEMORY or params.shares != 0 else 0
            if base == 0:
                base = min(view.queue["maximum"][leaf, r], free(view, r))
            held = view.queue["am_allocated"][leaf, r] + view.shape["demand"][shape, r]
            if held > -(-permille * base // 1000):
                return AM_SHARE_USED
    return 0


FAIR_AM_SHARE = Admission(
    name="fair-am-share",
    summary="AMs may hold this part of their queue's fair share (maxAMShare of YARN's Fair scheduler)",
    admits=admits,
    parameters=(
        Parameter("percent", 0.5, "part of the queue's fair share, 0 to 1", low=0, high=1),
        Parameter(
            "shares",
            "memory",
            "what is shared out: memory (the ordering fair) or every resource that counts (drf)",
            choices=("memory", "dominant"),
        ),
    ),
    may_deadlock=True,
    of_yarn=True,
)
