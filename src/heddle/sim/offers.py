"""Who gets what: the walk over candidates, the search for a node, and the allocation.

One walk serves all orderings: it looks at the heads of buckets, queue by queue where the ordering asks for that, and
tests each until one can be placed. Offers are of one node (heartbeats, and orderings that look at the node) or of all.
"""

from __future__ import annotations

from heddle.model.compiled import compiled, inlined
from heddle.model.reasons import Reason
from heddle.model.view import EVENT_ALLOCATED, JOB_ADMITTED, JOB_ARRIVED
from heddle.model.workload import AM
from heddle.sim import hooks
from heddle.sim.arrays import LOG_ADMITTED, LOG_ALLOCATED, LOG_WAIT
from heddle.sim.books import count_allocated, count_waiting, next_am, note, start_later, take_task, take_this_task
from heddle.sim.events import tell_levers
from heddle.sim.lifecycle import ask_soon, early_waiting, is_early, new_slot, rekey_later
from heddle.sim.node_tree import leftmost_fit
from heddle.sim.reports import node_changed, refresh_tree, resize, settle_reports
from heddle.sim.requests import remove
from heddle.sim.timeline import due_set
from heddle.sim.units import unit

NO_ROOM = int(Reason.NO_ROOM)
LABEL = int(Reason.LABEL)
POOL_LIMIT = int(Reason.POOL_LIMIT)
RESERVED = int(Reason.RESERVED)
NONE = int(Reason.NONE)

NOBODY = -1
ENOUGH = -2  # the offer ends here: a blocking head, or a node that is kept


@inlined
def _wait(sim, stage, reason):  # type: ignore[no-untyped-def]
    """The head of a bucket waits for this reason; written down when it changes."""
    if sim.shown.stage["reason"][stage] != reason:
        sim.shown.stage["reason"][stage] = reason
        if sim.setting["logging"][0]:
            job, waiting = sim.shown.stage_spec["job"][stage], sim.shown.stage["waiting"][stage]
            note(sim, LOG_WAIT, reason, job, stage, -1, -1, 0, waiting)


@inlined
def _held_back(sim, b, stage):  # type: ignore[no-untyped-def]
    """Why, apart from room, the head of bucket b may not go: admission, limits of the ordering, its pool. 0: it may."""
    view = sim.shown
    job = view.stage_spec["job"][stage]
    reason = 0
    if sim.bucket["gated"][b]:
        reason = hooks.admits(sim, job)
    if reason == 0 and sim.setting["has_order_limits"][0]:
        reason = hooks.order_allows(sim, stage)
    if reason == 0 and sim.setting["has_pools"][0]:
        pool, shape = view.job["pool"][job], view.stage_spec["shape"][stage]
        for r in range(view.shape["demand"].shape[1]):
            limit = hooks.limit(sim, pool, r)
            view.pool["limit"][pool, r] = limit
            if view.clock["counts"][0, r] and view.pool["allocated"][pool, r] + view.shape["demand"][shape, r] > limit:
                reason = POOL_LIMIT
    return reason


@inlined
def _fits(sim, n, shape):  # type: ignore[no-untyped-def]
    view = sim.shown
    for r in range(view.shape["demand"].shape[1]):
        free = view.node["total"][n, r] - view.node["allocated"][n, r]
        if view.clock["counts"][0, r] and view.shape["demand"][shape, r] > free:
            return False
    return True


@inlined
def _has_label(sim, n, label):  # type: ignore[no-untyped-def]
    """Whether node n is there and requests with this label may go to it."""
    return sim.shown.node["alive"][n] != 0 and (label == 0 or sim.shown.node["label"][n] == label)


@inlined
def _veto(sim, n, stage):  # type: ignore[no-untyped-def]
    if sim.setting["has_vetoes"][0]:
        return hooks.place_allows(sim, n, stage)
    return 0


