"""What really happens on a node: true use, CPU rates, saturated memory.

The rules are in docs/semantics.md, "What a container may meet".
"""

from __future__ import annotations

from heddle.model.compiled import compiled, inlined
from heddle.model.resources import MEMORY, ONE, ONE_BITS, VCORES
from heddle.model.workload import PERMYRIAD
from heddle.sim.books import end_later, order_endings, put_on_list
from heddle.sim.codes import END_CRASHED, EXECUTOR, LAUNCHING, WORKING
from heddle.sim.numba.units import unit
from heddle.sim.scheduling.reports import settle_reports
from heddle.sim.timeline import due_clear, due_set

OOM_PAPER, OOM_NEWEST, OOM_LARGEST, OOM_ALL = 0, 1, 2, 3  # order of model.cluster.OOM_RULES
CPU_PROPORTIONAL, CPU_SHARES, CPU_CAP, CPU_PAPER = 0, 1, 2, 3  # order of model.cluster.CPU_RULES


@inlined
def touch(sim, n):
    """Node n's memory and rates must be looked at before the instant ends."""
    put_on_list(sim.node_run["touched"], sim.touched, sim.control["n_touched"], n)


@inlined
def integrate_use(sim, s):
    now = sim.shown.clock["now_ms"][0]
    elapsed = now - sim.slot["integrated_at_ms"][s]
    sim.slot["integrated_at_ms"][s] = now
    for r in range(sim.shown.shape["demand"].shape[1]):
        sim.slot["used_ms"][s, r] += elapsed * sim.slot["use"][s, r]


@unit
def change_use(sim, s, segment, running, with_cpu):
    """Slot s uses what the segment says from now on: nothing of it unless running, no CPU unless with_cpu."""
    view, slot, node_run = sim.shown, sim.slot, sim.node_run
    n = view.container["node"][s]
    settle_reports(sim, n)
    stage = view.container["stage"][s]
    shape = view.stage_spec["shape"][stage]
    host = slot["host"][s]
    if sim.setting["logging"][0]:
        integrate_use(sim, s)
    for r in range(view.shape["demand"].shape[1]):
        use = 0
        if running and segment >= 0 and (with_cpu or r != VCORES):
            use = sim.segment["use"][segment, r]
        seen = use
        if running and segment < 0 and host < 0:
            seen = view.shape["demand"][shape, r]
        if host >= 0 and sim.task_spec["first_segment"][slot["task"][host]] < 0:
            seen = 0  # its executor counts at its reservation
        delta = use - slot["use"][s, r]
        if r == MEMORY and delta > 0:
            slot["rise_at_ms"][s] = view.clock["now_ms"][0]
        if r == MEMORY and host >= 0:
            slot["inner_memory"][host] += delta
        node_run["use"][n, r] += delta
        sim.control["used_now"][0, r] += delta
        node_run["seen"][n, r] += seen - slot["seen"][s, r]
        slot["use"][s, r] = use
        slot["seen"][s, r] = seen
    if (
        node_run["contended"][n]
        or node_run["use"][n, VCORES] > view.node["capacity"][n, VCORES]
        or node_run["use"][n, MEMORY] > view.node["capacity"][n, MEMORY]
        or sim.setting["cpu"][0] == CPU_CAP
    ):
        touch(sim, n)
    return 0


@inlined
def full_rate(sim, n):
    return ONE * sim.node_run["speed_permille"][n] // 1000


@inlined
def set_due(sim, s):
    """When slot s reaches its mark at its present rate."""
    slot = sim.slot
    rate = slot["rate"][s]
    left = slot["mark_us"][s] - slot["work_us"][s]
    if left <= 0:
        due_set(sim, s, sim.shown.clock["now_ms"][0])
        return
    if rate == 0:
        due_clear(sim, s)
        return
    per_ms = 1000 * rate
    wait_ms = (left * ONE + per_ms - 1) // per_ms
    due_set(sim, s, sim.shown.clock["now_ms"][0] + wait_ms)


