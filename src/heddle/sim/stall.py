"""Why a run stalled, proven from the engine's last state: a word for programs, then a sentence with the numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from heddle.model.reasons import Reason
from heddle.model.resources import MEMORY, MILLI, VCORES
from heddle.model.view import JOB_AWAY, View
from heddle.model.workload import AM
from heddle.sim import codes
from heddle.sim.memory.tables import Sim

# The word for each reason that is not about room on nodes.
_WORDS = {
    Reason.NOT_ADMITTED: "admission",
    Reason.AM_SHARE: "admission",
    Reason.MAX_RUNNING: "admission",
    Reason.QUEUE_LIMIT: "queue-limit",
    Reason.USER_LIMIT: "user-limit",
    Reason.POOL_LIMIT: "pool-limit",
    Reason.RESERVED: "reserved",
    Reason.LOCALITY: "locality",
    Reason.VETO: "placement",
}


def stall_reason(sim: Sim, status: int) -> str:
    """One line: `am-deadlock: 12 application masters hold 98304 of 98304 MB ...`."""
    if status == codes.LIVELOCK:
        return _livelock(sim)
    view = sim.shown
    waiting = np.flatnonzero(view.stage["waiting"] > 0)
    left = int(sim.control["jobs_left"][0])
    if not view.node["alive"].any():
        gone = "lost or decommissioned" if sim.node_run["leaving"].any() else "lost"
        return f"nodes-lost: all {len(view.node)} nodes are {gone}, {left} jobs are unfinished"
    if not len(waiting):
        return _nothing_asked(view, left)
    for stage in waiting.tolist():
        if found := _can_never_fit(sim, stage):
            return found
    return _am_deadlock(view, waiting) or _held_back(view, waiting)


def _livelock(sim: Sim) -> str:
    view = sim.shown
    task = int(np.argmax(sim.task["crashes"]))
    stage = int(np.searchsorted(view.stage_spec["first_task"], task, side="right")) - 1
    while view.stage_spec["n_tasks"][stage] == 0:  # an empty stage has the number of its follower's first task
        stage -= 1
    node, job = int(sim.task["node"][task]), int(view.stage_spec["job"][stage])
    number = task + int(sim.job_run["tasks_before"][job])
    return (
        f"livelock: task {number} of job {view.job['number'][job]} crashed {sim.task['crashes'][task]} times, "
        f"the last time on node {node} ({view.node['capacity'][node, MEMORY]} MB), while no task finished"
    )


def _nothing_asked(view: View, left: int) -> str:
    away = int((view.job["state"] == JOB_AWAY).sum())
    held = int(view.node["n_containers"].sum())
    return f"no-request: {left} jobs are unfinished ({away} have not arrived), hold {held} containers and ask for none"


def _can_never_fit(sim: Sim, stage: int) -> str:
    """Not even on an empty node, as sizing offers them now; empty if it could."""
    view, job = sim.shown, int(sim.shown.stage_spec["job"][stage])
    demand = view.shape["demand"][view.stage_spec["shape"][stage]]
    label = view.stage_spec["label"][stage]
    any_label = label == 0 and not view.clock["labels_apart"][0]
    right = (view.node["alive"] != 0) & (any_label | (view.node["label"] == label))
    number = stage + int(sim.job_run["stages_before"][job])
    who = f"stage {number} of job {view.job['number'][job]} wants {_amount(demand)}"
    if not right.any():
        which = "its label" if label else "none, as the queues count labels apart"
        return f"label: {who} on a node with {which}; no such node is alive"
    counts = view.clock["counts"][0] != 0
    fits = ((demand <= view.node["total"]) | ~counts).all(axis=1)
    if (right & fits).any():
        return ""
    nodes = np.flatnonzero(right)
    largest = view.node["total"][nodes[int(np.argmax(view.node["total"][nodes, MEMORY]))]]
    return f"request-too-large: {who}; no node offers so much (the largest: {_amount(largest)})"


def _am_deadlock(view: View, waiting: npt.NDArray[Any]) -> str:
    """Jobs whose master runs wait for room that masters hold, on the nodes or in their queue.

    A node that is kept for a request too large for what masters left of it takes no smaller one either.
    """
    masters = view.clock["am_allocated"][0]
    held = np.zeros(len(view.job), bool)
    is_am = view.stage_spec["kind"] == AM
    held[view.stage_spec["job"][is_am & (view.stage["held"] > 0)]] = True
    tasks = waiting[~is_am[waiting] & held[view.stage_spec["job"][waiting]]]
    for_room = np.isin(view.stage["reason"][waiting], (Reason.NO_ROOM, Reason.QUEUE_LIMIT, Reason.RESERVED))
    if not len(tasks) or not for_room.any() or (_fits_now(view, tasks)).any():
        return ""
    count = int(view.stage["held"][is_am].sum())
    allocated = view.node["allocated"].sum(axis=0)
    total = view.clock["allowance"][0]
    tight = VCORES if masters[VCORES] * total[MEMORY] > masters[MEMORY] * total[VCORES] else MEMORY
    scale, unit = (MILLI, "vcores") if tight == VCORES else (1, "MB")
    who = f"{count} application masters hold {masters[tight] / scale:g} of {total[tight] / scale:g} {unit}"
    if (allocated == masters).all():
        return f"am-deadlock: {who} and no task fits"
    other = int(view.node["n_containers"].sum()) - count
    return f"am-deadlock: {who}, {other} containers that wait for tasks hold more, and no task fits"


def _fits_now(view: View, stages: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """For each stage, whether some living node that is kept for nobody has room for one of its containers."""
    counts = view.clock["counts"][0] != 0
    open_to_all = (view.node["alive"] != 0) & (view.node["reserved_for"] < 0)
    free = (view.node["total"] - view.node["allocated"])[open_to_all]
    shapes = view.stage_spec["shape"][stages]
    fits = {
        shape: bool(((view.shape["demand"][shape] <= free) | ~counts).all(axis=1).any())
        for shape in set(shapes.tolist())
    }
    return np.array([fits[shape] for shape in shapes.tolist()], bool)


def _held_back(view: View, waiting: npt.NDArray[Any]) -> str:
    """What most of those that wait wait for, leaving out those that are merely behind others."""
    numbers = np.bincount(view.stage["reason"][waiting], minlength=len(Reason))
    numbers[[Reason.NONE, Reason.BEHIND]] = 0
    wait = f"{int(view.stage['waiting'][waiting].sum())} containers of {len(waiting)} stages wait"
    if not numbers.any():
        return f"no-room: {wait} and none fits"
    reason = Reason(int(np.argmax(numbers)))
    stage = int(waiting[view.stage["reason"][waiting] == reason][0])
    job = int(view.job["number"][view.stage_spec["job"][stage]])
    demand = _amount(view.shape["demand"][view.stage_spec["shape"][stage]])
    word = _WORDS.get(reason, "no-room")
    return f"{word}: {wait}; {reason.phrase} (first: job {job}, {demand}{_limit(view, reason, stage)})"


def _limit(view: View, reason: Reason, stage: int) -> str:
    """The numbers of the limit that holds the stage back, where they are sums of the view."""
    if reason is Reason.QUEUE_LIMIT:
        queue = view.queue[view.stage["queue"][stage]]
        return f"; its queue holds {_amount(queue['allocated'])} of at most {_amount(queue['maximum'])}"
    if reason is Reason.POOL_LIMIT:
        pool = view.pool[view.job["pool"][view.stage_spec["job"][stage]]]
        return f"; its pool holds {_amount(pool['allocated'])} of at most {_amount(pool['limit'])}"
    if reason is Reason.MAX_RUNNING:
        return f"; {int(view.clock['running_jobs'][0])} jobs run"
    return ""


def _amount(vector: npt.NDArray[np.int64]) -> str:
    return f"{vector[MEMORY]} MB and {vector[VCORES] / MILLI:g} vcores"
