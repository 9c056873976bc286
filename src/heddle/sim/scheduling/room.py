"""Where a request fits: which nodes have room, and which of them placement likes best."""

from __future__ import annotations

from heddle.model.compiled import compiled, inlined
from heddle.sim.books import put_on_list
from heddle.sim.codes import WAIT_NO_ROOM
from heddle.sim.numba import hooks
from heddle.sim.numba.units import unit
from heddle.sim.scheduling.busy_queues import next_busy
from heddle.sim.scheduling.node_tree import leftmost_fit
from heddle.sim.scheduling.reports import refresh_free, refresh_tree


@inlined
def fits(sim, n, shape):
    view = sim.shown
    for r in range(view.shape["demand"].shape[1]):
        free = view.node["total"][n, r] - view.node["allocated"][n, r]
        if view.clock["counts"][0, r] and view.shape["demand"][shape, r] > free:
            return False
    return True


@inlined
def _has_label(sim, n, label):
    """Whether node n is there and requests with this label (-1: on any node) may go to it."""
    return sim.shown.node["alive"][n] != 0 and (label < 0 or sim.shown.node["label"][n] == label)


@inlined
def veto(sim, n, stage):
    if sim.setting["has_vetoes"][0]:
        return hooks.place_allows(sim, n, stage)
    return 0


