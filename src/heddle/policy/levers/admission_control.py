"""Admission control (the third paper): AMs start only as far as enough is left for task containers.

A burst of jobs can fill a cluster with AMs that all wait for task containers. Three parts prevent that:

RIC, the collector (`observe`), counts AMs and task containers as they come and go.
RRP, the predictor (`reserve`), says how much to keep for task containers, per resource, C the sum of allowances:
    R = C * avgTC / (avgAMC + avgTC)                  (1), and (2) with averages over what runs now
    R = R * (R + totalAMC) / C                        (3)  when R + totalAMC > C; once, from a fresh (2)
ARC, the controller (`admits`), lets a job start only if C - totalAMC - its AM >= R in every resource that counts; who
must wait is asked about again whenever the host looks at waiting requests.

The text leaves three holes. Before any task runs avgTC is 0, so R is 0 and a burst starts all its AMs: with
`cold_start=declared` the size of a job's own tasks stands in, or its AM's if none is known. C - totalAMC >= R
does not mean that a task fits on any one *node*: rule `placeable` also keeps, for the tasks of every job that runs,
a node with room beside its AMs, and lets a job in whenever no AM is there at all. And jobs with small AMs could
pass one with a large AM for ever: a job may pass the first one that waits only if that one's larger AM still has room.

Beyond the paper: the reserve says how many AMs *may* run, not how many are of use. Where AMs and tasks are of one size
half of the cluster goes to AMs, though a few jobs have tasks enough for all of it. With `backlog` a further job starts
only while the tasks in hand - those that run or wait, and those that starting jobs will ask for - are no more than what
fits beside the AMs and this share of it again: enough not to run dry while an AM starts, and no more.
"""

from __future__ import annotations

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
    JOB_ARRIVED,
    JOB_FINISHED,
)
from heddle.model.workload import AM, INNER
from heddle.policy.lever import Admission, Parameter, State, per_resource
from heddle.policy.levers.admission import queue_is_busy
from heddle.policy.policy import Setup

HELD_BACK = int(Reason.NOT_ADMITTED)
ENOUGH_RUN = int(Reason.MAX_RUNNING)
PLACEABLE, DECLARED = 0, 0  # the first choice of `rule`, of `cold_start`
UNBOUNDED = -1000  # the word for `backlog`, in thousandths


def prepare(setup: Setup) -> dict[str, Any]:
    n_labels = int(setup.view.stage_spec["label"].max(initial=0)) + 1
    setup.state.table["last"] = -1
    return {"largest": np.zeros(n_labels * MAX_RESOURCES)}


@callable_too
def am_demand(view, job, r):
    return view.shape["demand"][view.stage_spec["shape"][view.job_spec["first_stage"][job]], r]


@callable_too
def first_waiting(view, state):
    """The first job, by number, that waits for its AM; -1: none."""
    for job in range(state.table["first"][0], state.table["last"][0] + 1):
        if view.job_spec["has_am"][job] and view.job["state"][job] == JOB_ARRIVED:
            return job
    return -1


@callable_too
def lost_ams(view, state, r):
    """What AMs reserve that were lost and will be back without asking; r < 0: how many there are."""
    total = 0
    job = state.table["newest"][0] - 1 if state.table["n_lost"][0] > 0 else -1
    while job >= 0:
        if state.job["lost"][job] and view.job["state"][job] < JOB_FINISHED:
            total += 1 if r < 0 else am_demand(view, job, r)
        job = state.job["next"][job] - 1
    return total


@callable_too
def declared_tasks(view, job, r):
    """What the job's own task containers reserve in all, as far as they are known, and how many there are."""
    first = view.job_spec["first_stage"][job]
    total, count = 0, 0
    for stage in range(first, first + view.job_spec["n_stages"][job]):
        if view.stage_spec["kind"][stage] != AM and view.stage_spec["kind"][stage] != INNER:
            n_tasks = view.stage_spec["n_tasks"][stage]
            count += n_tasks
            total += n_tasks * view.shape["demand"][view.stage_spec["shape"][stage], r]
    return total, count


