"""YARN's Fair scheduler: queues and jobs that have least go first; with memory, or with the dominant resource (DRF)."""

from __future__ import annotations

from heddle.model.compiled import callable_too
from heddle.model.resources import MEMORY, ONE
from heddle.model.view import ORDER_DEFAULT, ORDER_DRF, ORDER_FAIR, ORDER_FIFO
from heddle.policy.lever import Lever, Question
from heddle.policy.queues import above_maximum
from heddle.policy.shares import dominant_share, submission_rank

SATISFIED = 1 << 60  # queues that have their minimum share come after all that do not


@callable_too
def job_key(view, stage, order):
    """A job's place in its leaf queue under this order."""
    job = view.stage_spec["job"][stage]
    if order == ORDER_FIFO:
        return submission_rank(view, stage)
    if order == ORDER_DRF:
        return dominant_share(view, view.job["allocated"], job)
    return view.job["allocated"][job, MEMORY]


@callable_too
def leaf_order(view, stage, default):
    """The order inside the job's leaf queue: its own, or the policy's."""
    order = view.queue["order"][view.job["queue"][view.stage_spec["job"][stage]]]
    return default if order == ORDER_DEFAULT else order


def fair_key(view, state, params, stage):
    return job_key(view, stage, leaf_order(view, stage, ORDER_FAIR))


def drf_key(view, state, params, stage):
    return job_key(view, stage, leaf_order(view, stage, ORDER_DRF))


def fair_queue_key(view, state, params, queue):
    used, due = view.queue["allocated"][queue, MEMORY], view.queue["min_share"][queue, MEMORY]
    if used < due:
        return used * ONE // due
    return SATISFIED + used * 1000 // view.queue["weight_milli"][queue]


def drf_queue_key(view, state, params, queue):
    share, dominant = -1, 0
    for r in range(view.shape["demand"].shape[1]):
        if view.clock["counts"][0, r] and view.clock["allowance"][0, r] > 0:
            mine = view.queue["allocated"][queue, r] * ONE // view.clock["allowance"][0, r]
            if mine > share:
                share, dominant = mine, r
    used, due = view.queue["allocated"][queue, dominant], view.queue["min_share"][queue, dominant]
    if used < due:
        return used * ONE // due
    return SATISFIED + max(share, 0) * 1000 // view.queue["weight_milli"][queue]


def limits(view, state, params, stage):
    return above_maximum(view, stage)


FAIR = Lever(
    name="fair",
    question=Question.ORDERING,
    summary="YARN's Fair scheduler: least memory per weight first, queue by queue",
    hooks={"key": fair_key, "queue_key": fair_queue_key, "allows": limits},
    by_queue=True,
    dues="fair-share",
    dues_in="memory",
    changes="allocation",
    of_yarn=True,
)

DRF = Lever(
    name="drf",
    question=Question.ORDERING,
    summary="dominant resource fairness: smallest dominant share per weight first, queue by queue",
    hooks={"key": drf_key, "queue_key": drf_queue_key, "allows": limits},
    by_queue=True,
    dues="fair-share",
    changes="allocation",
    of_yarn=True,
)
