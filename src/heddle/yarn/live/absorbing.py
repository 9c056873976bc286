"""Compiled loops over columns that bring a live view up to date: one call for all events of a kind.

A loop that runs out of room stops, and answers how far it came; it is called again once there is more. Nothing is
changed for a thing before there is room for it.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from heddle.model.compiled import compiled_live as compiled
from heddle.model.resources import MEMORY, MILLI, VCORES
from heddle.model.view import EVENT_FINISHED, JOB_ADMITTED, JOB_ARRIVED, JOB_FAILED, JOB_FINISHED
from heddle.model.workload import AM, TASKS
from heddle.yarn.live.live_memory import (
    CONTAINERS,
    FIRST,
    FREE_ROWS,
    JOBS,
    LIVE_JOBS,
    MEMBERS,
    N_RESOURCES,
    NOTHING,
    POOLS,
    QUEUES,
    ROOM,
    SHAPES,
    STAGES,
    USED,
    memory_at,
)

ROOM_AT_FIRST: Final = 4  # MapReduce: AM, maps, failed maps, reduces
UNKNOWN_SHAPE: Final = 0  # of an AM that neither asked nor ran yet
NO_ROOM: Final = -1


# Rows.


@compiled
def _is_shape(live, row, memory_mb, vcores):
    return live.shape["demand"][row, MEMORY] == memory_mb and live.shape["demand"][row, VCORES] == vcores


@compiled
def _shape_of(live, memory_mb, vcores):
    """The row of a shape of this size, added if need be; NO_ROOM."""
    for row in range(live.counts[SHAPES]):
        if _is_shape(live, row, memory_mb, vcores):
            return row
    row = live.counts[SHAPES]
    if row == live.rooms[SHAPES]:
        return NO_ROOM
    live.counts[SHAPES] += 1
    live.shape["demand"][row, MEMORY], live.shape["demand"][row, VCORES] = memory_mb, vcores
    return row


@compiled
def _new_block(live, job, room):
    """So many rows of stages, for whose room the caller has seen."""
    first = live.counts[STAGES]
    live.counts[STAGES] += room
    for row in range(first, first + room):
        live.stage_spec["job"][row] = job
        live.stage_spec["slow_start_permille"][row] = -1
        live.stage["asked_at_ms"][row] = NOTHING
    live.block[job, FIRST], live.block[job, ROOM] = first, room
    return first


@compiled
def _move_block(live, job):
    """Into one twice as large; the job's containers follow."""
    old, room = live.block[job, FIRST], live.block[job, ROOM]
    new = _new_block(live, job, 2 * room)
    for i in range(room):
        live.stage_spec[new + i] = live.stage_spec[old + i]
        live.stage[new + i] = live.stage[old + i]
        live.stage_priority[new + i] = live.stage_priority[old + i]
        live.stage["waiting"][old + i] = live.stage["held"][old + i] = 0
    for row in range(live.counts[CONTAINERS]):
        if old <= live.container["stage"][row] < old + room:
            live.container["stage"][row] += new - old


@compiled
def _am_stage(live, job, memory_mb, vcores):
    """The AM's stage, now that its size is known; NO_ROOM."""
    row = live.block[job, FIRST]
    if not _is_shape(live, live.stage_spec["shape"][row], memory_mb, vcores):
        shape = _shape_of(live, memory_mb, vcores)
        if shape == NO_ROOM:
            return NO_ROOM
        live.stage_spec["shape"][row] = shape
    return row


@compiled
def _kind_stage(live, job, has_am, priority, memory_mb, vcores):
    """The stage of this kind of request, added if need be; NO_ROOM."""
    first, used = live.block[job, FIRST], live.block[job, USED]
    for row in range(first + (1 if has_am else 0), first + used):
        if live.stage_priority[row] == priority and _is_shape(live, live.stage_spec["shape"][row], memory_mb, vcores):
            return row
    if (
        live.counts[SHAPES] == live.rooms[SHAPES]
        or live.counts[STAGES] + 2 * live.block[job, ROOM] > live.rooms[STAGES]
    ):
        return NO_ROOM
    if used == live.block[job, ROOM]:
        _move_block(live, job)
    row = live.block[job, FIRST] + used
    live.stage_spec["kind"][row], live.stage_spec["shape"][row] = TASKS, _shape_of(live, memory_mb, vcores)
    live.stage_priority[row] = priority
    live.block[job, USED] = used + 1
    _note_stages(live, job)
    return row


@compiled
def _note_stages(live, job):
    live.job_spec["first_stage"][job] = live.block[job, FIRST]
    live.job_spec["n_stages"][job] = live.block[job, USED]