@callable_too
def reserve(view, state, params, job, r):
    """RRP: what must stay for task containers when this job asks to start its AM."""
    total_am = view.clock["am_allocated"][0, r] + lost_ams(view, state, r)
    n_ams = state.table["n_ams"][0] + lost_ams(view, state, -1)
    average_am = total_am // n_ams if n_ams > 0 else am_demand(view, job, r)
    average_task = 0
    if state.table["n_tasks"][0] > 0:
        allocated = 0
        for pool in range(view.pool.shape[0]):
            allocated += view.pool["allocated"][pool, r]
        average_task = (allocated - view.clock["am_allocated"][0, r]) // state.table["n_tasks"][0]
    elif params.cold_start == DECLARED:
        total_task, n_tasks = declared_tasks(view, job, r)
        average_task = total_task // n_tasks if n_tasks > 0 else am_demand(view, job, r)
    capacity = view.clock["allowance"][0, r]
    wanted = 0
    if average_task > 0:
        wanted = capacity * average_task // (average_am + average_task)  # (1), (2)
    if wanted + total_am > capacity > 0:
        wanted += wanted * (wanted + total_am - capacity) // capacity  # (3): wanted * (wanted + total_am) // capacity
    return wanted


@callable_too
def reserve_stays(view, state, params, job, ahead):
    """ARC: whether what AMs leave is at least the reserve once this job's AM runs, and that of the job ahead of it."""
    for r in range(view.shape["demand"].shape[1]):
        if view.clock["counts"][0, r]:
            left = view.clock["allowance"][0, r] - view.clock["am_allocated"][0, r] - lost_ams(view, state, r)
            left -= am_demand(view, job, r)
            if ahead >= 0:
                left -= am_demand(view, ahead, r)
            if left < reserve(view, state, params, job, r):
                return False
    return True


@callable_too
def largest_of_job(view, job, label, r):
    """The most that one of the job's tasks with this label reserves."""
    largest = 0
    first = view.job_spec["first_stage"][job]
    for stage in range(first, first + view.job_spec["n_stages"][job]):
        kind = view.stage_spec["kind"][stage]
        if kind != AM and kind != INNER and view.stage_spec["label"][stage] == label:
            largest = max(largest, view.shape["demand"][view.stage_spec["shape"][stage], r])
    return largest


@callable_too
def largest_task(view, state, job, label, r):
    """Of the tasks with this label, of jobs that run and of this one."""
    largest = largest_of_job(view, job, label, r)
    if state.table["n_lost"][0] == 0:
        return max(largest, state.largest[label * MAX_RESOURCES + r])
    other = state.table["newest"][0] - 1  # of those without an AM some may have ended, and nobody said so
    while other >= 0:
        if view.job["state"][other] < JOB_FINISHED:
            largest = max(largest, largest_of_job(view, other, label, r))
        other = state.job["next"][other] - 1
    return largest


