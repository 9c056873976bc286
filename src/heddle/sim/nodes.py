"""Nodes that are lost, return and are decommissioned, and the load on them that is not ours."""

from __future__ import annotations

from math import floor, log

from heddle.model.compiled import compiled
from heddle.model.draw import STREAM_NODE_FAULT, draw
from heddle.model.resources import ONE
from heddle.model.view import EVENT_NODE_LOST, EVENT_NODE_RETURNED
from heddle.sim.books import end_later, order_endings
from heddle.sim.codes import (
    END_NODE_LOST,
    LEAVING,
    LEFT,
    LOG_NODE_LOST,
    LOG_NODE_RETURNED,
    TIMER_BACKGROUND,
    TIMER_DECOMMISSION,
    TIMER_NODE_LOSS,
    TIMER_NODE_RETURN,
)
from heddle.sim.containers.physics import touch
from heddle.sim.log import note
from heddle.sim.network.links import change_links_of_node
from heddle.sim.numba.units import unit
from heddle.sim.scheduling.events import look_again, tell_levers
from heddle.sim.scheduling.observation import miss_reports
from heddle.sim.scheduling.promises import count_node, shrink_leaving
from heddle.sim.scheduling.reports import mark_gained, node_changed, reports_until, resize, settle_reports
from heddle.sim.scheduling.reservations import free_node, starvation_may_show
from heddle.sim.timeline import timer_push


@compiled
def _exponential(seed, index, mean_ms):
    """1 ms and more, exponentially distributed, in fixed point."""
    x = (draw(seed, STREAM_NODE_FAULT, index) % ONE + 0.5) / ONE
    return 1 + mean_ms * floor(-log(x) * ONE) // ONE


@compiled
def plan_fault(sim, n, now):
    """When node n is lost next or, if it is lost, returns."""
    i = sim.node_run["fault"][n]
    sim.node_run["fault"][n] = i + 1
    returns = i & 1
    mean_ms = sim.setting["node_repair_ms"][0] if returns else sim.setting["node_mtbf_ms"][0]
    wait_ms = _exponential(sim.setting["seed"][0], n * ONE + i, mean_ms)
    timer_push(sim, now + wait_ms, TIMER_NODE_RETURN if returns else TIMER_NODE_LOSS, n)


@unit
def node_event(sim, kind, n, now):
    """A node is lost, returns, is decommissioned, or its background load changes."""
    view = sim.shown
    settle_reports(sim, n)
    if kind == TIMER_NODE_LOSS:
        leaves = sim.node_run["leaving"][n] != 0
        if not leaves:
            count_node(sim, n, -1)
        _set_alive(sim, n, 0)
        sim.node_run["lost"][n] = 1
        free_node(sim, n)
        if sim.setting["logging"][0]:
            note(sim, LOG_NODE_LOST, 0, -1, -1, n, 0)
        ending = sim.control["n_endings"][0]
        s = view.node["first_container"][n]
        while s >= 0:
            if sim.slot["doomed"][s] == 0:
                end_later(sim, s, END_NODE_LOST)
            s = view.container["next"][s]
        order_endings(sim, ending)
        if not leaves:
            tell_levers(sim, EVENT_NODE_LOST, n, -1, -1, 0)
        plan_fault(sim, n, now)
    elif kind == TIMER_DECOMMISSION:
        _decommission(sim, n)
    elif kind == TIMER_NODE_RETURN and sim.node_run["leaving"][n]:
        sim.node_run["lost"][n] = 0
        if sim.setting["logging"][0]:
            note(sim, LOG_NODE_RETURNED, 0, -1, -1, n, 0)
        plan_fault(sim, n, now)
    elif kind == TIMER_NODE_RETURN:
        _set_alive(sim, n, 1)
        sim.node_run["lost"][n] = 0
        count_node(sim, n, 1)
        sim.node_run["reports"][n] = reports_until(
            sim.node_run["report_phase_ms"][n], sim.setting["report_ms"][0], now - 1
        )
        if sim.setting["observed"][0]:
            miss_reports(sim, n, now - 1)
        if sim.setting["logging"][0]:
            note(sim, LOG_NODE_RETURNED, 0, -1, -1, n, 0)
        tell_levers(sim, EVENT_NODE_RETURNED, n, -1, -1, 0)
        mark_gained(sim, n)
        starvation_may_show(sim)  # of more nodes more may be kept
        plan_fault(sim, n, now)
    else:
        level = sim.node_run["level"][n]
        _set_background(sim, n, level)
        sim.node_run["level"][n] = level + 1
        if level + 1 < sim.level_first[n + 1]:
            timer_push(sim, sim.level[level + 1, 0], TIMER_BACKGROUND, n)
        touch(sim, n)
    if sim.setting["has_vetoes"][0] and kind != TIMER_BACKGROUND:
        look_again(sim)  # a veto may have been for the sake of this node
    if sim.setting["network"][0] and kind in (TIMER_NODE_LOSS, TIMER_NODE_RETURN):
        change_links_of_node(sim, n)
    if sim.setting["sizing_changes"][0]:
        resize(sim, n)
    node_changed(sim, n)
    return 0


@compiled
def _set_alive(sim, n, alive):
    """Whether node n takes containers from now on."""
    sim.control["n_alive"][0] += alive - sim.shown.node["alive"][n]
    sim.shown.node["alive"][n] = alive


@compiled
def _decommission(sim, n):
    """Node n takes nothing from now on. What it holds stays, and counts, until it ends; a lost one holds nothing."""
    view, lost = sim.shown, sim.node_run["lost"][n]
    _set_alive(sim, n, 0)
    sim.node_run["leaving"][n] = LEFT if lost else LEAVING
    free_node(sim, n)
    if lost:
        for r in range(view.node["total"].shape[1]):  # none of which counts
            view.node["total"][n, r] = 0
    else:
        shrink_leaving(sim, n)
        tell_levers(sim, EVENT_NODE_LOST, n, -1, -1, 0)


@compiled
def begin_background(sim, n):
    """A level that holds from 0 is there before phase 1; its event only finds it in force."""
    level = sim.level_first[n]
    if level < sim.level_first[n + 1]:
        if sim.level[level, 0] == 0:
            _set_background(sim, n, level)
        timer_push(sim, sim.level[level, 0], TIMER_BACKGROUND, n)


@compiled
def _set_background(sim, n, level):
    for r in range(sim.shown.shape["demand"].shape[1]):
        use = sim.level[level, r + 1]
        sim.node_run["use"][n, r] += use - sim.node_run["background"][n, r]
        sim.node_run["background"][n, r] = use