@compiled
def _member_of(live, queue, user):
    """The row of a user in a leaf, added if need be; NO_ROOM."""
    for row in range(live.counts[MEMBERS]):
        if live.member["queue"][row] == queue and live.member["user"][row] == user:
            return row
    row = live.counts[MEMBERS]
    if row == live.rooms[MEMBERS]:
        return NO_ROOM
    live.counts[MEMBERS] += 1
    live.member["queue"][row], live.member["user"][row] = queue, user
    return row


# Applications.


@compiled
def _ask_stage(live, job, apps, i, asks, a):
    """Until its AM has registered, all that an application waits for is the AM."""
    memory_mb, vcores = asks["size"][a, MEMORY], asks["size"][a, VCORES]
    if apps["has_am"][i] and not apps["running"][i]:
        return _am_stage(live, job, memory_mb, vcores)
    return _kind_stage(live, job, apps["has_am"][i], asks["priority"][a], memory_mb, vcores)


@compiled
def _read_app(live, apps, asks, i, at_ms):
    """What an application waits for, its queue and its priority now. False: there was no room for all of it."""
    job = live.row_of_app[apps["app"][i]]
    live.job["priority"][job] = apps["priority"][i]
    queue, user = live.leaf_of_queue[apps["queue"][i]], apps["user"][i]
    member = live.job["member"][job]
    if member >= live.counts[MEMBERS] or live.member["queue"][member] != queue or live.member["user"][member] != user:
        member = _member_of(live, queue, user)
        if member == NO_ROOM:
            return False
    live.job["queue"][job], live.job["member"][job] = queue, member
    _note_stages(live, job)
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
def arrive(address, apps, asks, order, at_ms, start, events):
    """New jobs, in this order of rows of `apps`; how far it came."""
    live = memory_at(address)
    for k in range(start, order.shape[0]):
        i = order[k]
        app = apps["app"][i]
        job = live.row_of_app[app]
        if job < 0:
            if live.counts[JOBS] == live.rooms[JOBS] or live.counts[STAGES] + ROOM_AT_FIRST > live.rooms[STAGES]:
                return k
            job = live.counts[JOBS]
            live.counts[JOBS] += 1
            live.row_of_app[app], live.job_app[job] = job, app
            live.live_jobs[live.counts[LIVE_JOBS]] = job
            live.counts[LIVE_JOBS] += 1
            first = _new_block(live, job, ROOM_AT_FIRST)
            if apps["has_am"][i]:
                live.stage_spec["kind"][first], live.stage_spec["shape"][first] = AM, UNKNOWN_SHAPE
                live.block[job, USED] = 1
            live.job_spec["submit_at_ms"][job] = apps["started_at_ms"][i]
            live.job_spec["has_am"][job] = apps["has_am"][i]
            live.job_spec["priority"][job] = apps["priority"][i]
            live.job["arrived_at_ms"][job], live.job["state"][job] = at_ms, JOB_ARRIVED
        if not _read_app(live, apps, asks, i, at_ms):
            return k
        _event(events, k, NOTHING, live.job_spec["first_stage"][job], NOTHING, 0)
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


# Containers.


@compiled
def _event(events, k, node, stage, container, value):
    events[k, 0], events[k, 1], events[k, 2], events[k, 3] = node, stage, container, value


@compiled
def _hold(live, container, sign):
    """A container was allocated (1) or is gone (-1)."""
    stage, node = live.container["stage"][container], live.container["node"][container]
    job, shape = live.stage_spec["job"][stage], live.stage_spec["shape"][stage]
    is_am = live.stage_spec["kind"][stage] == AM
    for r in range(N_RESOURCES):
        amount = sign * live.shape["demand"][shape, r]
        live.node["allocated"][node, r] += amount
        live.job["allocated"][job, r] += amount
        if is_am:
            live.am_held[job, r] += amount
    live.node["n_containers"][node] += sign
    live.job["held"][job] += sign
    live.stage["held"][stage] += sign


@compiled
def end_containers(address, containers, rows, kind, events):
    """These rows of `containers` are gone, all in the same way. Unlinked only when levers have heard of it."""
    live = memory_at(address)
    for k in range(rows.shape[0]):
        name = containers["container"][rows[k]]
        row = live.row_of_container[name]
        live.row_of_container[name] = NOTHING
        node, stage = live.container["node"][row], live.container["stage"][row]
        _hold(live, row, -1)
        if kind == EVENT_FINISHED:
            live.stage["done"][stage] += 1
        _event(events, k, node, stage, row, live.node_reports[node] - live.reports_before[row])
    add_up(address)


@compiled
def unlink(address, events):
    """The containers of these events leave the chains of their nodes, and their rows are free."""
    live = memory_at(address)
    for k in range(events.shape[0]):
        row = events[k, 2]
        after, before = live.container["next"][row], live.container["previous"][row]
        if before == NOTHING:
            live.node["first_container"][live.container["node"][row]] = after
        else:
            live.container["next"][before] = after
        if after != NOTHING:
            live.container["previous"][after] = before
        live.container["stage"][row] = NOTHING
        live.free_rows[live.counts[FREE_ROWS]] = row
        live.counts[FREE_ROWS] += 1


