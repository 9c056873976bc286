"""What is due to queues: how much of what it has each leaf is to give back, so that others get what is theirs.

Worked out anew in every round of preemption (docs/semantics.md, "Preemption between queues"), from the state as it is:
who claims what, what is each queue's own, how the cluster would ideally be shared. What is a queue's own - its
guarantee or its fair share - the queues lever declares (Lever.dues).
"""

from __future__ import annotations

from heddle.model.compiled import compiled, inlined
from heddle.model.resources import MEMORY, ONE
from heddle.sim.codes import FREE, GONE
from heddle.sim.numba import hooks
from heddle.sim.numba.units import unit

# YARN's defaults.
IGNORED_OVER_PERMILLE = 100  # a leaf that has no more than this above what is its own gives nothing
NATURAL_TERMINATION_PERMILLE = 200  # the part of what is to be given back that one round calls for


@inlined
def _is_leaf(sim, q):
    return sim.shown.queue["first_child"][q] < 0


@compiled
def _claim(sim, leaf, b, turn):
    """Adds what the stage of this turn, in bucket b, waits for to its leaf's claims, if it would be served as soon as
    it fitted."""
    view, dues = sim.shown, sim.dues
    if turn == GONE:
        return 0
    stage = sim.stage_of_turn[turn]
    if sim.bucket["gated"][b] and hooks.admits(sim, view.stage_spec["job"][stage]) != 0:
        return 0
    if hooks.user_allows(sim, stage) != 0:
        return 0
    dues["active"][leaf] = 1
    for r in range(view.shape["demand"].shape[1]):
        demand = view.shape["demand"][view.stage_spec["shape"][stage], r]
        dues["claimed"][leaf, r] += demand * view.stage["waiting"][stage]
    return 1


@inlined
def _find_claims(sim):
    """What the requests of each leaf claim. Says how many there are."""
    view, dues, bucket = sim.shown, sim.dues, sim.bucket
    count = 0
    for q in range(view.queue.shape[0]):
        dues["active"][q] = 0
        for r in range(view.shape["demand"].shape[1]):
            dues["claimed"][q, r] = 0
        if not _is_leaf(sim, q) or view.queue["waiting"][q] == 0:
            continue
        lane = sim.queue_run["first_lane"][q]
        while lane >= 0:
            b = sim.lane["first"][lane]
            while b >= 0:
                offset = bucket["offset"][b]
                for place in range(bucket["run_first"][b], bucket["run_end"][b]):
                    count += _claim(sim, q, b, sim.run["turn"][offset + place])
                for place in range(bucket["heap_size"][b]):
                    count += _claim(sim, q, b, sim.heap["turn"][offset + place])
                b = bucket["next"][b]
            lane = sim.lane["next"][lane]
    return count


@inlined
def _find_active(sim):
    """Queues that have a container or a claim, in them or below."""
    view, dues, slot = sim.shown, sim.dues, sim.slot
    for s in range(slot.shape[0]):
        if slot["phase"][s] != FREE and slot["host"][s] < 0:
            dues["active"][view.stage["queue"][view.container["stage"][s]]] = 1
    for q in range(view.queue.shape[0] - 1, 0, -1):
        if dues["active"][q] and view.queue["parent"][q] >= 0:
            dues["active"][view.queue["parent"][q]] = 1


@inlined
def _find_own(sim, r):
    """What nobody may take from a queue: its guarantee, or its fair share among those that are active."""
    queue, dues = sim.shown.queue, sim.dues
    if sim.setting["fair_dues"][0] == 0:
        for q in range(queue.shape[0]):
            dues["own"][q, r] = queue["guarantee"][q, r]
        return
    for parent in range(queue.shape[0]):  # parents come before their children
        if queue["parent"][parent] < 0:
            dues["own"][parent, r] = queue["guarantee"][parent, r]
        weights = 0
        child = queue["first_child"][parent]
        while child >= 0:
            weights += queue["weight_milli"][child] if dues["active"][child] else 0
            child = queue["next_sibling"][child]
        child = queue["first_child"][parent]
        while child >= 0:
            own = 0
            if dues["active"][child]:
                by_weight = dues["own"][parent, r] * queue["weight_milli"][child] // weights
                own = min(queue["maximum"][child, r], max(queue["min_share"][child, r], by_weight))
            dues["own"][child, r] = own
            child = queue["next_sibling"][child]


