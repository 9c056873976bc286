"""What the cluster may promise now, and every queue's part of it (a section of docs/semantics.md).

The sum over the nodes that are alive is kept as they change; queues are told once an instant, before anybody asks.
"""

from __future__ import annotations

from heddle.model.compiled import compiled, inlined
from heddle.sim.codes import LEAVING, LEFT, LOG_RESIZED, ONLY_REPORTS
from heddle.sim.log import note
from heddle.sim.memory.queue_tree import SHARE
from heddle.sim.numba.units import unit
from heddle.sim.scheduling.reports import catch_up_reports, resize


@inlined
def count_node(sim, n, sign):
    """Node n has come (1) or is lost (-1), with all that it may promise."""
    p = sim.node_run["promise"][n]
    sim.promise["n_nodes"][p] += sign
    for r in range(sim.shown.node["total"].shape[1]):
        sim.promise["total"][p, r] += sign * sim.shown.node["total"][n, r]


@compiled
def shrink_leaving(sim, n):
    """Node n, which is being decommissioned, promises what it holds; once that is nothing, it is gone."""
    view, p = sim.shown, sim.node_run["promise"][n]
    for r in range(view.node["total"].shape[1]):
        held = view.node["allocated"][n, r]
        if view.node["total"][n, r] != held:
            sim.promise["total"][p, r] += held - view.node["total"][n, r]
            view.node["total"][n, r] = held
            if sim.setting["logging"][0]:
                note(sim, LOG_RESIZED, r, -1, -1, n, held)
    if sim.node_run["leaving"][n] == LEAVING and view.node["n_containers"][n] == 0:
        sim.node_run["leaving"][n] = LEFT
        sim.promise["n_nodes"][p] -= 1


@inlined
def _children_fit(sim, parent):
    """Whether the amounts that children are guaranteed fit into what the parent is; 0 amounts always do."""
    view, share = sim.shown, sim.queue_share
    for r in range(view.shape["demand"].shape[1]):
        if view.clock["counts"][0, r] and share["amounts_below"][parent, r] > view.queue["guarantee"][parent, r]:
            return False
    return True


@inlined
def _share_among_children(sim, parent):
    """Shares are of the parent's. Amounts are what they are; where they do not fit, they fill it, in proportion."""
    queue, share = sim.shown.queue, sim.queue_share
    fit = _children_fit(sim, parent)
    child = queue["first_child"][parent]
    while child >= 0:
        for r in range(queue["guarantee"].shape[1]):
            amount, of_all = share["guarantee"][child, r], share["amounts_below"][parent, r]
            if amount == SHARE:
                amount = queue["guarantee"][parent, r] * share["guarantee_permille"][child] // 1000
            elif not fit and of_all > 0:
                amount = amount * queue["guarantee"][parent, r] // of_all
            queue["guarantee"][child, r] = amount
            most = share["maximum"][child, r]
            if most == SHARE:
                most = queue["maximum"][parent, r] * share["maximum_permille"][child] // 1000
            queue["maximum"][child, r] = min(most, queue["maximum"][parent, r])
        child = queue["next_sibling"][child]


@inlined
def _promised(sim, p, r):
    """What the nodes counted together in row p may promise; all that they ever may while none of them is there."""
    return sim.promise["total"][p, r] if sim.promise["n_nodes"][p] > 0 else sim.promise["allowance"][p, r]


@inlined
def _set_root(sim, p, r):
    """What root of tree p has of resource r. Whether that is 0: as before, 1: less, 2: more."""
    queue, root = sim.shown.queue, p * sim.setting["queues_per_tree"][0]
    total, before = _promised(sim, p, r), queue["guarantee"][root, r]
    queue["guarantee"][root, r] = queue["maximum"][root, r] = total
    return 0 if total == before else 1 + (total > before)


@inlined
def _set_total(sim, r):
    """What all nodes may promise of resource r; returns as _set_root()."""
    clock, promise = sim.shown.clock, sim.promise
    total, n_nodes = 0, 0
    for p in range(promise.shape[0]):
        total += promise["total"][p, r]
        n_nodes += promise["n_nodes"][p]
    total = total if n_nodes > 0 else clock["allowance"][0, r]
    before = clock["total"][0, r]
    clock["total"][0, r] = total
    return 0 if total == before else 1 + (total > before)


@unit
def share_out(sim):
    """Guarantee and maximum of every queue follow what may be promised, from the roots down."""
    view, control = sim.shown, sim.control
    moved = 0
    for r in range(view.shape["demand"].shape[1]):
        moved |= _set_total(sim, r)
        for p in range(sim.setting["n_trees"][0]):
            moved |= _set_root(sim, p, r)
        view.clock["root_total"][0, r] = view.queue["guarantee"][0, r]
    if moved == 0 and control["shares_moved"][0] == 0:
        return 0
    if moved != 0:
        control["room_moved"][0] = 1
    grew = moved & 2
    control["shares_moved"][0] = 0
    for parent in range(view.queue.shape[0]):  # parents come before their children
        _share_among_children(sim, parent)
    # Who was held back may go now. Less to share may help too: an AM limit may count from another base, and a head that
    # blocks, or for which a node is kept, may be over a limit instead.
    if grew or sim.setting["has_gate"][0] or sim.setting["blocking"][0] or sim.setting["reserves"][0]:
        control["epoch"][0] += 1
        control["news"][0] = 1
    return 1


@inlined
def look_at_promises(sim, now, polled):
    """Once an instant, if anybody waits: all nodes have told what they use, and queues know what they share.

    polled: whether this is an instant even if no report is seen in it."""
    control = sim.control
    if control["waiting"][0] == 0 or control["promised_at_ms"][0] == now or sim.setting["shares_out"][0] == 0:
        return
    if sim.setting["reports_matter"][0]:
        catch_up_reports(sim, now)
    if control["idle"][0] == ONLY_REPORTS and not polled:
        return
    control["promised_at_ms"][0] = now
    if sim.setting["sizes_with_time"][0]:
        for n in range(sim.shown.node.shape[0]):
            if sim.shown.node["alive"][n]:
                resize(sim, n)
    if sim.setting["decommissions"][0]:
        for n in range(sim.shown.node.shape[0]):
            if sim.node_run["leaving"][n]:
                shrink_leaving(sim, n)
    share_out(sim)
