"""Whole jobs (DRESS, Alg. 3, lines 15 to 20): a job starts only if all that it wants fits its pool.

Limits of pools alone hand out what is free container by container, so that a job starts with a part of what it needs
and waits for the rest. Alg. 3 counts a job in whole or not at all. What the jobs that have started still want is kept
for them. A job that would never fit starts when its pool runs nothing.
"""

from __future__ import annotations

from heddle.model.compilable import callable_too
from heddle.model.reasons import Reason
from heddle.model.view import EVENT_ALLOCATED, JOB_FINISHED
from heddle.policy.lever import Admission, State
from heddle.policy.levers.admission import queue_is_busy
from heddle.policy.levers.dress_demand import still_wanted
from heddle.policy.state import Chain

HELD_BACK = int(Reason.NOT_ADMITTED)
ENOUGH_RUN = int(Reason.MAX_RUNNING)


@callable_too
def next_running(view, state, row, pool):
    """The next job of the pool that runs, of the chain that begins at `row` (number + 1); 0: none."""
    while row > 0 and (view.job["state"][row - 1] >= JOB_FINISHED or view.job["pool"][row - 1] != pool):
        row = state.job["next"][row - 1]
    return row


def admits(view, state, params, job):
    if queue_is_busy(view, job):
        return ENOUGH_RUN
    pool = view.job["pool"][job]
    first = next_running(view, state, state.table["newest"][0], pool)
    if first == 0:
        return 0
    for r in range(view.shape["demand"].shape[1]):
        if view.clock["counts"][0, r]:
            wanted = view.pool["allocated"][pool, r] + still_wanted(view, job, r, False)
            row = first
            while row > 0:
                wanted += still_wanted(view, row - 1, r, False)
                row = next_running(view, state, state.job["next"][row - 1], pool)
            limit = view.clock["total"][0, r]
            if view.pool.shape[0] > 1:  # one pool has no limit
                limit = min(limit, view.pool["limit"][pool, r])
            if wanted > limit:
                return HELD_BACK
    return 0


def observe(view, state, params, kind, node, stage, container, value):
    """A job that gets its first container runs; those that have ended leave the chain."""
    job = view.stage_spec["job"][stage]
    if state.job["runs"][job] == 0:
        before, row = 0, state.table["newest"][0]
        while row > 0:
            after = state.job["next"][row - 1]
            if view.job["state"][row - 1] < JOB_FINISHED:
                before = row
            elif before == 0:
                state.table["newest"][0] = after
            else:
                state.job["next"][before - 1] = after
            row = after
        state.job["runs"][job] = 1
        state.job["next"][job] = state.table["newest"][0]
        state.table["newest"][0] = job + 1
    return 0


WHOLE_JOBS = Admission(
    name="whole-jobs",
    summary="a job starts only if its whole demand fits its pool beside what others hold and still want",
    admits=admits,
    on_event=observe,
    state=State(job=("next", "runs"), table=("newest",), chains=(Chain("newest", "next"),)),  # jobs that run
    listens=(EVENT_ALLOCATED,),
)
