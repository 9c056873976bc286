"""Clairvoyant orders: shortest job first, and shortest remaining work first.

Work is dominant share x time, summed over tasks. The true durations come from the workload, so these refuse to run
on a live cluster.
"""

from __future__ import annotations

import numpy as np

from heddle.model.compilable import callable_too
from heddle.model.resources import ONE
from heddle.model.view import EVENT_FINISHED, EVENT_INNER_FINISHED
from heddle.model.workload import EXECUTORS, INNER, TASKS
from heddle.policy.lever import Ordering, State
from heddle.policy.policy import Setup


def prepare(setup: Setup) -> None:
    """Writes each job's total work into its column."""
    view, truth = setup.view, setup.truth
    assert truth is not None
    counts = (view.clock["counts"][0] != 0) & (view.clock["allowance"][0] > 0)
    stages = truth.stages
    amount = truth.shapes[stages["shape"]]
    inner = np.flatnonzero(stages["kind"] == INNER)
    if len(inner):  # an inner task works with its part of the executor that holds it
        executors = np.flatnonzero(stages["kind"] == EXECUTORS)
        of_job = np.zeros(len(truth.jobs), np.int64)
        of_job[stages["job"][executors]] = executors
        host = of_job[stages["job"][inner]]
        amount[inner] = truth.shapes[stages["shape"][host]] // stages["slots"][host][:, None]
    share = (amount[:, counts] * ONE // view.clock["allowance"][0][counts]).max(axis=1, initial=0)
    works = np.isin(stages["kind"], (TASKS, INNER))
    if len(stages):
        first = stages["first_task"]
        total = np.add.reduceat(np.append(truth.tasks["duration_ms"], 0), first) * (stages["n_tasks"] > 0)
        np.add.at(setup.state.job["work"], stages["job"], np.where(works, share * total, 0))


def total_work(view, state, params, stage):
    return state.job["work"][view.stage_spec["job"][stage]]


@callable_too
def executors_of(view, job):
    """The stage of the job's executors."""
    stage = view.job_spec["first_stage"][job]
    while view.stage_spec["kind"][stage] != EXECUTORS:
        stage += 1
    return stage


def finished(view, state, params, kind, node, stage, container, value):
    """A task of the job is done: its share x the time it ran is no longer to do."""
    job = view.stage_spec["job"][stage]
    holder, slots = stage, 1
    if kind == EVENT_INNER_FINISHED:
        holder = executors_of(view, job)
        slots = view.stage_spec["slots"][holder]
    elif view.stage_spec["kind"][stage] != TASKS:
        return 0
    ran_ms = view.clock["now_ms"][0] - view.container["started_at_ms"][container]
    shape = view.stage_spec["shape"][holder]
    share = 0
    for r in range(view.shape["demand"].shape[1]):
        if view.clock["counts"][0, r] and view.clock["allowance"][0, r] > 0:
            share = max(share, view.shape["demand"][shape, r] // slots * ONE // view.clock["allowance"][0, r])
    state.job["work"][job] = max(0, state.job["work"][job] - share * ran_ms)
    return 0


SJF = Ordering(
    name="sjf",
    summary="shortest job first, by its total work",
    key=total_work,
    state=State(job="work"),
    prepare=prepare,
    truth=("workload",),
)

SRPT = Ordering(
    name="srpt",
    summary="shortest remaining work first",
    key=total_work,
    on_event=finished,
    state=State(job="work"),
    listens=(EVENT_FINISHED, EVENT_INNER_FINISHED),
    prepare=prepare,
    truth=("workload",),
    depends_on="allocations",
)