@callable_too
def task_has_room(view, state, job, ahead):
    """Whether, wherever the AMs to come are placed, each running job's tasks find a node with room beside its AMs.

    So it is if one node holds them all and the task; or if more nodes have room for the task than AMs are to come.
    """
    n_to_come = 1 + (ahead >= 0) + lost_ams(view, state, -1)
    for label in range(state.largest.shape[0] // MAX_RESOURCES):
        n_nodes = 0
        is_used = 0
        for r in range(view.shape["demand"].shape[1]):
            is_used = max(is_used, largest_task(view, state, job, label, r))
        enough = is_used == 0
        for node in range(view.node.shape[0]):
            if view.node["alive"][node] == 0 or (label != 0 and view.node["label"][node] != label):
                continue
            fits, holds_all = True, True
            for r in range(view.shape["demand"].shape[1]):
                if view.clock["counts"][0, r]:
                    room = view.node["allowance"][node, r] - state.node["ams"][node, r]
                    room -= largest_task(view, state, job, label, r)
                    to_come = am_demand(view, job, r) + lost_ams(view, state, r)
                    if ahead >= 0:
                        to_come += am_demand(view, ahead, r)
                    fits = fits and room >= 0
                    holds_all = holds_all and room >= to_come
            n_nodes += fits
            if holds_all or n_nodes > n_to_come:
                enough = True
                break
        if not enough:
            return False
    return True


@callable_too
def work_of(view, job, r, with_done):
    """What a job's tasks that run or wait reserve, and those that are done if wanted; -1: it has not asked yet."""
    first = view.job_spec["first_stage"][job]
    total, count = 0, 0
    for stage in range(first, first + view.job_spec["n_stages"][job]):
        if view.stage_spec["kind"][stage] != AM and view.stage_spec["kind"][stage] != INNER:
            in_hand = view.stage["waiting"][stage] + view.stage["held"][stage]
            count += in_hand + view.stage["done"][stage]
            if with_done:
                in_hand += view.stage["done"][stage]
            total += in_hand * view.shape["demand"][view.stage_spec["shape"][stage], r]
    return total if count > 0 else -1


@callable_too
def more_is_wanted(view, state, params, job):
    """Whether the tasks in hand leave something to do for those of a further job, before or while its AM starts."""
    for r in range(view.shape["demand"].shape[1]):
        if view.clock["counts"][0, r] == 0:
            continue
        in_hand, known, n_known, n_unknown = 0, 0, 0, 0
        other = state.table["newest"][0] - 1
        while other >= 0:
            if view.job["state"][other] < JOB_FINISHED:
                work = work_of(view, other, r, False)
                if work >= 0:
                    in_hand += work
                    known += work_of(view, other, r, True)
                    n_known += 1
                else:
                    work, n_tasks = declared_tasks(view, other, r)
                    in_hand += work
                    n_unknown += n_tasks == 0
            other = state.job["next"][other] - 1
        if n_unknown > 0 and n_known == 0:
            return False  # nobody can tell yet how much jobs ask for
        if n_known > 0:
            in_hand += n_unknown * (known // n_known)
        room = view.clock["allowance"][0, r] - view.clock["am_allocated"][0, r] - lost_ams(view, state, r)
        room -= am_demand(view, job, r)
        if in_hand > room + room * params.backlog // 1000:
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


@callable_too
def learn_sizes(view, state, job):
    """The job runs: its tasks count among the largest."""
    for label in range(state.largest.shape[0] // MAX_RESOURCES):
        for r in range(view.shape["demand"].shape[1]):
            state.largest[label * MAX_RESOURCES + r] = largest_task(view, state, job, label, r)


@callable_too
def leaves(view, state, job):
    """The job has ended: it is taken out of the chain, and the largest tasks are those of the others."""
    after, before = state.job["next"][job], state.job["previous"][job]
    if before > 0:
        state.job["next"][before - 1] = after
    else:
        state.table["newest"][0] = after
    if after > 0:
        state.job["previous"][after - 1] = before
    state.table["n_lost"][0] -= state.job["lost"][job]
    state.job["runs"][job] = state.job["lost"][job] = 0
    for i in range(state.largest.shape[0]):
        state.largest[i] = 0
    other = state.table["newest"][0] - 1
    while other >= 0:
        learn_sizes(view, state, other)
        other = state.job["next"][other] - 1


@callable_too
def drop_failed(view, state):
    """Jobs that ended without an AM, because theirs was lost once too often."""
    job = state.table["newest"][0] - 1 if state.table["n_lost"][0] > 0 else -1
    while job >= 0:
        after = state.job["next"][job] - 1
        if state.job["lost"][job] and view.job["state"][job] >= JOB_FINISHED:
            leaves(view, state, job)
        job = after


@callable_too
def am_comes(view, state, job):
    state.table["n_lost"][0] -= state.job["lost"][job]
    state.job["lost"][job] = 0
    if state.job["runs"][job] == 0:
        newest = state.table["newest"][0]
        state.job["runs"][job], state.job["previous"][job], state.job["next"][job] = 1, 0, newest
        if newest > 0:
            state.job["previous"][newest - 1] = job + 1
        state.table["newest"][0] = job + 1
        learn_sizes(view, state, job)
    first = first_waiting(view, state)
    state.table["first"][0] = first if first >= 0 else state.table["last"][0] + 1


@callable_too
def observe_task(view, state, stage, sign):
    """Whether the reserve may have become smaller."""
    job = view.stage_spec["job"][stage]
    count = state.table["n_tasks"][0] + sign
    state.table["n_tasks"][0] = count
    shape = view.stage_spec["shape"][stage]
    smaller = count <= 1
    for r in range(view.shape["demand"].shape[1]):
        demand = view.shape["demand"][shape, r]
        if state.job["runs"][job]:  # a live cluster tells what a job's tasks want only when it asks for them
            at = view.stage_spec["label"][stage] * MAX_RESOURCES + r
            state.largest[at] = max(state.largest[at], demand)
        allocated = -view.clock["am_allocated"][0, r]
        for pool in range(view.pool.shape[0]):
            allocated += view.pool["allocated"][pool, r]
        smaller = smaller or demand * count < allocated
    return smaller


def observe(view, state, params, kind, node, stage, container, value):
    """RIC: AMs of each node, task containers of all, jobs that run and jobs that wait."""
    drop_failed(view, state)
    if kind == EVENT_NODE_RETURNED:
        return 1
    job = view.stage_spec["job"][stage]
    if kind == EVENT_ARRIVED:
        if view.job_spec["has_am"][job]:
            state.table["first"][0] = min(state.table["first"][0], job) if state.table["last"][0] >= 0 else job
            state.table["last"][0] = max(state.table["last"][0], job)
        return 0
    sign = 1 if kind == EVENT_ALLOCATED else -1
    if view.stage_spec["kind"][stage] != AM:
        smaller = observe_task(view, state, stage, sign) or (sign < 0 and params.backlog != UNBOUNDED)
        return 1 if smaller and first_waiting(view, state) >= 0 else 0
    state.table["n_ams"][0] += sign
    for r in range(view.shape["demand"].shape[1]):
        state.node["ams"][node, r] += sign * am_demand(view, job, r)
    if kind == EVENT_ALLOCATED:
        am_comes(view, state, job)
    elif view.job["state"][job] >= JOB_FINISHED:
        leaves(view, state, job)
    else:
        state.table["n_lost"][0] += 1
        state.job["lost"][job] = 1
    return 1 if first_waiting(view, state) >= 0 else 0  # an AM larger than the average makes the reserve smaller


ADMISSION_CONTROL = Admission(
    name="admission-control",
    summary="AMs start only as far as enough is left for task containers, so that bursts of jobs do not deadlock",
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
            "backlog",
            "unbounded",
            "jobs start while the tasks in hand are at most what fits beside AMs and this share of it again",
            low=0.0,
            high=100.0,
            choices=("unbounded",),
        ),
    ),
    state=State(
        node=per_resource("ams"),  # what they reserve there
        job=("next", "previous", "runs", "lost"),  # jobs that run are chained (number + 1; 0: none); lost: its AM is
        table=("n_ams", "n_tasks", "n_lost", "newest", "first", "last"),  # first to last: jobs that may wait
        lists=("largest",),  # for each label, resource by resource: the largest task of the jobs that run
    ),
    listens=(EVENT_ARRIVED, EVENT_ALLOCATED, EVENT_FINISHED, EVENT_STOPPED, EVENT_NODE_RETURNED),
    prepare=prepare,
    may_deadlock="rule=literal",
)
