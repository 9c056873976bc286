"""Who goes next: the walk over candidates.

One walk serves all policies: leaf by leaf in the order of the queues lever, it looks at the heads of buckets in the
order of the ordering, and tests each until one can be placed. Offers are of one node (heartbeats, and orderings that
look at the node) or of all.
"""

from __future__ import annotations

from heddle.model.compiled import compiled, inlined
from heddle.sim.codes import (
    AS_CAPACITY,
    LOG_WAIT,
    WAIT_BEHIND,
    WAIT_HELD,
    WAIT_LABEL,
    WAIT_NO_ROOM,
    WAIT_POOL_LIMIT,
    WAIT_QUEUE_LIMIT,
    WAIT_RESERVED,
)
from heddle.sim.log import note
from heddle.sim.numba import hooks
from heddle.sim.numba.units import unit
from heddle.sim.scheduling.line_up import line_up, step_forward
from heddle.sim.scheduling.newcomers import is_held
from heddle.sim.scheduling.reservations import free_node, reserve, stays_kept
from heddle.sim.scheduling.room import find_node, fits, gained_has_room, hold, veto

NOBODY = -1
ENOUGH = -2  # the offer ends here: a blocking head, or a node that is kept


@inlined
def wait(sim, stage, reason):
    """The head of a bucket waits for this reason; written down when it changes."""
    if sim.shown.stage["reason"][stage] != reason:
        sim.shown.stage["reason"][stage] = reason
        if sim.setting["logging"][0]:
            job, waiting = sim.shown.stage_spec["job"][stage], sim.shown.stage["waiting"][stage]
            note(sim, LOG_WAIT, reason, job, stage, -1, waiting)


@inlined
def this_offer(sim, n):
    """A number of its own for the heartbeat of node n in this instant or, without heartbeats, for this ideal pass."""
    by_node = sim.setting["node_heartbeat_ms"][0] > 0
    return sim.control["rounds"][0] * (sim.shown.node.shape[0] + 1) + (n + 1 if by_node else 0)


@inlined
def _held_back(sim, b, stage):
    """Why, apart from room, the head of bucket b may not go: admission, limits of queues, its pool. 0: it may."""
    view = sim.shown
    job = view.stage_spec["job"][stage]
    pool, shape = view.job["pool"][job], view.stage_spec["shape"][stage]
    reason = 0
    if sim.control["hold_ms"][0] > 0 and is_held(sim, stage):
        return WAIT_HELD
    if sim.setting["has_pools"][0]:  # first of all: an admission may look at the limit
        for r in range(view.shape["demand"].shape[1]):
            view.pool["limit"][pool, r] = hooks.limit(sim, pool, r)
    if sim.bucket["gated"][b]:
        reason = hooks.admits(sim, job)
    if reason == 0 and sim.setting["has_queue_limits"][0]:
        reason = hooks.queue_allows(sim, stage)
    if reason == 0 and sim.setting["has_pools"][0]:
        for r in range(view.shape["demand"].shape[1]):
            wanted = view.pool["allocated"][pool, r] + view.shape["demand"][shape, r]
            if view.clock["counts"][0, r] and wanted > view.pool["limit"][pool, r]:
                reason = WAIT_POOL_LIMIT
    return reason


@inlined
def _next_leaf(sim, root, last_root):
    """The leaf queue whose turn it is: from the root down, the child with the smallest key that was not passed over.

    There may be several trees, one for each label; they come one after another.
    """
    view = sim.shown
    walk = sim.control["walk"][0]
    while True:
        while sim.queue_run["tried"][root] == walk or view.queue["waiting"][root] == 0:
            if root == last_root:
                return -1
            root += sim.setting["queues_per_tree"][0]
        q = root
        while view.queue["first_child"][q] >= 0:
            best, best_key = -1, 0
            child = sim.queue_run["first_child"][q]
            while child >= 0:
                if sim.queue_run["tried"][child] != walk:
                    key = hooks.queue_key(sim, child)
                    if best < 0 or key < best_key or (key == best_key and child < best):
                        best, best_key = child, key
                child = sim.queue_run["next"][child]
            if best < 0:
                break
            q = best
        if view.queue["first_child"][q] < 0:
            return q
        sim.queue_run["tried"][q] = walk


@inlined
def _trees_for(sim, n):
    """The roots of the first and the last tree whose requests may go to node n (n < 0: to any). None: one past it."""
    per_tree, n_queues = sim.setting["queues_per_tree"][0], sim.shown.queue.shape[0]
    if n < 0:
        return 0, n_queues - per_tree
    root = sim.shown.node["label"][n] * per_tree
    return root, (root if root < n_queues else -1)


