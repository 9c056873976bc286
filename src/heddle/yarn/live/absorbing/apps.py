"""Applications come, wait for containers, change queue or priority, and end.

A loop that runs out of room stops, and answers how far it came; it is called again once there is more. Nothing is
changed for an application before there is room for it.
"""

from __future__ import annotations

from heddle.model.compiled import compiled_live as compiled
from heddle.model.resources import MEMORY, VCORES
from heddle.model.view import JOB_ARRIVED, JOB_FAILED, JOB_FINISHED
from heddle.model.workload import AM
from heddle.yarn.live.absorbing.events import write_event
from heddle.yarn.live.absorbing.requests import (
    NO_ROOM,
    ROOM_AT_FIRST,
    UNKNOWN_SHAPE,
    am_stage,
    kind_stage,
    lay_out,
    new_block,
    note_stages,
)
from heddle.yarn.live.absorbing.sums import add_up
from heddle.yarn.live.live_memory import FIRST, JOBS, LEAF, LIVE_JOBS, MEMBER, MEMBERS, NOTHING, STAGES, USED, memory_at


@compiled
def member_of(live, queue, user, likely):
    """The row of a user in a leaf, added if need be; NO_ROOM. `likely`: the row it had, if it had any."""
    if likely < live.counts[MEMBERS] and live.member["queue"][likely] == queue and live.member["user"][likely] == user:
        return likely
    for row in range(live.counts[MEMBERS]):
        if live.member["queue"][row] == queue and live.member["user"][row] == user:
            return row
    row = live.counts[MEMBERS]
    if row == live.rooms[MEMBERS]:
        return NO_ROOM
    live.counts[MEMBERS] += 1
    live.member["queue"][row], live.member["user"][row] = queue, user
    return row


@compiled
def _ask_stage(live, job, apps, i, asks, a):
    """Until its AM has registered, all that an application waits for is the AM."""
    if apps["has_am"][i] and not apps["running"][i]:
        return am_stage(live, job, asks["size"][a, MEMORY], asks["size"][a, VCORES])
    return kind_stage(live, job, apps["has_am"][i], asks[a])


@compiled
def _read_app(live, apps, asks, i, at_ms):
    """What an application waits for, its queue and its priority now. False: there was no room for all of it."""
    job = live.row_of_app[apps["app"][i]]
    live.job["priority"][job] = apps["priority"][i]
    queue, came_to = live.leaf_of_queue[apps["queue"][i]], live.leaf_of_queue[apps["submitted_to"][i]]
    member = member_of(live, queue, apps["user"][i], live.job["member"][job])
    if member == NO_ROOM:
        return False
    live.job["queue"][job], live.job["member"][job] = queue, member
    member = member_of(live, came_to, apps["user"][i], live.came_to[job, MEMBER])
    if member == NO_ROOM:
        return False
    live.came_to[job, LEAF], live.came_to[job, MEMBER] = came_to, member
    note_stages(live, job)
    first_ask, n_asks = apps["first_ask"][i], apps["n_asks"][i]
    for a in range(first_ask, first_ask + n_asks):  # all kinds first: a new one may move the job's rows
        if _ask_stage(live, job, apps, i, asks, a) == NO_ROOM:
            return False
    rows = range(live.block[job, FIRST], live.block[job, FIRST] + live.block[job, USED])
    for row in rows:
        live.stage["waiting"][row] = 0
    for a in range(first_ask, first_ask + n_asks):
        row = _ask_stage(live, job, apps, i, asks, a)
        live.stage["waiting"][row] += asks["containers"][a]
        if live.stage["asked_at_ms"][row] < 0:
            live.stage["asked_at_ms"][row] = at_ms
    waiting = 0
    for row in rows:
        stage = live.stage
        if live.stage_spec["first_task"][row] == NOTHING:  # else how many there are is declared
            live.stage_spec["n_tasks"][row] = stage["waiting"][row] + stage["held"][row] + stage["done"][row]
        waiting += stage["waiting"][row]
    live.job["waiting"][job] = waiting
    return True