@compiled
def next_mark(slot, segment, task_spec, s):
    """The work at which something happens to slot s next: end of the shuffle or of a segment, a fault, the end."""
    work = slot["work_us"][s]
    shuffle = slot["shuffle_us"][s]
    if work < shuffle:
        mark = shuffle
    elif slot["segment"][s] < 0 or segment["last"][slot["segment"][s]]:
        mark = slot["end_us"][s]
    else:
        duration_us = 1000 * task_spec["duration_ms"][slot["task"][s]]
        mark = shuffle + duration_us * segment["until_permyriad"][slot["segment"][s]] // PERMYRIAD
    fail = slot["fail_us"][s]
    if fail >= 0 and fail < mark:
        mark = fail
    return mark


@compiled
def container_memory(slot, s):
    return slot["use"][s, MEMORY] + slot["inner_memory"][s]


@compiled
def newer(view, slot, a, b):
    """Whether slot a was started later than slot b; on ties the larger task number is newer."""
    if view.container["started_at_ms"][a] != view.container["started_at_ms"][b]:
        return view.container["started_at_ms"][a] > view.container["started_at_ms"][b]
    return slot["task"][a] > slot["task"][b]


@compiled
def _may_crash(slot, s):
    return slot["host"][s] < 0 and slot["doomed"][s] == 0 and slot["phase"][s] > LAUNCHING


@compiled
def _rose(sim, n, s, now):
    """Whether the memory use of container s on node n, or of an inner task that runs in it, rose in this instant."""
    slot, container = sim.slot, sim.shown.container
    if slot["rise_at_ms"][s] == now:
        return True
    if slot["phase"][s] == EXECUTOR:
        inner = sim.shown.node["first_container"][n]
        while inner >= 0:
            if slot["host"][inner] == s and slot["rise_at_ms"][inner] == now:
                return True
            inner = container["next"][inner]
    return False


@compiled
def _most_worthy_of_crashing(sim, n, largest):
    """The newest container of node n or, if asked for, the one with most memory."""
    view, slot = sim.shown, sim.slot
    victim = -1
    s = view.node["first_container"][n]
    while s >= 0:
        if _may_crash(slot, s):
            if victim < 0:
                victim = s
            elif largest and container_memory(slot, s) != container_memory(slot, victim):
                if container_memory(slot, s) > container_memory(slot, victim):
                    victim = s
            elif newer(view, slot, s, victim):
                victim = s
        s = view.container["next"][s]
    return victim


@unit
def check_memory(sim, n, first):
    """If node n uses more memory than it has: dooms those that the rule names (first) or the newest. Whether any."""
    view, slot = sim.shown, sim.slot
    now = view.clock["now_ms"][0]
    if sim.node_run["use"][n, MEMORY] <= view.node["capacity"][n, MEMORY]:
        return 0
    rule = sim.setting["oom"][0]
    doomed = 0
    if first and rule in (OOM_PAPER, OOM_ALL):
        ending = sim.control["n_endings"][0]
        s = view.node["first_container"][n]
        while s >= 0:
            if _may_crash(slot, s) and (rule == OOM_ALL or _rose(sim, n, s, now)):
                end_later(sim, s, END_CRASHED)
                doomed = 1
            s = view.container["next"][s]
        s = view.node["first_container"][n]
        while s >= 0:  # inner tasks crash with their executor, before an AM that crashes too could take them along
            if slot["host"][s] >= 0 and slot["doomed"][slot["host"][s]] and slot["doomed"][s] == 0:
                end_later(sim, s, END_CRASHED)
            s = view.container["next"][s]
        order_endings(sim, ending)
    if doomed == 0:
        victim = _most_worthy_of_crashing(sim, n, first and rule == OOM_LARGEST)
        if victim >= 0:
            end_later(sim, victim, END_CRASHED)
            doomed = 1
    return doomed