@compiled
def allocate(address, containers, rows, at_ms, start, events):
    """These rows of `containers` are new; how far it came."""
    live = memory_at(address)
    for k in range(start, rows.shape[0]):
        i = rows[k]
        job, node = live.row_of_app[containers["app"][i]], live.row_of_node[containers["node"][i]]
        if live.counts[FREE_ROWS] == 0 and live.counts[CONTAINERS] == live.rooms[CONTAINERS]:
            return k
        memory_mb, vcores = containers["size"][i, MEMORY], containers["size"][i, VCORES]
        if containers["is_am"][i]:
            stage = _am_stage(live, job, memory_mb, vcores)
        else:
            has_am = live.job_spec["has_am"][job]
            stage = _kind_stage(live, job, has_am, containers["priority"][i], memory_mb, vcores)
        if stage == NO_ROOM:
            return k
        if live.counts[FREE_ROWS]:
            live.counts[FREE_ROWS] -= 1
            row = live.free_rows[live.counts[FREE_ROWS]]
        else:
            row = live.counts[CONTAINERS]
            live.counts[CONTAINERS] += 1
        for r in range(N_RESOURCES):
            live.container["used"][row, r] = 0
        live.container["allocated_at_ms"][row], live.container["started_at_ms"][row] = at_ms, NOTHING
        live.container["stage"][row], live.container["node"][row] = stage, node
        first = live.node["first_container"][node]
        live.container["next"][row], live.container["previous"][row] = first, NOTHING
        if first != NOTHING:
            live.container["previous"][first] = row
        live.node["first_container"][node] = row
        live.row_of_container[containers["container"][i]] = row
        live.reports_before[row] = live.node_reports[node]
        live.clock["allocations"][0] += 1
        if live.job["state"][job] == JOB_ARRIVED:
            live.job["state"][job] = JOB_ADMITTED
        _hold(live, row, 1)
        _event(events, k, node, stage, row, 0)
    add_up(address)
    return rows.shape[0]


# Nodes.


@compiled
def see_nodes(address, nodes):
    """Totals: of each node, and of those that are there, what they hold where that is more. With none, what all may
    promise."""
    live = memory_at(address)
    n_alive = 0
    for r in range(N_RESOURCES):
        live.clock["total"][0, r] = 0
    for i in range(nodes.shape[0]):
        row = live.row_of_node[nodes["node"][i]]
        n_alive += nodes["alive"][i]
        for r in range(N_RESOURCES):
            live.node["total"][row, r] = nodes["total"][i, r]
            if nodes["alive"][i]:
                live.clock["total"][0, r] += max(nodes["total"][i, r], nodes["allocated"][i, r])
    if n_alive == 0:
        for r in range(N_RESOURCES):
            live.clock["total"][0, r] = live.clock["allowance"][0, r]


@compiled
def _use_that_counts(live, row, nodes, i):
    """What is used of a machine that one node has for itself, as far as it counts against what the node may promise.

    Memory that the operator has set aside, by promising less than the machine has, is there for others: it counts
    only what they use beyond it. Cores are counted in the node's vcores, as many as stand for the whole machine.
    """
    machine_mb = np.int64(0)
    if nodes["memory_share"][i] > 0:  # NaN is not
        machine_mb = np.int64(np.rint(nodes["used_memory_mb"][i] / nodes["memory_share"][i]))
    aside_mb = max(0, machine_mb - live.node["allowance"][row, MEMORY])
    others_mb = max(0, nodes["used_memory_mb"][i] - nodes["containers_memory_mb"][i])
    live.node["used"][row, MEMORY] = nodes["containers_memory_mb"][i] + max(0, others_mb - aside_mb)
    if np.isnan(nodes["cpu_share"][i]):
        live.node["used"][row, VCORES] = np.int64(np.rint(MILLI * nodes["physical_cores_used"][i]))
    else:
        share = np.int64(np.rint(nodes["cpu_share"][i] * live.node["allowance"][row, VCORES]))
        live.node["used"][row, VCORES] = max(live.node["containers_used"][row, VCORES], share)


