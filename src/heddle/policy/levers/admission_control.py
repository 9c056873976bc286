"""Admission control (the third paper): AMs start only as far as enough is left for task containers.

A burst of jobs can fill a cluster with AMs that all wait for task containers. Three parts prevent that:

RIC, the collector (admission_collector.py), counts AMs and task containers as they come and go.
RRP, the predictor (admission_reserve.py), says how much to keep for task containers, per resource.
ARC, the controller (`admits`), lets a job start only if what AMs leave, its own included, is at least that in every
resource that counts; who must wait is asked about again whenever the host looks at waiting requests.

What is left in sum need not fit on any one node: rule `placeable` also keeps a node with room for a task
(admission_room.py), and lets a job in whenever no AM is there at all. And jobs with small AMs could pass one with a
large AM for ever: a job may pass the first one that waits only if that one's larger AM still has room.
Beyond the paper, `backlog` (admission_backlog.py) and `capacity=usable`. `admission-control-scaled` has equation (3).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from heddle.model.compilable import callable_too
from heddle.model.reasons import Reason
from heddle.model.resources import MAX_RESOURCES
from heddle.model.view import (
    EVENT_ALLOCATED,
    EVENT_ARRIVED,
    EVENT_FINISHED,
    EVENT_NODE_RETURNED,
    EVENT_STOPPED,
    EVENT_TICK,
)
from heddle.model.workload import AM
from heddle.policy.lever import Admission, Parameter
from heddle.policy.levers.admission import queue_is_busy
from heddle.policy.levers.admission_backlog import more_is_wanted
from heddle.policy.levers.admission_collector import COLLECTED, am_event, drop_failed, first_waiting, task_event
from heddle.policy.levers.admission_reserve import am_demand, left_for_ams, lost_ams, scale_up
from heddle.policy.levers.admission_room import task_has_room
from heddle.policy.policy import Setup

HELD_BACK = int(Reason.NOT_ADMITTED)
ENOUGH_RUN = int(Reason.MAX_RUNNING)
PLACEABLE = 0  # the first choice of `rule`
UNBOUNDED = -1000  # the word for `backlog`, in thousandths
PERIOD_MS = 1000  # of equation (3): a heartbeat


def prepare(setup: Setup) -> dict[str, Any]:
    n_labels = int(setup.view.stage_spec["label"].max(initial=0)) + 1
    setup.state.table["last"] = -1
    return {name: np.zeros(n_labels * MAX_RESOURCES) for name in COLLECTED.lists}


@callable_too
def reserve_stays(view, state, params, job, ahead):
    """Whether what AMs leave is at least the reserve once this job's AM runs, and that of the job ahead of it."""
    for r in range(view.shape["demand"].shape[1]):
        if view.clock["counts"][0, r]:
            wanted = am_demand(view, job, r)
            if ahead >= 0:
                wanted += am_demand(view, ahead, r)
            if wanted > left_for_ams(view, state, params, job, r):
                return False
    return True


def admits(view, state, params, job):
    if queue_is_busy(view, job):
        return ENOUGH_RUN
    if view.job_spec["has_am"][job] == 0:
        return 0
    placeable = params.rule == PLACEABLE
    if placeable and state.table["n_ams"][0] + lost_ams(view, state, -1) == 0:
        return 0
    first = first_waiting(view, state)
    ahead = -1
    if first >= 0:
        for r in range(view.shape["demand"].shape[1]):
            if view.clock["counts"][0, r] and am_demand(view, first, r) > am_demand(view, job, r):
                ahead = first
    if not reserve_stays(view, state, params, job, ahead):
        return HELD_BACK
    if placeable and not task_has_room(view, state, job, ahead):
        return HELD_BACK
    if params.backlog != UNBOUNDED and not more_is_wanted(view, state, params, job):
        return HELD_BACK
    return 0


def observe(view, state, params, kind, node, stage, container, value):
    drop_failed(view, state)
    if kind == EVENT_NODE_RETURNED:
        return 1
    if kind == EVENT_TICK:
        return 1 if scale_up(view, state, params) else 0
    job = view.stage_spec["job"][stage]
    if kind == EVENT_ARRIVED:
        if view.job_spec["has_am"][job]:
            state.table["first"][0] = min(state.table["first"][0], job) if state.table["last"][0] >= 0 else job
            state.table["last"][0] = max(state.table["last"][0], job)
        return 0
    smaller = True  # an AM larger than the average makes the reserve smaller
    if view.stage_spec["kind"][stage] == AM:
        am_event(view, state, kind, node, job)
    else:
        ended = kind != EVENT_ALLOCATED
        smaller = task_event(view, state, stage, -1 if ended else 1) or (ended and params.backlog != UNBOUNDED)
    return 1 if smaller and first_waiting(view, state) >= 0 else 0


ADMISSION_CONTROL = Admission(
    name="admission-control",
    summary="AMs start only while enough is left for task containers, so that bursts of jobs do not deadlock",
    admits=admits,
    on_event=observe,
    parameters=(
        Parameter(
            "rule",
            "placeable",
            "placeable also keeps a node with room for a task; literal looks at sums alone, and can stall",
            choices=("placeable", "literal"),
        ),
        Parameter(
            "cold_start",
            "declared",
            "the size of tasks before any runs: as the job declares, or none (then a burst starts all its AMs)",
            choices=("declared", "none"),
        ),
        Parameter(
            "capacity",
            "allowance",
            "C: what all nodes may promise; or usable: what of each node the smallest AMs and tasks can fill",
            choices=("allowance", "usable"),
        ),
        Parameter(
            "backlog",
            "unbounded",
            "jobs start while running and waiting tasks are at most what fits beside AMs plus this share of it",
            low=0.0,
            high=100.0,
            choices=("unbounded",),
        ),
    ),
    state=COLLECTED,
    listens=(EVENT_ARRIVED, EVENT_ALLOCATED, EVENT_FINISHED, EVENT_STOPPED, EVENT_NODE_RETURNED),
    prepare=prepare,
    may_deadlock="rule=literal",
)

ADMISSION_CONTROL_SCALED = replace(
    ADMISSION_CONTROL,
    name="admission-control-scaled",
    summary="the same, but equation (3) enlarges the reserve for a second where AMs hold more than it leaves",
    listens=(*ADMISSION_CONTROL.listens, EVENT_TICK),
    every_ms=PERIOD_MS,
)
