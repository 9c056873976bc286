"""Who may start: everybody, as many as may run at once, or as many as the AM share of the queue holds."""

from __future__ import annotations

from heddle.model.compiled import callable_too
from heddle.model.reasons import Reason
from heddle.policy.lever import Lever, Parameter, Question

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
    if view.clock["running_jobs"][0] * 1000 >= params[0] or queue_is_busy(view, job):
        return ENOUGH_RUN
    return 0


def am_share(view, state, params, job):
    """YARN's maximum-am-resource-percent: of the leaf's maximum; the first AM of a leaf always may."""
    if queue_is_busy(view, job):
        return ENOUGH_RUN
    if view.job_spec["has_am"][job] == 0:
        return 0
    queue = view.job["queue"][job]
    shape = view.stage_spec["shape"][view.job_spec["first_stage"][job]]
    permille = am_share_permille(view, queue, params[0])
    too_much = False
    for r in range(view.shape["demand"].shape[1]):
        held = view.queue["am_allocated"][queue, r]
        limit = permille * view.queue["maximum"][queue, r] // 1000
        if view.clock["counts"][0, r] and held + view.shape["demand"][shape, r] > limit:
            too_much = True
    return AM_SHARE_USED if too_much and view.queue["running_ams"][queue] > 0 else 0


ADMIT_ALL = Lever(
    name="admit-all",
    question=Question.ADMISSION,
    summary="every job may start its AM at once (a burst of AMs can then fill the cluster and deadlock)",
    hooks={},
    may_deadlock=True,
)

MAX_RUNNING = Lever(
    name="max-running",
    question=Question.ADMISSION,
    summary="at most so many jobs run at once",
    hooks={"admits": max_running},
    parameters=(Parameter("jobs", 10, "jobs that may run at once", low=1),),
    may_deadlock=True,
)

AM_SHARE = Lever(
    name="am-share",
    question=Question.ADMISSION,
    summary="AMs may hold this part of their queue's maximum (YARN's maximum-am-resource-percent)",
    hooks={"admits": am_share},
    parameters=(Parameter("percent", 0.1, "part of the queue's maximum, 0 to 1", low=0, high=1),),
    may_deadlock=True,
    of_yarn=True,
)
