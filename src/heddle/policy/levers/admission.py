"""Who may start: everybody, as many as may run at once, or as many as the AM share of the queue holds."""

from __future__ import annotations

from heddle.model.compilable import callable_too
from heddle.model.reasons import Reason
from heddle.policy.lever import Admission, Parameter

AM_SHARE_USED = int(Reason.AM_SHARE)
ENOUGH_RUN = int(Reason.MAX_RUNNING)


@callable_too
def queue_is_busy(view, job):
    """Whether the job's queue runs as many jobs as it may."""
    queue = view.job["queue"][job]
    most = view.queue["max_running_jobs"][queue]
    return most >= 0 and view.queue["running_jobs"][queue] >= most


@callable_too
def am_share_permille(view, queue, default):
    """What AMs may hold: the queue's own word, or else the policy's."""
    own = view.queue["am_share_permille"][queue]
    return default if own < 0 else own


def max_running(view, state, params, job):
    if view.clock["running_jobs"][0] * 1000 >= params.jobs or queue_is_busy(view, job):
        return ENOUGH_RUN
    return 0


@callable_too
def limit_below(view, leaf, r, of_root):
    """What the leaf could have now: what it holds and what is left above it, within all maxima on the way."""
    limit = of_root
    depth, queue = 0, leaf
    while view.queue["parent"][queue] >= 0:
        depth, queue = depth + 1, view.queue["parent"][queue]
    for above in range(depth - 1, -1, -1):
        queue = leaf
        for _ in range(above):
            queue = view.queue["parent"][queue]
        parent = view.queue["parent"][queue]
        limit = min(limit, view.queue["maximum"][parent, r])
        limit += view.queue["allocated"][queue, r] - view.queue["allocated"][parent, r]
        limit = min(limit, view.queue["maximum"][queue, r])
    return limit


@callable_too
def current_limit(view, leaf, r):
    return limit_below(view, leaf, r, view.clock["root_total"][0, r])


@callable_too
def guarantee_binds(view, leaf):
    """Whether some resource of the guarantee is above the current limit: then AMs have a share of the guarantee."""
    for r in range(view.shape["demand"].shape[1]):
        if view.clock["counts"][0, r] and view.queue["guarantee"][leaf, r] > current_limit(view, leaf, r):
            return True
    return False


def am_share(view, state, params, job):
    """YARN's maximum-am-resource-percent: of what the leaf could have now; the first AM of a leaf always may."""
    if queue_is_busy(view, job):
        return ENOUGH_RUN
    queue = view.job["queue"][job]
    if view.job_spec["has_am"][job] == 0 or view.queue["running_ams"][queue] == 0:
        return 0
    shape = view.stage_spec["shape"][view.job_spec["first_stage"][job]]
    permille = am_share_permille(view, queue, params.percent)
    of_guarantee = guarantee_binds(view, queue)
    for r in range(view.shape["demand"].shape[1]):
        if view.clock["counts"][0, r]:
            base = view.queue["guarantee"][queue, r] if of_guarantee else current_limit(view, queue, r)
            increment = view.clock["increment"][0, r]
            limit = (permille * base + 999) // 1000
            limit = (limit + increment - 1) // increment * increment
            if view.queue["am_allocated"][queue, r] + view.shape["demand"][shape, r] > limit:
                return AM_SHARE_USED
    return 0


ADMIT_ALL = Admission(
    name="admit-all",
    summary="every job may start its AM at once (a burst of AMs can then fill the cluster and deadlock)",
    may_deadlock=True,
)

MAX_RUNNING = Admission(
    name="max-running",
    summary="at most this many jobs run at once",
    admits=max_running,
    parameters=(Parameter("jobs", 10, "jobs that may run at once", low=1),),
    may_deadlock=True,
)

AM_SHARE = Admission(
    name="am-share",
    summary="AMs may hold this share of what their queue could get now (YARN's maximum-am-resource-percent)",
    admits=am_share,
    parameters=(Parameter("percent", 0.1, "share of what the queue could get now, 0 to 1", low=0, high=1),),
    may_deadlock=True,
    of_yarn=True,
)