@inlined
def _bring_forward(sim, s, rate):
    """Slot s goes on at another rate."""
    slot = sim.slot
    if slot["rate"][s] == rate or slot["phase"][s] != WORKING:
        return
    now = sim.shown.clock["now_ms"][0]
    work = slot["work_us"][s] + ((now - slot["since_ms"][s]) * 1000 * slot["rate"][s] >> ONE_BITS)
    slot["work_us"][s] = min(work, slot["mark_us"][s])
    slot["since_ms"][s] = now
    slot["rate"][s] = rate
    set_due(sim, s)


@inlined
def _reserved_vcores(sim, s):
    """The vcores that slot s may call its own: an inner task has its slot's part of the executor's."""
    view = sim.shown
    host = sim.slot["host"][s]
    stage = view.container["stage"][s if host < 0 else host]
    reserved = view.shape["demand"][view.stage_spec["shape"][stage], VCORES]
    return reserved if host < 0 else reserved // view.stage_spec["slots"][stage]


@unit
def renew_rates(sim, n):
    """Gives the tasks of node n the CPU rates of now."""
    view, slot = sim.shown, sim.slot
    capacity = view.node["capacity"][n, VCORES]
    demand = sim.node_run["use"][n, VCORES]
    background = sim.node_run["background"][n, VCORES]
    speed = sim.node_run["speed_permille"][n]
    rule = sim.setting["cpu"][0]
    whole = full_rate(sim, n)
    sim.node_run["contended"][n] = demand > capacity
    if rule == CPU_PROPORTIONAL or (demand <= capacity and rule != CPU_CAP):
        rate = whole if demand <= capacity else ONE * capacity * speed // (1000 * demand)
        s = view.node["first_container"][n]
        while s >= 0:
            _bring_forward(sim, s, rate if slot["use"][s, VCORES] > 0 else whole)
            s = view.container["next"][s]
        return 0
    if rule == CPU_CAP:
        capped = background
        s = view.node["first_container"][n]
        while s >= 0:
            capped += min(slot["use"][s, VCORES], _reserved_vcores(sim, s))
            s = view.container["next"][s]
        s = view.node["first_container"][n]
        while s >= 0:
            wanted = slot["use"][s, VCORES]
            given = min(wanted, _reserved_vcores(sim, s))
            if capped > capacity:
                given = given * capacity // capped
            _bring_forward(sim, s, ONE * given * speed // (1000 * wanted) if wanted > 0 else whole)
            s = view.container["next"][s]
        return 0
    # SHARES and PAPER serve one task after another: those served keep their rate in scratch until all are.
    rest = max(0, capacity - background)
    weights = 0
    s = view.node["first_container"][n]
    while s >= 0:
        sim.scratch[s] = 0  # not served yet
        if slot["use"][s, VCORES] > 0:
            weights += max(1, _reserved_vcores(sim, s))
        else:
            _bring_forward(sim, s, whole)
            sim.scratch[s] = 1
        s = view.container["next"][s]
    while True:
        turn = -1
        s = view.node["first_container"][n]
        while s >= 0:
            if sim.scratch[s] == 0:
                if turn < 0:
                    turn = s
                elif rule == CPU_PAPER:
                    if newer(view, slot, turn, s):
                        turn = s
                else:
                    a = slot["use"][s, VCORES] * ONE // max(1, _reserved_vcores(sim, s))
                    b = slot["use"][turn, VCORES] * ONE // max(1, _reserved_vcores(sim, turn))
                    if a < b or (a == b and slot["task"][s] < slot["task"][turn]):
                        turn = s
            s = view.container["next"][s]
        if turn < 0:
            return 0
        wanted = slot["use"][turn, VCORES]
        given = min(wanted, rest)
        if rule == CPU_SHARES:
            weight = max(1, _reserved_vcores(sim, turn))
            given = min(wanted, rest * weight // weights)
            weights -= weight
        rest -= given
        _bring_forward(sim, turn, ONE * given * speed // (1000 * wanted))
        sim.scratch[turn] = 1
    return 0
