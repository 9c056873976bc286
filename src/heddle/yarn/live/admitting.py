"""Which of the jobs that wait may start: asked one after the other, each that may counting for those behind it.

One compiled loop, because a thousand may wait: it supposes in the view that a job which may start has started, tells
the lever so, goes on to the next, and takes everything it supposed back at the end.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numba import njit, types

from heddle.model.reasons import Reason
from heddle.model.resources import MEMORY
from heddle.model.view import EVENT_ALLOCATED, JOB_ADMITTED, JOB_ARRIVED
from heddle.policy.handle_types import ViewType
from heddle.policy.native import calling
from heddle.yarn.live.live_memory import N_RESOURCES, NOTHING

MAY_START = int(Reason.NONE)

_ask = calling(3 + 1)  # view, state, params, then integers
_tell = calling(3 + 5)
_compiled = njit(cache=True, error_model="numpy")


@_compiled
def most_free_node(view):  # type: ignore[no-untyped-def]
    """Of the nodes that are alive, the first with the most memory free. If all are lost the first of all: where an AM
    is makes no difference then, but levers have no row for nowhere. -1: no node is known."""
    best, most = NOTHING, 0
    for node in range(view.node.shape[0]):
        if view.node["alive"][node]:
            free = view.node["total"][node, MEMORY] - view.node["allocated"][node, MEMORY]
            if best == NOTHING or free > most:
                best, most = node, free
    return 0 if best == NOTHING and view.node.shape[0] > 0 else best


@_compiled
def suppose(view, job, node, sign):  # type: ignore[no-untyped-def]
    """The view counts a job that waits to start as running, its AM as allocated on the node (-1: no longer)."""
    view.job["state"][job] = JOB_ADMITTED if sign > 0 else JOB_ARRIVED
    leaf, member, pool = view.job["queue"][job], view.job["member"][job], view.job["pool"][job]
    view.queue["running_jobs"][leaf] += sign
    view.clock["running_jobs"][0] += sign
    if view.job_spec["has_am"][job] == 0:
        return
    shape = view.stage_spec["shape"][view.job_spec["first_stage"][job]]
    for r in range(view.shape["demand"].shape[1]):
        amount = sign * view.shape["demand"][shape, r]
        view.job["allocated"][job, r] += amount
        view.member["allocated"][member, r] += amount
        view.pool["allocated"][pool, r] += amount
        view.clock["am_allocated"][0, r] += amount
        view.queue["am_allocated"][leaf, r] += amount
        if node != NOTHING:
            view.node["allocated"][node, r] += amount
        queue = leaf
        while queue >= 0:
            view.queue["allocated"][queue, r] += amount
            queue = view.queue["parent"][queue]
    view.queue["running_ams"][leaf] += sign


def _admit_in_turn(admits, event, view, state, params, jobs, answers):  # type: ignore[no-untyped-def]
    nodes = np.full(jobs.shape[0], NOTHING, np.int64)
    for i in range(jobs.shape[0]):
        job = jobs[i]
        answers[i] = _ask(admits, view, state, params, job)
        if answers[i] != MAY_START:
            continue
        nodes[i] = most_free_node(view)
        suppose(view, job, nodes[i], 1)
        if event != 0 and view.job_spec["has_am"][job] and nodes[i] != NOTHING:
            am = view.job_spec["first_stage"][job]
            _tell(event, view, state, params, EVENT_ALLOCATED, nodes[i], am, NOTHING, 0)
    for i in range(jobs.shape[0]):
        if answers[i] == MAY_START:
            suppose(view, jobs[i], nodes[i], -1)


@cache
def compiled_admitting() -> Any:
    """f(admits, event, view, state, params, jobs, answers): hooks by address, an `event` of 0 if the lever does not
    listen to allocations; jobs in the order in which they are asked about."""
    table = types.Array(types.int64, 1, "C")
    given = types.int64, types.int64, ViewType(N_RESOURCES), types.int64, types.int64, table, table
    return njit(types.void(*given), cache=True, error_model="numpy")(_admit_in_turn)