@inlined
def _is_hopeless(sim, b):
    """Whether nothing of bucket b fits anywhere, so that its head need not be looked at: it waits for room."""
    w = sim.bucket["want"][b]
    if sim.want["no_room"][w] == 0:
        return False
    if gained_has_room(sim, w):
        sim.want["tested"][w] = -1  # if something else keeps it back now, it must look everywhere in the next pass
        return False
    sim.want["tested"][w] = sim.control["passes"][0]
    wait(sim, sim.bucket["head"][b], WAIT_NO_ROOM)
    return True


@inlined
def _first_in_leaf(sim, leaf, n):
    """The bucket of the leaf with the smallest (key, turn) at its head among those not passed over in this walk."""
    walk = sim.control["walk"][0]
    skip_hopeless = n < 0 and sim.setting["blocking"][0] == 0
    best, best_key, best_turn = -1, 0, 0
    lane = sim.queue_run["first_lane"][leaf]
    while lane >= 0:
        b = sim.lane["first"][lane]
        while b >= 0:
            if sim.bucket["tried"][b] != walk and not (skip_hopeless and _is_hopeless(sim, b)):
                key, turn = sim.bucket["head_key"][b], sim.bucket["head_turn"][b]
                if best < 0 or key < best_key or (key == best_key and turn < best_turn):
                    best, best_key, best_turn = b, key, turn
            b = sim.bucket["next"][b]
        lane = sim.lane["next"][lane]
    return best


@inlined
def _collect(sim, leaf, n):
    """Puts the buckets of the leaf whose heads could go to node n now into scratch; how many they are."""
    view = sim.shown
    count = 0
    lane = sim.queue_run["first_lane"][leaf]
    while lane >= 0:
        b = sim.lane["first"][lane]
        while b >= 0:
            w = sim.bucket["want"][b]
            stage = sim.bucket["head"][b]
            label = sim.want["label"][w]
            if label >= 0 and view.node["label"][n] != label:
                wait(sim, stage, WAIT_LABEL)
            elif not fits(sim, n, sim.want["shape"][w]):
                wait(sim, stage, WAIT_NO_ROOM)
            else:
                reason = _held_back(sim, b, stage)
                if reason != 0:
                    hold(sim, b)
                else:
                    reason = veto(sim, n, stage)
                if reason != 0:
                    wait(sim, stage, reason)
                else:
                    sim.scratch[3 * count] = b
                    count += 1
            b = sim.bucket["next"][b]
        lane = sim.lane["next"][lane]
    return count


@unit
def best_in_leaf(sim, leaf, n):
    """For orderings that look at the node: of all heads that could go to node n now, the best by key, fit and term."""
    count = _collect(sim, leaf, n)
    if count == 0:
        return NOBODY
    if sim.setting["has_offer"][0]:
        hooks.offer(sim, n)
    sum_key, sum_fit = 0, 0
    min_key, max_key, min_fit, max_fit, min_term, max_term = 0, 0, 0, 0, 0, 0
    for i in range(count):
        b = sim.scratch[3 * i]
        key, stage = sim.bucket["head_key"][b], sim.bucket["head"][b]
        fit = hooks.fit(sim, n, stage)
        term = hooks.term(sim, stage) if sim.setting["has_term"][0] else 0
        sim.scratch[3 * i + 1] = fit
        sim.scratch[3 * i + 2] = term
        min_key = key if i == 0 else min(min_key, key)
        max_key = key if i == 0 else max(max_key, key)
        min_fit = fit if i == 0 else min(min_fit, fit)
        max_fit = fit if i == 0 else max(max_fit, fit)
        min_term = term if i == 0 else min(min_term, term)
        max_term = term if i == 0 else max(max_term, term)
        sum_key += key
        sum_fit += fit
    best, best_value, best_key, best_turn = NOBODY, 0, 0, 0
    for i in range(count):
        b = sim.scratch[3 * i]
        key, turn = sim.bucket["head_key"][b], sim.bucket["head_turn"][b]
        fit, term = sim.scratch[3 * i + 1], sim.scratch[3 * i + 2]
        value = hooks.combine(
            sim, key, fit, term, count, sum_key, sum_fit, min_key, max_key, min_fit, max_fit, min_term, max_term
        )
        if (
            best == NOBODY
            or value > best_value
            or (value == best_value and (key < best_key or (key == best_key and turn < best_turn)))
        ):
            best, best_value, best_key, best_turn = sim.bucket["head"][b], value, key, turn
    return best


