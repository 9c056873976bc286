"""Usage reports: what a node tells, and the node totals that sizing derives from it.

Use only changes at events, so a node's reports between two of its events all say the same; they are handed to the lever
as one event with a count, when somebody needs to know. Where they are not seen as they are made: observation.py.
"""

from __future__ import annotations

from heddle.model.compiled import compiled, inlined
from heddle.sim.books import put_on_list
from heddle.sim.codes import LOG_RESIZED, REPORTS
from heddle.sim.containers.oracle import future_peak
from heddle.sim.cycles import first_after, next_in_cycle
from heddle.sim.log import note
from heddle.sim.numba import hooks
from heddle.sim.numba.units import unit
from heddle.sim.scheduling.events import tell_reported
from heddle.sim.scheduling.node_tree import climb, climb_free, climb_score, set_leaf
from heddle.sim.scheduling.observation import observe


@compiled
def reports_until(phase_ms, interval_ms, at_ms):
    """How many reports a node has made up to and including this time."""
    return 0 if at_ms < phase_ms else (at_ms - phase_ms) // interval_ms + 1


@inlined
def _reported_until(sim):
    """The last instant whose reports have been made."""
    now = sim.shown.clock["now_ms"][0]
    return now if sim.control["phase"][0] >= REPORTS else now - 1


@inlined
def reports_made(sim, n):
    """How many reports node n has made by this phase of this instant."""
    return reports_until(sim.node_run["report_phase_ms"][n], sim.setting["report_ms"][0], _reported_until(sim))


@inlined
def reports_since_allocation(sim, n, s):
    """How many reports of its node have been seen since the container in slot s is there."""
    seen = sim.node_run["known"][n] if sim.setting["observed"][0] else reports_made(sim, n)
    return max(0, seen - sim.slot["reports_before"][s])


@inlined
def _made_by_now(sim, n):
    """As reports_made, of a node that has been asked before: mostly none or one more, for which nobody need divide."""
    known, interval = sim.node_run["reports"][n], sim.setting["report_ms"][0]
    following_ms, until_ms = sim.node_run["report_phase_ms"][n] + known * interval, _reported_until(sim)
    if until_ms < following_ms:
        return known
    if until_ms < following_ms + interval:
        return known + 1
    return reports_made(sim, n)


@inlined
def _take_reports(sim, n, made):
    """Hands the levers the reports of node n up to number `made`; there are some."""
    view = sim.shown
    count = made - sim.node_run["reports"][n]
    sim.node_run["reports"][n] = made
    n_resources = view.shape["demand"].shape[1]
    for r in range(n_resources):
        view.node["containers_used"][n, r] = sim.node_run["seen"][n, r]
        view.node["used"][n, r] = sim.node_run["seen"][n, r] + sim.node_run["background"][n, r]
    interval = sim.setting["report_ms"][0]
    view.node["reported_at_ms"][n] = sim.node_run["report_phase_ms"][n] + (made - 1) * interval
    if sim.setting["container_reports"][0]:
        _show_containers(sim, n)
    tell_reported(sim, n, count)


@compiled
def _show_containers(sim, n):
    """What the report says of each container; that of an executor counts what runs in it."""
    view, n_resources = sim.shown, sim.shown.shape["demand"].shape[1]
    s = view.node["first_container"][n]
    while s >= 0:
        if sim.slot["host"][s] < 0:
            for r in range(n_resources):
                view.container["used"][s, r] = sim.slot["seen"][s, r]
        s = view.container["next"][s]
    s = view.node["first_container"][n]
    while s >= 0:
        host = sim.slot["host"][s]
        if host >= 0:
            for r in range(n_resources):
                view.container["used"][host, r] += sim.slot["seen"][s, r]
        s = view.container["next"][s]


@unit
def take_reports(sim, n, made):
    _take_reports(sim, n, made)
    return 0


@inlined
def settle_reports(sim, n):
    """Hands the levers the reports that node n has made since they were last told, if they listen to any."""
    if sim.setting["reports_matter"][0] == 0 or sim.shown.node["alive"][n] == 0:
        return
    if sim.setting["observed"][0]:
        observe(sim, n, reports_made(sim, n), _reported_until(sim))
        return
    made = _made_by_now(sim, n)
    if made > sim.node_run["reports"][n]:
        take_reports(sim, n, made)


@inlined
def mark_gained(sim, n):
    """Node n has more free than at its last offer."""
    if sim.node_run["gained"][n] == 0:
        sim.gained[sim.control["n_gained"][0]] = n
        sim.control["n_gained"][0] += 1
        sim.node_run["gained"][n] = sim.control["n_gained"][0]