@inlined
def _find_wanted(sim, r):
    """What a queue should have at least, if there is enough: what it has, or more as far as it is due and claimed."""
    queue, dues = sim.shown.queue, sim.dues
    for q in range(queue.shape[0]):
        dues["wanted"][q] = 0
    for q in range(queue.shape[0] - 1, -1, -1):  # children come before their parents
        used, maximum = queue["allocated"][q, r], queue["maximum"][q, r]
        if _is_leaf(sim, q):
            due = dues["own"][q, r]
            if sim.setting["fair_dues"][0]:
                due = min(due, max(queue["min_share"][q, r], due // 2))
            dues["wanted"][q] = max(used, min(used + dues["claimed"][q, r], due, maximum))
        else:
            dues["wanted"][q] = min(dues["wanted"][q], max(used, maximum))
        if queue["parent"][q] >= 0:
            dues["wanted"][queue["parent"][q]] += dues["wanted"][q]


@compiled
def _fill(sim, parent, amount, r):
    """Shares the amount among the children: each gets its cap or, where that is too much, a part by what is its own.

    Says how much they got.
    """
    queue, dues = sim.shown.queue, sim.dues
    caps, weights = 0, 0
    child = queue["first_child"][parent]
    while child >= 0:
        caps += dues["cap"][child]
        weights += max(1, dues["own"][child, r])
        dues["filled"][child] = -1  # not served yet
        child = queue["next_sibling"][child]
    if caps <= amount:
        child = queue["first_child"][parent]
        while child >= 0:
            dues["filled"][child] = dues["cap"][child]
            child = queue["next_sibling"][child]
        return caps
    rest = amount
    while True:
        turn, turn_rank = -1, 0
        child = queue["first_child"][parent]
        while child >= 0:
            if dues["filled"][child] < 0:
                rank = dues["cap"][child] * ONE // max(1, dues["own"][child, r])
                if turn < 0 or rank < turn_rank:
                    turn, turn_rank = child, rank
            child = queue["next_sibling"][child]
        if turn < 0:
            return amount - rest
        weight = max(1, dues["own"][turn, r])
        dues["filled"][turn] = min(dues["cap"][turn], rest * weight // weights)
        rest -= dues["filled"][turn]
        weights -= weight


@inlined
def _find_ideal(sim, r):
    """How the living nodes would be shared: first up to what is each queue's own, then up to what it wants."""
    queue, dues = sim.shown.queue, sim.dues
    for parent in range(queue.shape[0]):
        if queue["parent"][parent] < 0:
            dues["ideal"][parent] = max(queue["guarantee"][parent, r], queue["allocated"][parent, r])
        child = queue["first_child"][parent]
        while child >= 0:
            dues["cap"][child] = min(dues["wanted"][child], dues["own"][child, r])
            child = queue["next_sibling"][child]
        given = _fill(sim, parent, dues["ideal"][parent], r)
        child = queue["first_child"][parent]
        while child >= 0:
            dues["ideal"][child] = dues["filled"][child]
            dues["cap"][child] = dues["wanted"][child] - dues["filled"][child]
            child = queue["next_sibling"][child]
        _fill(sim, parent, dues["ideal"][parent] - given, r)
        child = queue["first_child"][parent]
        while child >= 0:
            dues["ideal"][child] += dues["filled"][child]
            child = queue["next_sibling"][child]


@inlined
def _find_what_to_obtain(sim, r):
    """How much of what it has each leaf is to give back in this round."""
    queue, dues = sim.shown.queue, sim.dues
    total = 0
    for q in range(queue.shape[0]):
        used, take = queue["allocated"][q, r], 0
        if _is_leaf(sim, q) and used * 1000 > (1000 + IGNORED_OVER_PERMILLE) * dues["own"][q, r]:
            take = max(0, used - dues["ideal"][q])
        dues["obtain"][q, r] = take
        total += take
    most = sim.shown.clock["total"][0, r] * sim.setting["preemption_round_permille"][0] // 1000
    for q in range(queue.shape[0]):
        take = dues["obtain"][q, r]
        if total > most:
            take = take * most // total
        dues["obtain"][q, r] = -(-take * NATURAL_TERMINATION_PERMILLE // 1000)


@unit
def find_dues(sim):
    """Writes down what each leaf is to give back now, and what is its own. 0: nobody claims anything."""
    view, setting = sim.shown, sim.setting
    if _find_claims(sim) == 0:
        return 0  # nobody wants more than they have: all keep it
    if setting["fair_dues"][0]:
        _find_active(sim)
    for r in range(view.shape["demand"].shape[1]):
        looked_at = r == MEMORY or (setting["memory_dues"][0] == 0 and view.clock["counts"][0, r] != 0)
        if looked_at and view.clock["total"][0, r] > 0:
            _find_own(sim, r)
            _find_wanted(sim, r)
            _find_ideal(sim, r)
            _find_what_to_obtain(sim, r)
        else:
            for q in range(view.queue.shape[0]):
                sim.dues["obtain"][q, r] = 0
    return 1