@unit
def choose(sim, n):
    """The stage that gets the next container: on node n, or (n < 0) on the node left in control["offer_node"].

    NOBODY: nothing can go. ENOUGH: nothing may go behind what cannot.
    """
    view, control, setting = sim.shown, sim.control, sim.setting
    control["walk"][0] += 1
    walk = control["walk"][0]
    if n >= 0 and view.node["reserved_for"][n] >= 0:
        stage = view.node["reserved_for"][n]
        if not stays_kept(sim, n, stage):
            free_node(sim, n)
    if n >= 0 and view.node["reserved_for"][n] >= 0:
        stage = view.node["reserved_for"][n]
        room = fits(sim, n, view.stage_spec["shape"][stage])
        # Without room no other reason matters; but levers see the limits of pools that they were asked for last.
        if (room or setting["has_pools"][0]) and _held_back(sim, sim.stage_run["bucket"][stage], stage) == 0 and room:
            free_node(sim, n)
            control["offer_over"][0] = setting["reserves"][0] != AS_CAPACITY
            return stage
        return ENOUGH
    leaf, root, last_root = 0, 0, 0
    if setting["by_label"][0]:
        root, last_root = _trees_for(sim, n)
        if root > last_root:
            return NOBODY
    differs = False  # whether somebody was passed over who may go on another node
    lined_up = -1  # how many heads of the leaf are; -1: none has been refused yet, or room is looked for on all nodes
    while True:
        if setting["by_queue"][0] and lined_up < 0:
            leaf = _next_leaf(sim, root, last_root)
            if leaf < 0:
                return NOBODY
        if setting["uses_fit"][0]:
            stage = best_in_leaf(sim, leaf, n)
            if stage != NOBODY:
                return stage
            if setting["reserves"][0] and _reserve_for_leaf(sim, leaf, n):
                return ENOUGH
            if not setting["by_queue"][0]:
                return NOBODY
            sim.queue_run["tried"][leaf] = walk
            continue
        if lined_up < 0:
            b = _first_in_leaf(sim, leaf, n)
        elif lined_up > 0:
            b = step_forward(sim, lined_up)
            lined_up -= 1
        else:
            b = -1
        if b < 0:
            if not setting["by_queue"][0]:
                return NOBODY
            sim.queue_run["tried"][leaf] = walk
            lined_up = -1
            continue
        stage = sim.bucket["head"][b]
        w = sim.bucket["want"][b]
        job = view.stage_spec["job"][stage]
        reason = WAIT_BEHIND
        if setting["blocks_in_job"][0] == 0 or sim.job_run["stopped"][job] != walk:
            reason = _held_back(sim, b, stage)
        elsewhere = n >= 0 and sim.want["label"][w] >= 0 and view.node["label"][n] != sim.want["label"][w]
        if reason == WAIT_QUEUE_LIMIT and n >= 0 and setting["reserves"][0] == AS_CAPACITY and not elsewhere:
            wait(sim, stage, reason)
            sim.queue_run["tried"][leaf] = walk  # nobody of the leaf overtakes a head at the queue's maximum
            lined_up = -1
            continue
        if reason == 0:
            if n < 0:
                found = find_node(sim, stage, w)
                if found >= 0:
                    control["offer_node"][0] = found
                    return stage
                reason = -found
            elif elsewhere:
                reason = WAIT_LABEL
            elif fits(sim, n, sim.want["shape"][w]):
                reason = veto(sim, n, stage)
                if reason == 0:
                    return stage
            else:
                reason = WAIT_NO_ROOM
                if setting["reserves"][0] and reserve(sim, n, stage):
                    wait(sim, stage, WAIT_RESERVED)
                    return ENOUGH
            blocks = setting["blocking"][0] and (n < 0 or reason == WAIT_NO_ROOM)
            if blocks and setting["blocks_in_job"][0]:
                if sim.stage_run["served"][stage] != this_offer(sim, n):
                    sim.job_run["stopped"][job] = walk
            elif blocks:
                wait(sim, stage, reason)
                if setting["by_queue"][0]:
                    sim.queue_run["tried"][leaf] = walk
                    lined_up = -1
                    continue
                if n >= 0 and setting["reserves"][0] == 0 and sim.want["label"][w] < 0 and not differs:
                    control["blocked_epoch"][0] = control["epoch"][0]
                    control["blocked_want"][0] = w
                return ENOUGH
            differs = True
        wait(sim, stage, reason)
        sim.bucket["tried"][b] = walk
        if lined_up < 0 and (n >= 0 or setting["blocks_in_job"][0]):
            lined_up = line_up(sim, leaf)
    return 0


@compiled
def _reserve_for_leaf(sim, leaf, n):
    """Keeps node n for the first head of the leaf, by key, that nothing but room keeps from going there."""
    view = sim.shown
    lined_up = line_up(sim, leaf)
    while lined_up > 0:
        b = step_forward(sim, lined_up)
        lined_up -= 1
        stage, w = sim.bucket["head"][b], sim.bucket["want"][b]
        label = sim.want["label"][w]
        elsewhere = label >= 0 and view.node["label"][n] != label
        lacks_room = not elsewhere and not fits(sim, n, sim.want["shape"][w])
        if lacks_room and _held_back(sim, b, stage) == 0 and reserve(sim, n, stage):
            wait(sim, stage, WAIT_RESERVED)
            return True
    return False
