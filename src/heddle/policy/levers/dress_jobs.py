"""The jobs that DRESS has heard of, and what those of each pool still want, added up once a round.

A job that has had no container yet wants the same until it gets one. Thousands of them may wait, and adding them all up
in each round would take time in the square of their number: each is added to a sum as it comes. Of the others, all are
looked at: there are no more of them than run, or have just ended.
"""

from __future__ import annotations

from heddle.model.compilable import callable_too
from heddle.model.view import JOB_FINISHED
from heddle.policy.lever import Column, per_resource
from heddle.policy.levers.chains import put_last, take_out_of
from heddle.policy.levers.dress_demand import still_wanted, to_come
from heddle.policy.state import Chain

MOST_LOOKED_AT = 512  # jobs in a round, first come first, for what no event tells

# Jobs that are there are chained in order of arrival; so are those that have had no container; those that have had one
# are chained in any order (number + 1).
JOBS_THERE = (
    *(Column(name) for name in ("next_job", "previous_job", "next_unbegun", "previous_unbegun", "next_begun")),
    *(Column(name) for name in ("is_unbegun", "counted_in", "counted_waiting")),
    *per_resource("counted"),
)
SUMS = (
    *(Column(name) for name in ("first_job", "last_job", "first_unbegun", "last_unbegun", "first_begun")),
    *(Column(name) for name in ("came_since", "came_before")),  # the last round, and the one before it
    *per_resource("of_unbegun", "wanted", length=2),  # by pool
)
CHAINS = (
    Chain("first_job", "next_job", "previous_job", "last_job"),
    Chain("first_unbegun", "next_unbegun", "previous_unbegun", "last_unbegun"),
    Chain("first_begun", "next_begun"),
)


@callable_too
def count_unbegun(view, state, job):
    """A job that has had no container yet wants the same until it gets one: it is added up once."""
    state.job["counted_in"][job], state.job["counted_waiting"][job] = view.job["pool"][job], view.job["waiting"][job]
    for r in range(view.shape["demand"].shape[1]):
        state.job["counted"][job, r] = still_wanted(view, job, r, False)
        state.table["of_unbegun"][0, r, view.job["pool"][job]] += state.job["counted"][job, r]


@callable_too
def count_no_more(view, state, job):
    for r in range(view.shape["demand"].shape[1]):
        state.table["of_unbegun"][0, r, state.job["counted_in"][job]] -= state.job["counted"][job, r]


@callable_too
def comes(view, state, job):
    """The job is the last of both chains."""
    table, jobs = state.table, state.job
    put_last(jobs["next_job"], jobs["previous_job"], table["first_job"], table["last_job"], job)
    put_last(jobs["next_unbegun"], jobs["previous_unbegun"], table["first_unbegun"], table["last_unbegun"], job)
    jobs["is_unbegun"][job] = 1
    table["came_since"][0] += 1
    count_unbegun(view, state, job)


@callable_too
def waits_no_more(view, state, job):
    """A job leaves the chain of those that have had no container."""
    table, jobs = state.table, state.job
    jobs["is_unbegun"][job] = 0
    count_no_more(view, state, job)
    take_out_of(jobs["next_unbegun"], jobs["previous_unbegun"], table["first_unbegun"], table["last_unbegun"], job)


@callable_too
def begins(view, state, job):
    """One of its containers is there, or was."""
    if state.job["is_unbegun"][job]:
        waits_no_more(view, state, job)
        state.job["next_begun"][job] = state.table["first_begun"][0]
        state.table["first_begun"][0] = job + 1


@callable_too
def goes(state, job):
    """It has ended, and leaves the chain of all."""
    table, jobs = state.table, state.job
    take_out_of(jobs["next_job"], jobs["previous_job"], table["first_job"], table["last_job"], job)


@callable_too
def look_at(view, state, job):
    """What no event tells of a job without containers: that it was killed, its pool, that it asks for more."""
    if view.job["state"][job] >= JOB_FINISHED:
        waits_no_more(view, state, job)
        goes(state, job)
    elif (
        state.job["counted_in"][job] != view.job["pool"][job]
        or state.job["counted_waiting"][job] != view.job["waiting"][job]
    ):
        count_no_more(view, state, job)
        count_unbegun(view, state, job)


@callable_too
def look_at_unbegun(view, state):
    """At the first ones; and at those that came since the round before the last one, since a live cluster tells the
    pool of a job only after it has come."""
    table, jobs = state.table, state.job
    looks, job = MOST_LOOKED_AT, table["first_unbegun"][0] - 1
    while job >= 0 and looks > 0:
        after = jobs["next_unbegun"][job]
        look_at(view, state, job)
        looks -= 1
        job = after - 1
    looks, job = table["came_since"][0] + table["came_before"][0], table["last_unbegun"][0] - 1
    while job >= 0 and looks > 0:
        before = jobs["previous_unbegun"][job]
        look_at(view, state, job)
        looks -= 1
        job = before - 1
    table["came_before"][0], table["came_since"][0] = table["came_since"][0], 0


@callable_too
def recount(view, state):
    """What the jobs of each pool still want; those that have ended leave. Not more work than there are running jobs."""
    look_at_unbegun(view, state)
    wanted = state.table["wanted"]
    for pool in range(view.pool.shape[0]):
        for r in range(view.shape["demand"].shape[1]):
            wanted[0, r, pool] = state.table["of_unbegun"][0, r, pool]
    before, job = -1, state.table["first_begun"][0] - 1
    while job >= 0:
        after = state.job["next_begun"][job]
        if view.job["state"][job] < JOB_FINISHED:
            first, pool = view.job_spec["first_stage"][job], view.job["pool"][job]
            for stage in range(first, first + view.job_spec["n_stages"][job]):
                count = to_come(view, stage, False)
                if count != 0:  # most have all that they want
                    for r in range(view.shape["demand"].shape[1]):
                        wanted[0, r, pool] += count * view.shape["demand"][view.stage_spec["shape"][stage], r]
            before = job
        else:
            goes(state, job)
            if before < 0:
                state.table["first_begun"][0] = after
            else:
                state.job["next_begun"][before] = after
        job = after - 1
