"""The engine's books: sums that must always agree with each other."""

from __future__ import annotations

from heddle.model.compiled import compiled, inlined
from heddle.model.draw import STREAM_AM_HEARTBEAT, draw
from heddle.model.workload import AM
from heddle.sim.codes import ASKED, DONE, HELD, OFFERS
from heddle.sim.numba.units import unit


@inlined
def note_in_pass(sim):
    """What may go where has changed. While offers are made (then: True), nodes whose turn is over have theirs in the
    next pass."""
    in_pass = sim.control["phase"][0] == OFFERS
    if in_pass:
        sim.control["changed_in_pass"][0] = 1
    return in_pass


@inlined
def put_on_list(listed, entries, count, i):
    """Puts i on a list, unless it is there; `listed` says so of each."""
    if listed[i] == 0:
        listed[i] = 1
        entries[count[0]] = i
        count[0] += 1


@inlined
def end_later(sim, s, outcome):
    """Puts slot s on the list of endings."""
    i = sim.control["n_endings"][0]
    sim.endings[2 * i] = s
    sim.endings[2 * i + 1] = outcome
    sim.control["n_endings"][0] = i + 1
    sim.slot["doomed"][s] = 1


@compiled
def order_endings(sim, first):
    """Containers that end together do so in order of number: sorts the list of endings from this entry on."""
    endings, task = sim.endings, sim.slot["task"]
    for i in range(first + 1, sim.control["n_endings"][0]):
        s, outcome = endings[2 * i], endings[2 * i + 1]
        at = i
        while at > first and task[endings[2 * at - 2]] > task[s]:
            endings[2 * at], endings[2 * at + 1] = endings[2 * at - 2], endings[2 * at - 1]
            at -= 1
        endings[2 * at], endings[2 * at + 1] = s, outcome


@inlined
def start_later(sim, s):
    """Puts slot s on the list of starts."""
    sim.starts[sim.control["n_starts"][0]] = s
    sim.control["n_starts"][0] += 1


@unit
def next_am(sim, job, at_ms):
    """The first heartbeat of the job's AM at or after this time."""
    setting, job_spec = sim.setting, sim.shown.job_spec
    interval = setting["am_heartbeat_ms"][0]
    if interval == 0 or job_spec["has_am"][job] == 0:
        return at_ms
    phase = draw(setting["seed"][0], STREAM_AM_HEARTBEAT, sim.shown.job["number"][job]) % interval
    return at_ms + (phase - at_ms) % interval


@inlined
def count_waiting(sim, j, stage, delta):
    """So many more containers of job j, of this stage, are asked for and not allocated."""
    job, member, queue, control = sim.shown.job, sim.shown.member, sim.shown.queue, sim.control
    at = sim.shown.stage
    if delta == 0:
        return
    if sim.setting["has_pools"][0]:
        shape = sim.shown.stage_spec["shape"][stage]
        for r in range(sim.shown.shape["demand"].shape[1]):
            sim.shown.pool["waiting"][job["pool"][j], r] += delta * sim.shown.shape["demand"][shape, r]
    control["waiting"][0] += delta
    job["waiting"][j] += delta
    m = at["member"][stage]
    before = member["waiting"][m]
    member["waiting"][m] = before + delta
    q = at["queue"][stage]
    if before == 0:
        queue["active_users"][q] += 1
    elif before + delta == 0:
        queue["active_users"][q] -= 1
    while q >= 0:
        queue["waiting"][q] += delta
        q = queue["parent"][q]


@inlined
def count_allocated(sim, j, stage, n, sign):
    """A container of the stage was allocated on node n (sign 1) or is gone (sign -1)."""
    view = sim.shown
    shape = view.stage_spec["shape"][stage]
    is_am = view.stage_spec["kind"][stage] == AM
    sim.control["room_moved"][0] = 1
    leaf, member, pool = view.stage["queue"][stage], view.stage["member"][stage], view.job["pool"][j]
    for r in range(view.shape["demand"].shape[1]):
        amount = sign * view.shape["demand"][shape, r]
        view.node["allocated"][n, r] += amount
        view.job["allocated"][j, r] += amount
        view.member["allocated"][member, r] += amount
        view.pool["allocated"][pool, r] += amount
        sim.control["reserved_now"][0, r] += amount
        if is_am:
            view.clock["am_allocated"][0, r] += amount
            view.queue["am_allocated"][leaf, r] += amount
    if is_am:
        view.queue["running_ams"][leaf] += sign
    q = leaf
    while q >= 0:
        for r in range(view.shape["demand"].shape[1]):
            view.queue["allocated"][q, r] += sign * view.shape["demand"][shape, r]
        q = view.queue["parent"][q]
    view.node["n_containers"][n] += sign
    view.job["held"][j] += sign
    view.stage["held"][stage] += sign


@compiled
def take_task(stage_run, task, stage_spec, stage):
    """The waiting task of the stage with the smallest number, taken out of the waiting ones."""
    k = stage_run["returned"][stage]
    if k >= 0:
        stage_run["returned"][stage] = task["link"][k]
        return k
    fresh = stage_run["next_fresh"][stage]
    stage_run["next_fresh"][stage] = fresh + 1
    return stage_spec["first_task"][stage] + fresh


@compiled
def take_this_task(stage_run, task, stage_spec, stage, k):
    """Task k, which waits, taken out of the waiting ones; fresh ones before it count as returned from now on."""
    first = stage_spec["first_task"][stage]
    while first + stage_run["next_fresh"][stage] <= k:
        give_back(stage_run, task, stage, first + stage_run["next_fresh"][stage])
        stage_run["next_fresh"][stage] += 1
    previous = -1
    at = stage_run["returned"][stage]
    while at != k:
        previous = at
        at = task["link"][at]
    if previous < 0:
        stage_run["returned"][stage] = task["link"][k]
    else:
        task["link"][previous] = task["link"][k]


@compiled
def give_back(stage_run, task, stage, k):
    """Task k waits again, in order of number."""
    at = stage_run["returned"][stage]
    if at < 0 or at > k:
        task["link"][k] = at
        stage_run["returned"][stage] = k
        return
    while task["link"][at] >= 0 and task["link"][at] < k:
        at = task["link"][at]
    task["link"][k] = task["link"][at]
    task["link"][at] = k


@compiled
def return_unfinished(stage_run, task, stage_spec, stage):
    """When a job begins (again): lists the tasks before the first fresh one that neither run nor are done; how many."""
    first = stage_spec["first_task"][stage]
    stage_run["returned"][stage] = -1
    count = 0
    for k in range(first + stage_run["next_fresh"][stage] - 1, first - 1, -1):
        if task["state"][k] != DONE and task["state"][k] != HELD:
            task["state"][k] = ASKED
            task["link"][k] = stage_run["returned"][stage]
            stage_run["returned"][stage] = k
            count += 1
    return count
