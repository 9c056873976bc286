"""Offers by node heartbeats: which node is next, and what it takes."""

from __future__ import annotations

from heddle.model.compiled import inlined
from heddle.sim.codes import FOREVER
from heddle.sim.numba.units import unit
from heddle.sim.scheduling.allocating import allocate
from heddle.sim.scheduling.choosing import NOBODY, choose
from heddle.sim.scheduling.reports import resize, settle_reports, unmark_gained
from heddle.sim.scheduling.room import fits


@inlined
def _forget_stale_offers(control):
    """News since nodes were last counted as fully offered: none of them is any more."""
    if control["fresh_epoch"][0] != control["epoch"][0]:
        control["fresh_epoch"][0] = control["epoch"][0]
        control["n_fresh"][0] = 0


@inlined
def _next_gained(sim, now):
    """The next heartbeat of a node that gained room: found in their list or, if that is long, in the order of phases,
    where one of them comes the sooner the more there are."""
    n_gained, n_nodes = sim.control["n_gained"][0], sim.heartbeat_order.shape[0]
    interval, phases = sim.setting["node_heartbeat_ms"][0], sim.node_run["heartbeat_phase_ms"]
    after = now + 1
    first = FOREVER
    if n_gained * n_gained <= n_nodes:
        for i in range(n_gained):
            first = min(first, after + (phases[sim.gained[i]] - after) % interval)
        return first
    i = sim.heartbeat_first[after % interval]
    while True:
        i = 0 if i >= n_nodes else i
        n = sim.heartbeat_order[i]
        if sim.node_run["gained"][n]:
            return after + (phases[n] - after) % interval
        i += 1


@inlined
def next_heartbeat(sim, now):
    """The next heartbeat that may matter: of any node if there is news for all, else of those that gained room."""
    control = sim.control
    interval = sim.setting["node_heartbeat_ms"][0]
    phases = sim.node_run["heartbeat_phase_ms"]
    _forget_stale_offers(control)
    if control["n_fresh"][0] < sim.shown.node.shape[0] or sim.setting["sizing_changes"][0]:
        turn_ms = now - now % interval
        i = sim.heartbeat_first[now % interval + 1]
        for _ in range(sim.heartbeat_order.shape[0]):
            if i == sim.heartbeat_order.shape[0]:
                turn_ms, i = turn_ms + interval, 0
            # Where totals move, an instant without a heartbeat would be one more in which they are added up.
            if sim.shown.node["alive"][sim.heartbeat_order[i]] or sim.setting["sizing_changes"][0] == 0:
                return turn_ms + phases[sim.heartbeat_order[i]]
            i += 1
        return FOREVER
    return _next_gained(sim, now)


@inlined
def tell_of_ends(sim):
    """Nodes on which containers ended since heartbeats were last sent, they too heartbeat now; in order of number."""
    control = sim.control
    for i in range(control["n_untold"][0]):
        n = sim.untold[i]
        sim.node_run["untold"][n] = 0
        place = i
        while place > 0 and sim.telling[place - 1] > n:
            sim.telling[place] = sim.telling[place - 1]
            place -= 1
        sim.telling[place] = n
    control["n_telling"][0] = control["n_untold"][0]
    control["telling"][0] = 0
    control["n_untold"][0] = 0


@inlined
def _heartbeats_next(sim, i, phase):
    """The first node, of those from i on whose phase it is and of those that tell of ends; none: past the last node."""
    n = sim.shown.node.shape[0]
    if i < sim.heartbeat_order.shape[0] and sim.node_run["heartbeat_phase_ms"][sim.heartbeat_order[i]] == phase:
        n = sim.heartbeat_order[i]
    if sim.control["telling"][0] < sim.control["n_telling"][0]:
        n = min(n, sim.telling[sim.control["telling"][0]])
    return n


@unit
def serve_heartbeats(sim, now):
    """One allocation in the heartbeats of this instant; False when all nodes whose turn it is have been offered."""
    control, node_run = sim.control, sim.node_run
    interval = sim.setting["node_heartbeat_ms"][0]
    phase = now % interval
    if control["waiting"][0] == 0:
        return False
    i = control["offer_node"][0]
    if i < 0:
        i = sim.heartbeat_first[phase]
        control["offered"][0] = 0
        control["offer_over"][0] = 0
    while True:
        n = _heartbeats_next(sim, i, phase)
        if n == sim.shown.node.shape[0]:
            break
        if sim.shown.node["alive"][n]:
            moves = sim.setting["reports_matter"][0] or sim.setting["sizes_with_time"][0]
            if control["offered"][0] == 0 and moves:
                settle_reports(sim, n)
                resize(sim, n)
            # A node that is kept may have shrunk below what it is kept for.
            kept = moves and sim.shown.node["reserved_for"][n] >= 0
            if kept or node_run["epoch"][n] != control["epoch"][0] or node_run["gained"][n]:
                limit = sim.setting["off_switch"][0]
                if control["offer_over"][0] or (limit > 0 and control["offered"][0] >= limit):
                    stage = NOBODY
                elif control["blocked_epoch"][0] == control["epoch"][0] and not fits(
                    sim, n, sim.want["shape"][control["blocked_want"][0]]
                ):  # the head that blocks is known, and does not fit here either
                    stage = NOBODY
                    _offered_fully(sim, n)
                else:
                    stage = choose(sim, n)
                    if stage < 0:
                        _offered_fully(sim, n)
                if stage >= 0:
                    control["offered"][0] += 1
                    control["offer_node"][0] = i
                    allocate(sim, stage, n)
                    return True
        else:
            _offered_fully(sim, n)
        control["offered"][0] = 0
        control["offer_over"][0] = 0
        if i < sim.heartbeat_order.shape[0] and sim.heartbeat_order[i] == n:
            i += 1
        if control["telling"][0] < control["n_telling"][0] and sim.telling[control["telling"][0]] == n:
            control["telling"][0] += 1
    control["offer_node"][0] = sim.heartbeat_order.shape[0]
    return False


@inlined
def _offered_fully(sim, n):
    """Node n takes nothing more until it gains room or there is news."""
    control, node_run = sim.control, sim.node_run
    if node_run["epoch"][n] != control["epoch"][0]:
        node_run["epoch"][n] = control["epoch"][0]
        _forget_stale_offers(control)
        control["n_fresh"][0] += 1
    unmark_gained(sim, n)