@inlined
def unmark_gained(sim, n):
    """Node n has been offered what it gained; the last of the list takes its place."""
    place = sim.node_run["gained"][n]
    if place > 0:
        last = sim.gained[sim.control["n_gained"][0] - 1]
        sim.gained[place - 1] = last
        sim.node_run["gained"][last] = place
        sim.node_run["gained"][n] = 0
        sim.control["n_gained"][0] -= 1


@inlined
def node_changed(sim, n):
    """Node n has more or less free than the placement index knows; it will be told before it is asked."""
    put_on_list(sim.node_run["stale"], sim.stale, sim.control["n_stale"], n)


@unit
def refresh_tree(sim):
    """Tells the placement index of all nodes that changed since it was last asked."""
    for i in range(sim.control["n_stale"][0]):
        n = sim.stale[i]
        sim.node_run["stale"][n] = 0
        score = hooks.score(sim, n, -1) if sim.setting["score_by_node"][0] else 0
        set_leaf(sim.tree, sim.shown.node, n, score)
        if sim.setting["score_by_node"][0]:
            put_on_list(sim.node_run["coarse"], sim.coarse, sim.control["n_coarse"], n)
    if sim.setting["score_by_node"][0]:
        for i in range(sim.control["n_stale"][0]):
            climb_score(sim.tree, sim.stale[i])
    else:
        for i in range(sim.control["n_stale"][0]):
            climb(sim.tree, sim.stale[i])
    sim.control["n_stale"][0] = 0
    return 0


@unit
def refresh_free(sim):
    """Brings what is free below each part of the tree up to date."""
    for i in range(sim.control["n_coarse"][0]):
        n = sim.coarse[i]
        sim.node_run["coarse"][n] = 0
        climb_free(sim.tree, n)
    sim.control["n_coarse"][0] = 0
    return 0


@inlined
def _resize(sim, n):
    """Asks sizing what may be promised on node n now, and lets those know who look for room."""
    view = sim.shown
    alive, promise = view.node["alive"][n], sim.node_run["promise"][n]
    grew, changed = False, False
    for r in range(view.shape["demand"].shape[1]):
        allocated = view.node["allocated"][n, r]
        if view.clock["exclusive"][0, r]:
            total = view.node["allowance"][n, r]
        else:
            if sim.setting["foresees"][0]:
                sim.truth["future_peak"][n, r] = future_peak(sim, n, r)
            total = hooks.total(sim, n, r)
            if sim.increment[r] > 1:  # a division costs as much as all the rest
                total = total // sim.increment[r] * sim.increment[r]
        total = max(total, allocated)
        before = view.node["total"][n, r]
        if total != before:
            if alive:
                sim.promise["total"][promise, r] += total - before
            elif sim.node_run["leaving"][n]:
                continue  # it promises what it holds: promises.py
            grew = grew or total > before
            changed = True
            view.node["total"][n, r] = total
            if sim.setting["logging"][0]:
                note(sim, LOG_RESIZED, r, -1, -1, n, total)
    if changed:
        node_changed(sim, n)
    if grew:
        mark_gained(sim, n)


@unit
def resize(sim, n):
    """As _resize, for those to whom a call does not matter."""
    _resize(sim, n)
    return 0


@unit
def catch_up_reports(sim, now):
    """All nodes of which a report is to be seen since anybody last looked tell what they use, each once."""
    control, order = sim.control, sim.report_order
    if sim.setting["poll_ms"][0] > 0:
        if control["next_report_ms"][0] <= now:
            for n in range(order.shape[0]):
                settle_reports(sim, n)
                if sim.shown.node["alive"][n]:
                    resize(sim, n)
            control["next_report_ms"][0] = now - now % sim.setting["poll_ms"][0] + sim.setting["poll_ms"][0]
        return 0
    i, at = control["next_reporter"][0], control["next_report_ms"][0]
    for _ in range(order.shape[0]):
        if at > now:
            break
        n = order[i]
        if sim.shown.node["alive"][n]:
            if sim.setting["observed"][0]:
                settle_reports(sim, n)
            else:  # a dozen for each task: without calls
                made = _made_by_now(sim, n)
                if made > sim.node_run["reports"][n]:
                    _take_reports(sim, n, made)
            _resize(sim, n)
        before = sim.node_run["report_phase_ms"][n]
        i = 0 if i + 1 == order.shape[0] else i + 1
        wait_ms = sim.node_run["report_phase_ms"][order[i]] - before
        at += wait_ms if i > 0 else wait_ms + sim.setting["report_ms"][0]
    if at <= now:  # more than a whole round has passed
        interval, phases = sim.setting["report_ms"][0], sim.node_run["report_phase_ms"]
        lag_ms = sim.setting["lag_ms"][0]
        i = first_after(order, phases, (now - lag_ms) % interval)
        i = 0 if i == order.shape[0] else i
        at = next_in_cycle(order, phases, interval, now - lag_ms) + lag_ms
    control["next_reporter"][0], control["next_report_ms"][0] = i, at
    return 0