@compiled
def report(address, nodes, rows, reports, at_ms, events):
    """These rows of `nodes` have reported their use, each so many times."""
    live = memory_at(address)
    for k in range(rows.shape[0]):
        i = rows[k]
        row = live.row_of_node[nodes["node"][i]]
        # The NM counts its containers' CPU in vcores as last told to it, which resizing changes: back to hardware.
        share = nodes["container_vcores_used"][i] * 1000 / max(1, nodes["total"][i, VCORES])
        live.node["containers_used"][row, MEMORY] = nodes["containers_memory_mb"][i]
        live.node["containers_used"][row, VCORES] = np.int64(np.rint(share * live.node["capacity"][row, VCORES]))
        if nodes["shares_host"][i]:
            for r in range(N_RESOURCES):
                live.node["used"][row, r] = live.node["containers_used"][row, r]
        else:
            _use_that_counts(live, row, nodes, i)
        live.node["reported_at_ms"][row] = at_ms
        live.node_reports[row] += reports[k]
        _event(events, k, row, NOTHING, NOTHING, reports[k])


@compiled
def set_alive(address, names, alive, events):
    """These nodes, by the numbers of their names, are lost or have returned."""
    live = memory_at(address)
    for k in range(names.shape[0]):
        row = live.row_of_node[names[k]]
        live.node["alive"][row] = alive
        _event(events, k, row, NOTHING, NOTHING, 0)


# Queues and sums.


@compiled
def set_queues(address, queues):
    """Settings of the RM's queues, their shares of what all nodes may promise now; what it does not list is whole."""
    live = memory_at(address)
    for row in range(live.counts[QUEUES]):
        for r in range(N_RESOURCES):
            live.queue["guarantee"][row, r] = live.queue["maximum"][row, r] = live.clock["total"][0, r]
    for i in range(queues.shape[0]):
        row = live.leaf_of_queue[queues["queue"][i]]
        for r in range(N_RESOURCES):
            total = live.clock["total"][0, r]
            told = queues["guarantee"][i, 0] >= 0
            live.queue["guarantee"][row, r] = (
                queues["guarantee"][i, r] if told else total * queues["guarantee_permille"][i] // MILLI
            )
            told = queues["maximum"][i, 0] >= 0
            live.queue["maximum"][row, r] = (
                queues["maximum"][i, r] if told else total * queues["maximum_permille"][i] // MILLI
            )
        live.queue["user_limit_percent"][row] = queues["user_limit_percent"][i]
        live.queue["user_limit_factor_milli"][row] = queues["user_limit_factor_milli"][i]
        live.queue["max_running_jobs"][row] = queues["max_running_jobs"][i]


@compiled
def add_up(address):
    """All sums over jobs, from their rows: anew, because jobs may change their queue and their pool."""
    live = memory_at(address)
    queue, member, pool, clock = live.queue, live.member, live.pool, live.clock
    for q in range(live.counts[QUEUES]):
        queue["running_jobs"][q] = queue["running_ams"][q] = queue["active_users"][q] = queue["waiting"][q] = 0
        for r in range(N_RESOURCES):
            queue["allocated"][q, r] = queue["am_allocated"][q, r] = 0
    for m in range(live.counts[MEMBERS]):
        member["waiting"][m] = 0
        for r in range(N_RESOURCES):
            member["allocated"][m, r] = 0
    for p in range(live.counts[POOLS]):
        for r in range(N_RESOURCES):
            pool["allocated"][p, r] = pool["waiting"][p, r] = 0
    clock["running_jobs"][0] = 0
    for r in range(N_RESOURCES):
        clock["am_allocated"][0, r] = 0
    for k in range(live.counts[LIVE_JOBS]):
        job = live.live_jobs[k]
        q, m, p = live.job["queue"][job], live.job["member"][job], live.job["pool"][job]
        runs = live.job["state"][job] == JOB_ADMITTED
        has_am_held = False
        for r in range(N_RESOURCES):
            held, am_held = live.job["allocated"][job, r], live.am_held[job, r]
            queue["allocated"][q, r] += held
            member["allocated"][m, r] += held
            pool["allocated"][p, r] += held
            queue["am_allocated"][q, r] += am_held
            clock["am_allocated"][0, r] += am_held
            has_am_held = has_am_held or am_held > 0
        queue["running_jobs"][q] += runs
        clock["running_jobs"][0] += runs
        queue["running_ams"][q] += has_am_held
        queue["waiting"][q] += live.job["waiting"][job]
        member["waiting"][m] += live.job["waiting"][job]
        for row in range(live.block[job, FIRST], live.block[job, FIRST] + live.block[job, USED]):
            waiting = live.stage["waiting"][row]
            if waiting:
                for r in range(N_RESOURCES):
                    pool["waiting"][p, r] += waiting * live.shape["demand"][live.stage_spec["shape"][row], r]
    for m in range(live.counts[MEMBERS]):
        queue["active_users"][member["queue"][m]] += member["waiting"][m] > 0
    for q in range(live.counts[QUEUES] - 1, 0, -1):
        above = queue["parent"][q]
        queue["waiting"][above] += queue["waiting"][q]
        for r in range(N_RESOURCES):
            queue["allocated"][above, r] += queue["allocated"][q, r]


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