@compiled
def read_apps(address, apps, asks, at_ms, start):
    """Takes in all that waits; how far it came."""
    live = memory_at(address)
    for i in range(start, apps.shape[0]):
        if not _read_app(live, apps, asks, i, at_ms):
            return i
    return apps.shape[0]


@compiled
def arrive(address, apps, asks, order, at_ms, start, first_declared, declared, laid_out, events):
    """New jobs, in this order of rows of `apps`; how far it came.

    `declared`: their declared stages, of the k-th those from first_declared[k] on; there is room for their shapes.
    laid_out[k] is the row that the first of them got.
    """
    live = memory_at(address)
    for k in range(start, order.shape[0]):
        i = order[k]
        app = apps["app"][i]
        job = live.row_of_app[app]
        if job < 0:
            of_job = declared[first_declared[k] : first_declared[k + 1]]
            room = ROOM_AT_FIRST + of_job.shape[0]
            if live.counts[JOBS] == live.rooms[JOBS] or live.counts[STAGES] + room > live.rooms[STAGES]:
                return k
            job = live.counts[JOBS]
            live.counts[JOBS] += 1
            live.row_of_app[app], live.job_app[job] = job, app
            live.live_jobs[live.counts[LIVE_JOBS]] = job
            live.counts[LIVE_JOBS] += 1
            first = new_block(live, job, room)
            if apps["has_am"][i]:
                live.stage_spec["kind"][first], live.stage_spec["shape"][first] = AM, UNKNOWN_SHAPE
                live.block[job, USED] = 1
            lay_out(live, job, of_job)
            laid_out[k] = first + apps["has_am"][i]
            live.job_spec["submit_at_ms"][job] = apps["started_at_ms"][i]
            live.job_spec["has_am"][job] = apps["has_am"][i]
            live.job_spec["priority"][job] = apps["priority"][i]
            live.job_spec["iterative"][job] = apps["iterative"][i]
            live.job["arrived_at_ms"][job], live.job["state"][job] = at_ms, JOB_ARRIVED
            live.job["number"][job] = job
        if not _read_app(live, apps, asks, i, at_ms):
            return k
        write_event(events, k, NOTHING, live.job_spec["first_stage"][job], NOTHING, 0)
    add_up(address)
    return order.shape[0]


@compiled
def end_jobs(address, apps, ended):
    """Jobs whose applications are gone; well, unless `ended` says otherwise.

    Their rows stay, but nothing more can be asked for.
    """
    live = memory_at(address)
    for k in range(live.counts[LIVE_JOBS]):
        live.fate[live.live_jobs[k]] = JOB_FINISHED
    for i in range(ended.shape[0]):
        job = live.row_of_app[ended["app"][i]]
        if job >= 0 and not ended["well"][i]:
            live.fate[job] = JOB_FAILED
    for i in range(apps.shape[0]):
        live.fate[live.row_of_app[apps["app"][i]]] = NOTHING
    kept = 0
    for k in range(live.counts[LIVE_JOBS]):
        job = live.live_jobs[k]
        if live.fate[job] == NOTHING:
            live.live_jobs[kept] = job
            kept += 1
            continue
        live.row_of_app[live.job_app[job]] = NOTHING
        live.job["state"][job] = live.fate[job]
        live.job["waiting"][job] = 0
        for row in range(live.block[job, FIRST], live.block[job, FIRST] + live.block[job, USED]):
            live.stage["waiting"][row] = 0
    live.counts[LIVE_JOBS] = kept


@compiled
def waiting_stages(address, found):
    """The rows of requests that wait, ascending; how many."""
    live = memory_at(address)
    n = 0
    for row in range(live.counts[STAGES]):
        if live.stage["waiting"][row] > 0:
            found[n] = row
            n += 1
    return n
