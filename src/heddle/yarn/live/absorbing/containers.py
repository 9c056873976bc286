"""Containers come and go.

A loop that runs out of room stops, and answers how far it came; it is called again once there is more.
"""

from __future__ import annotations

from heddle.model.compiled import compiled_live as compiled
from heddle.model.resources import MEMORY, VCORES
from heddle.model.view import EVENT_FINISHED, JOB_ADMITTED, JOB_ARRIVED
from heddle.model.workload import AM
from heddle.yarn.live.absorbing.events import write_event
from heddle.yarn.live.absorbing.requests import NO_ROOM, am_stage, is_shape, kind_stage
from heddle.yarn.live.absorbing.sums import add_up
from heddle.yarn.live.live_memory import CONTAINERS, FREE_ROWS, N_RESOURCES, NOTHING, memory_at


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
        if live.node["label"][node] != 0:
            live.held_on_labels[job, r] += amount
    if is_am:
        live.ams[job] += sign
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
        write_event(events, k, node, stage, row, live.node_reports[node] - live.reports_before[row])
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
def _stage_of(live, job, container):
    """Of a new container; NO_ROOM. What looks like an AM of another size beside the AM is a task."""
    if container["is_am"]:
        memory_mb, vcores = container["size"][MEMORY], container["size"][VCORES]
        stage = am_stage(live, job, memory_mb, vcores)
        if stage == NO_ROOM or is_shape(live, live.stage_spec["shape"][stage], memory_mb, vcores):
            return stage
    return kind_stage(live, job, live.job_spec["has_am"][job], container)


@compiled
def allocate(address, containers, rows, at_ms, start, events):
    """These rows of `containers` are new; how far it came."""
    live = memory_at(address)
    for k in range(start, rows.shape[0]):
        i = rows[k]
        job, node = live.row_of_app[containers["app"][i]], live.row_of_node[containers["node"][i]]
        if live.counts[FREE_ROWS] == 0 and live.counts[CONTAINERS] == live.rooms[CONTAINERS]:
            return k
        stage = _stage_of(live, job, containers[i])
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
        write_event(events, k, node, stage, row, 0)
    add_up(address)
    return rows.shape[0]