@inlined
def _score(sim, n, stage):
    if sim.setting["score_by_node"][0] and sim.node_run["stale"][n] == 0:
        return sim.tree["score"][sim.tree.shape[0] // 2 + n]
    return hooks.score(sim, n, stage)


@inlined
def _no_room(sim, w):
    """Remembers that this shape and label fit nowhere: nobody need look until nodes gain room, and then only there."""
    put_on_list(sim.want["no_room"], sim.full, sim.control["n_no_room"], w)


@inlined
def _consider(sim, stage, n, best, best_score):
    """The better one of node n, which has room, and the best so far (or minus the reason why there is none)."""
    reason = veto(sim, n, stage)
    if reason != 0:
        return (-reason if best < 0 else best), best_score
    score = _score(sim, n, stage)
    if best < 0 or score > best_score or (score == best_score and n < best):
        return n, score
    return best, best_score


@inlined
def _best_gained(sim, stage, w):
    """The best of the nodes that gained room."""
    shape, label = sim.want["shape"][w], sim.want["label"][w]
    best, best_score = -WAIT_NO_ROOM, 0
    for i in range(sim.control["n_gained"][0]):
        n = sim.gained[i]
        if _has_label(sim, n, label) and fits(sim, n, shape):
            best, best_score = _consider(sim, stage, n, best, best_score)
    return best


@inlined
def gained_has_room(sim, w):
    """Whether this shape and label fit on a node that gained room."""
    label = sim.want["label"][w]
    for i in range(sim.control["n_gained"][0]):
        n = sim.gained[i]
        if _has_label(sim, n, label) and fits(sim, n, sim.want["shape"][w]):
            return True
    return False


@inlined
def _worth_looking(sim, i, shape, best, best_score):
    """Whether below i of the tree there may be room on a node that beats the best so far."""
    view, tree = sim.shown, sim.tree
    for r in range(view.shape["demand"].shape[1]):
        if view.clock["counts"][0, r] and tree["free"][i, r] < view.shape["demand"][shape, r]:
            return False
    if best < 0 or sim.setting["score_by_node"][0] == 0:
        return True
    # Below i the highest score is on no node before the first that has it.
    return tree["score"][i] > best_score or (tree["score"][i] == best_score and tree["node"][i] < best)


@compiled
def _best_in_tree(sim, stage, w):
    """The best of all nodes, looking into those parts of the tree first that promise most."""
    shape, label = sim.want["shape"][w], sim.want["label"][w]
    tree, waiting = sim.tree, sim.climb
    size = tree.shape[0] // 2
    best, best_score = -WAIT_NO_ROOM, 0
    waiting[0] = 1
    n_waiting = 1
    while n_waiting > 0:
        n_waiting -= 1
        i = waiting[n_waiting]
        if not _worth_looking(sim, i, shape, best, best_score):
            continue
        if i < size:
            first = 2 * i
            if sim.setting["score_by_node"][0]:
                first += tree["score"][2 * i + 1] > tree["score"][2 * i]
            waiting[n_waiting] = first ^ 1
            waiting[n_waiting + 1] = first
            n_waiting += 2
        elif _has_label(sim, i - size, label):
            best, best_score = _consider(sim, stage, i - size, best, best_score)
    return best


@inlined
def find_node(sim, stage, w):
    """Of all nodes with the label and room that placement allows, the one of highest score; or minus the reason."""
    sim.want["tested"][w] = sim.control["passes"][0]
    if sim.want["no_room"][w]:
        best = _best_gained(sim, stage, w)
        if best != -WAIT_NO_ROOM:
            sim.want["tested"][w] = -1  # there is room: in the next pass, look everywhere
        return best
    if sim.control["n_stale"][0] > 0:
        refresh_tree(sim)
    if sim.setting["score_by_node"][0]:
        n = sim.tree["node"][1]
        has_room = _has_label(sim, n, sim.want["label"][w]) and fits(sim, n, sim.want["shape"][w])
        if has_room and veto(sim, n, stage) == 0:
            return n
    if sim.control["n_coarse"][0] > 0:
        refresh_free(sim)
    best = _best_in_tree(sim, stage, w)
    if best == -WAIT_NO_ROOM:
        _no_room(sim, w)
    return best


@inlined
def _first_with_room(sim, w, first):
    """The first node from `first` on where this shape and label fit; -1: none."""
    view = sim.shown
    shape, label = sim.want["shape"][w], sim.want["label"][w]
    n = -1
    if sim.want["no_room"][w] == 0:
        n = leftmost_fit(sim.tree, view.node, view.clock["counts"], view.shape["demand"], shape, label, first)
        if n < 0 and first == 0:
            _no_room(sim, w)
    else:
        for i in range(sim.control["n_gained"][0]):
            m = sim.gained[i]
            if m >= first and (n < 0 or m < n) and _has_label(sim, m, label) and fits(sim, m, shape):
                n = m
    if first == 0:
        sim.want["tested"][w] = sim.control["passes"][0] if n < 0 else -1
    return n


@inlined
def _moment(sim):
    """A number of its own for each pass, and for each time in it that anything is allocated."""
    return sim.control["passes"][0] + sim.shown.clock["allocations"][0]


@inlined
def hold(sim, b):
    """Not for want of room: no node need be offered to the head of bucket b until anything is allocated."""
    sim.bucket["held_at"][b] = _moment(sim)


@unit
def next_offer_node(sim, first):
    """The first node from `first` on where anything that waits, and was not held back, would fit; -1: none."""
    refresh_tree(sim)
    if sim.control["n_coarse"][0] > 0:
        refresh_free(sim)
    best, moment = -1, _moment(sim)
    q = 0
    while q >= 0:
        lane = sim.queue_run["first_lane"][q]
        while lane >= 0:
            b = sim.lane["first"][lane]
            while b >= 0:
                if sim.bucket["held_at"][b] != moment:
                    n = _first_with_room(sim, sim.bucket["want"][b], first)
                    if n >= 0 and (best < 0 or n < best):
                        best = n
                b = sim.bucket["next"][b]
            lane = sim.lane["next"][lane]
        q = next_busy(sim, q)
    return best


@compiled
def close_pass(sim):
    """The pass is over: what was not looked at for the nodes that gained room must look everywhere next time."""
    control = sim.control
    if control["n_gained"][0] > 0:
        kept = 0
        for i in range(control["n_no_room"][0]):
            w = sim.full[i]
            if sim.want["tested"][w] == control["passes"][0]:
                sim.full[kept] = w
                kept += 1
            else:
                sim.want["no_room"][w] = 0
        control["n_no_room"][0] = kept
    for i in range(control["n_gained"][0]):
        sim.node_run["gained"][sim.gained[i]] = 0
    control["n_gained"][0] = 0
    control["news"][0] = 0
    if control["changed_in_pass"][0]:
        control["changed_in_pass"][0] = 0
        if sim.setting["uses_fit"][0]:  # perhaps on a node whose turn was over: the next pass begins afresh
            for i in range(control["n_no_room"][0]):
                sim.want["no_room"][sim.full[i]] = 0
            control["n_no_room"][0] = 0
            control["news"][0] = 1