@inlined
def _score(sim, n, stage):  # type: ignore[no-untyped-def]
    if sim.setting["score_by_node"][0] and sim.node_run["stale"][n] == 0:
        return sim.tree["score"][sim.tree.shape[0] // 2 + n]
    return hooks.score(sim, n, stage)


@inlined
def _no_room(sim, w):  # type: ignore[no-untyped-def]
    """Remembers that this shape and label fit nowhere: nobody need look until nodes gain room, and then only there."""
    if sim.want["no_room"][w] == 0:
        sim.want["no_room"][w] = 1
        sim.full[sim.control["n_no_room"][0]] = w
        sim.control["n_no_room"][0] += 1


@inlined
def _consider(sim, stage, n, best, best_score):  # type: ignore[no-untyped-def]
    """The better one of node n, which has room, and the best so far (or minus the reason why there is none)."""
    veto = _veto(sim, n, stage)
    if veto != 0:
        return (-veto if best < 0 else best), best_score
    score = _score(sim, n, stage)
    if best < 0 or score > best_score or (score == best_score and n < best):
        return n, score
    return best, best_score


@inlined
def _best_gained(sim, stage, w):  # type: ignore[no-untyped-def]
    """The best of the nodes that gained room."""
    shape, label = sim.want["shape"][w], sim.want["label"][w]
    best, best_score = -NO_ROOM, 0
    for i in range(sim.control["n_gained"][0]):
        n = sim.gained[i]
        if _has_label(sim, n, label) and _fits(sim, n, shape):
            best, best_score = _consider(sim, stage, n, best, best_score)
    return best


@inlined
def _worth_looking(sim, i, shape, best, best_score):  # type: ignore[no-untyped-def]
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
def _best_in_tree(sim, stage, w):  # type: ignore[no-untyped-def]
    """The best of all nodes, looking into those parts of the tree first that promise most."""
    shape, label = sim.want["shape"][w], sim.want["label"][w]
    tree, waiting = sim.tree, sim.scratch
    size = tree.shape[0] // 2
    best, best_score = -NO_ROOM, 0
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
def _find_node(sim, stage, w):  # type: ignore[no-untyped-def]
    """Of all nodes with the label and room that placement allows, the one of highest score; or minus the reason."""
    sim.want["tested"][w] = sim.control["passes"][0]
    if sim.want["no_room"][w]:
        best = _best_gained(sim, stage, w)
        if best != -NO_ROOM:
            sim.want["tested"][w] = -1  # there is room: in the next pass, look everywhere
        return best
    if sim.control["n_stale"][0] > 0:
        refresh_tree(sim)
    if sim.setting["score_by_node"][0]:
        n = sim.tree["node"][1]
        has_room = _has_label(sim, n, sim.want["label"][w]) and _fits(sim, n, sim.want["shape"][w])
        if has_room and _veto(sim, n, stage) == 0:
            return n
    best = _best_in_tree(sim, stage, w)
    if best == -NO_ROOM:
        _no_room(sim, w)
    return best


@inlined
def _next_leaf(sim):  # type: ignore[no-untyped-def]
    """The leaf queue whose turn it is: from the root down, the child with the smallest key that was not passed over."""
    view = sim.shown
    walk = sim.control["walk"][0]
    while True:
        q = 0
        if sim.queue_tried[0] == walk or view.queue["waiting"][0] == 0:
            return -1
        while view.queue["first_child"][q] >= 0:
            best, best_key = -1, 0
            child = view.queue["first_child"][q]
            while child >= 0:
                if view.queue["waiting"][child] > 0 and sim.queue_tried[child] != walk:
                    key = hooks.queue_key(sim, child)
                    if best < 0 or key < best_key or (key == best_key and child < best):
                        best, best_key = child, key
                child = view.queue["next_sibling"][child]
            if best < 0:
                break
            q = best
        if view.queue["first_child"][q] < 0:
            return q
        sim.queue_tried[q] = walk
        if q == 0:
            return -1


@inlined
def _gained_has_room(sim, w):  # type: ignore[no-untyped-def]
    """Whether this shape and label fit on a node that gained room."""
    label = sim.want["label"][w]
    for i in range(sim.control["n_gained"][0]):
        n = sim.gained[i]
        if _has_label(sim, n, label) and _fits(sim, n, sim.want["shape"][w]):
            return True
    return False


@inlined
def _is_hopeless(sim, b):  # type: ignore[no-untyped-def]
    """Whether nothing of bucket b fits anywhere, so that its head need not be looked at: it waits for room."""
    w = sim.bucket["want"][b]
    if sim.want["no_room"][w] == 0:
        return False
    if _gained_has_room(sim, w):
        return False
    sim.want["tested"][w] = sim.control["passes"][0]
    _wait(sim, sim.bucket["head"][b], NO_ROOM)
    return True


@inlined
def _first_in_leaf(sim, leaf, n):  # type: ignore[no-untyped-def]
    """The bucket of the leaf with the smallest (key, stage) at its head among those not passed over in this walk."""
    walk = sim.control["walk"][0]
    skip_hopeless = n < 0 and sim.setting["blocking"][0] == 0
    n_bases = sim.setting["n_bases"][0]
    best, best_key, best_stage = -1, 0, 0
    for pool in range(sim.shown.pool.shape[0]):
        for i in range(sim.leaf_bases[leaf], sim.leaf_bases[leaf + 1]):
            b = sim.lane["first"][pool * n_bases + sim.leaf_bases[i]]
            while b >= 0:
                if sim.bucket["tried"][b] != walk and not (skip_hopeless and _is_hopeless(sim, b)):
                    key, stage = sim.bucket["head_key"][b], sim.bucket["head"][b]
                    if best < 0 or key < best_key or (key == best_key and stage < best_stage):
                        best, best_key, best_stage = b, key, stage
                b = sim.bucket["next"][b]
    return best


@unit
def best_in_leaf(sim, leaf, n):  # type: ignore[no-untyped-def]
    """For orderings that look at the node: of all heads that could go to node n now, the best by key and fit."""
    view = sim.shown
    n_bases = sim.setting["n_bases"][0]
    count, sum_key, sum_fit = 0, 0, 0
    min_key, max_key, min_fit, max_fit = 0, 0, 0, 0
    for pool in range(view.pool.shape[0]):
        for i in range(sim.leaf_bases[leaf], sim.leaf_bases[leaf + 1]):
            b = sim.lane["first"][pool * n_bases + sim.leaf_bases[i]]
            while b >= 0:
                w = sim.bucket["want"][b]
                stage = sim.bucket["head"][b]
                label = sim.want["label"][w]
                if label != 0 and view.node["label"][n] != label:
                    _wait(sim, stage, LABEL)
                elif not _fits(sim, n, sim.want["shape"][w]):
                    _wait(sim, stage, NO_ROOM)
                else:
                    reason = _held_back(sim, b, stage)
                    if reason == 0:
                        reason = _veto(sim, n, stage)
                    if reason != 0:
                        _wait(sim, stage, reason)
                    else:
                        key = sim.bucket["head_key"][b]
                        fit = hooks.fit(sim, n, stage)
                        sim.scratch[2 * count] = b
                        sim.scratch[2 * count + 1] = fit
                        min_key = key if count == 0 else min(min_key, key)
                        max_key = key if count == 0 else max(max_key, key)
                        min_fit = fit if count == 0 else min(min_fit, fit)
                        max_fit = fit if count == 0 else max(max_fit, fit)
                        count += 1
                        sum_key += key
                        sum_fit += fit
                b = sim.bucket["next"][b]
    best, best_value, best_key, best_stage = NOBODY, 0, 0, 0
    for i in range(count):
        b = sim.scratch[2 * i]
        key, stage = sim.bucket["head_key"][b], sim.bucket["head"][b]
        fit = sim.scratch[2 * i + 1]
        value = hooks.combine(sim, key, fit, count, sum_key, sum_fit, min_key, max_key, min_fit, max_fit)
        if (
            best == NOBODY
            or value > best_value
            or (value == best_value and (key < best_key or (key == best_key and stage < best_stage)))
        ):
            best, best_value, best_key, best_stage = stage, value, key, stage
    return best


@unit
def choose(sim, n):  # type: ignore[no-untyped-def]
    """The stage that gets the next container: on node n, or (n < 0) on the node left in control["offer_node"].

    NOBODY: nothing can go. ENOUGH: nothing may go behind what cannot.
    """
    view, control, setting = sim.shown, sim.control, sim.setting
    control["walk"][0] += 1
    walk = control["walk"][0]
    if n >= 0 and view.node["reserved_for"][n] >= 0:
        stage = view.node["reserved_for"][n]
        b = sim.stage_run["bucket"][stage]
        if b >= 0:
            if _held_back(sim, b, stage) == 0 and _fits(sim, n, view.stage_spec["shape"][stage]):
                view.node["reserved_for"][n] = -1
                return stage
            return ENOUGH
        view.node["reserved_for"][n] = -1
    leaf = 0
    while True:
        if setting["by_queue"][0]:
            leaf = _next_leaf(sim)
            if leaf < 0:
                return NOBODY
        if setting["uses_fit"][0]:
            stage = best_in_leaf(sim, leaf, n)
            if stage != NOBODY or not setting["by_queue"][0]:
                return stage
            sim.queue_tried[leaf] = walk
            continue
        b = _first_in_leaf(sim, leaf, n)
        if b < 0:
            if not setting["by_queue"][0]:
                return NOBODY
            sim.queue_tried[leaf] = walk
            continue
        stage = sim.bucket["head"][b]
        w = sim.bucket["want"][b]
        reason = _held_back(sim, b, stage)
        if reason == 0:
            if n < 0:
                found = _find_node(sim, stage, w)
                if found >= 0:
                    control["offer_node"][0] = found
                    return stage
                reason = -found
            elif sim.want["label"][w] != 0 and view.node["label"][n] != sim.want["label"][w]:
                reason = LABEL
            elif _fits(sim, n, sim.want["shape"][w]):
                reason = _veto(sim, n, stage)
                if reason == 0:
                    return stage
            else:
                reason = NO_ROOM
                if setting["reserves"][0] and _reserve(sim, n, stage):
                    _wait(sim, stage, RESERVED)
                    return ENOUGH
            if reason == NO_ROOM and setting["blocking"][0]:
                _wait(sim, stage, reason)
                return ENOUGH
        _wait(sim, stage, reason)
        sim.bucket["tried"][b] = walk
    return 0


@compiled
def _reserve(sim, n, stage):  # type: ignore[no-untyped-def]
    """Keeps node n for the stage, if it could ever fit there and has more tasks waiting than it keeps nodes."""
    view = sim.shown
    shape = view.stage_spec["shape"][stage]
    for r in range(view.shape["demand"].shape[1]):
        if view.clock["counts"][0, r] and view.shape["demand"][shape, r] > view.node["total"][n, r]:
            return False
    kept = 0
    for m in range(view.node.shape[0]):
        if view.node["reserved_for"][m] == stage:
            kept += 1
    if kept >= view.stage["waiting"][stage]:
        return False
    view.node["reserved_for"][n] = stage
    return True


@unit
def task_near(sim, stage, n):  # type: ignore[no-untyped-def]
    """The waiting task of the stage that prefers node n, else its rack, else the first; by number."""
    view = sim.shown
    first = view.stage_spec["first_task"][stage]
    in_rack, on_node = -1, -1
    k = sim.stage_run["returned"][stage]
    fresh = first + sim.stage_run["next_fresh"][stage]
    while True:
        if k < 0:
            k = fresh
        if k >= first + sim.stage_run["asked"][stage]:
            break
        host = sim.prefers[k]
        if host == n and on_node < 0:
            on_node = k
        if host >= 0 and in_rack < 0 and view.node["rack"][host] == view.node["rack"][n]:
            in_rack = k
        k = k + 1 if k >= fresh else sim.task["link"][k]
    return on_node if on_node >= 0 else in_rack


@unit
def allocate(sim, stage, n):  # type: ignore[no-untyped-def]
    """Gives one container of node n to the stage."""
    view, control, setting = sim.shown, sim.control, sim.setting
    now = view.clock["now_ms"][0]
    job = view.stage_spec["job"][stage]
    near = task_near(sim, stage, n) if setting["has_preferences"][0] else -1
    if near >= 0:
        task = near
        take_this_task(sim.stage_run, sim.task, view.stage_spec, stage, near)
    else:
        task = take_task(sim.stage_run, sim.task, view.stage_spec, stage)
    asked_at = sim.task["ended_at_ms"][task] if sim.task["attempts"][task] > 0 else view.stage["asked_at_ms"][stage]
    if setting["reports_matter"][0]:
        settle_reports(sim, n)
    s = new_slot(sim, task, stage, n, -1)
    start = now
    if view.job_spec["has_am"][job] and view.stage_spec["kind"][stage] != AM and setting["am_heartbeat_ms"][0] > 0:
        start = next_am(sim, job, now + 1)
    start += setting["launch_ms"][0]
    if start == now:
        start_later(sim, s)
    else:
        due_set(sim, s, start)
    view.stage["waiting"][stage] -= 1
    count_waiting(sim, job, -1)
    count_allocated(sim, job, stage, n, 1)
    if view.stage["waiting"][stage] == 0:
        remove(sim, stage)
        _wait(sim, stage, NONE)
    if view.job["state"][job] == JOB_ARRIVED:
        view.job["state"][job] = JOB_ADMITTED
        view.clock["running_jobs"][0] += 1
        view.queue["running_jobs"][view.job["queue"][job]] += 1
        if sim.setting["logging"][0]:
            note(sim, LOG_ADMITTED, 0, job, stage, -1, -1, 0, 0)
        if setting["has_gate"][0]:
            rekey_later(sim, job)
    if setting["key_changes"][0]:
        rekey_later(sim, job)
    if setting["blocking"][0] or setting["reserves"][0]:
        control["epoch"][0] += 1  # another head, or a node that need not be kept any more: news for every node
    view.clock["allocations"][0] += 1
    control["last_progress_ms"][0] = now
    if sim.setting["logging"][0]:
        note(sim, LOG_ALLOCATED, 0, job, stage, task, n, sim.task["attempts"][task], asked_at)
    if sim.setting["listens"][0] >> EVENT_ALLOCATED & 1:
        tell_levers(sim, EVENT_ALLOCATED, n, stage, s, 0)
    if setting["sizing_changes"][0]:
        resize(sim, n)
    node_changed(sim, n)
    if setting["has_dag"][0] and view.stage["waiting"][stage] == 0:
        _maps_all_allocated(sim, stage)
    return 0


@compiled
def _maps_all_allocated(sim, stage):  # type: ignore[no-untyped-def]
    """No task of the stage waits any more: early stages behind it stop holding back and ask at the next heartbeat."""
    view = sim.shown
    now = view.clock["now_ms"][0]
    for i in range(sim.before_first[stage], sim.before_first[stage + 1]):
        follower = sim.before[i]
        if sim.stage_run["runnable"][follower] and is_early(sim, follower) and early_waiting(sim, follower) == 0:
            ask_soon(sim, follower, now + 1)


@unit
def next_offer_node(sim, first):  # type: ignore[no-untyped-def]
    """The first node from `first` on where anything that waits would fit; -1: none."""
    view = sim.shown
    refresh_tree(sim)
    best = -1
    for pool_base in range(sim.lane.shape[0]):
        b = sim.lane["first"][pool_base]
        while b >= 0:
            w = sim.bucket["want"][b]
            shape, label = sim.want["shape"][w], sim.want["label"][w]
            n = -1
            if sim.want["no_room"][w] == 0:
                n = leftmost_fit(sim.tree, view.node, view.clock["counts"], view.shape["demand"], shape, label, first)
                if n < 0 and first == 0:
                    _no_room(sim, w)
            else:
                for i in range(sim.control["n_gained"][0]):
                    m = sim.gained[i]
                    if m >= first and (n < 0 or m < n) and _has_label(sim, m, label) and _fits(sim, m, shape):
                        n = m
            if first == 0:
                sim.want["tested"][w] = sim.control["passes"][0] if n < 0 else -1
            if n >= 0 and (best < 0 or n < best):
                best = n
            b = sim.bucket["next"][b]
    return best


@compiled
def close_pass(sim):  # type: ignore[no-untyped-def]
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
