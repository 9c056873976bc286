"""advance(): the clock. It runs a simulated cluster until it ends, stalls, is told to pause, or needs more memory.

An instant is a sequence of phases (docs/semantics.md, "Time"); each turn of the loop does one thing of the present
phase and then settles all that follows from it.
"""

from __future__ import annotations

from heddle.model.compiled import compiled, inlined
from heddle.model.view import EVENT_TICK
from heddle.sim.codes import (
    ARRIVALS,
    ASKS,
    CONTAINERS,
    CRASHES,
    FINISHED,
    FLOWS_FULL,
    FOREVER,
    JOBS_WANTED,
    LOOK,
    NEXT,
    NODES,
    OFFERS,
    ONLY_LOOKS,
    PAUSED,
    STALLED,
    TIMER_ASK,
    TIMER_BACKGROUND,
    TIMER_DECOMMISSION,
    TIMER_LOOK,
    TIMER_NODE_RETURN,
    TIMER_WAKE,
)
from heddle.sim.containers.listeners import begin_looks, tell_who_looks_later
from heddle.sim.containers.physics import renew_rates
from heddle.sim.containers.starting_state import go_on_with_running
from heddle.sim.instants import next_instant, nothing_else_now, only_polls, round_is_due, tick_is_due, timer_due
from heddle.sim.network.fair_rates import renew_flows
from heddle.sim.network.fetching import begin_flows
from heddle.sim.network.flows import end_flows
from heddle.sim.nodes import begin_background, node_event, plan_fault
from heddle.sim.phases import check_memory_of_touched, due_now, next_arrival, offer_all, serve_timer, short_of_memory
from heddle.sim.scheduling.events import tell_levers
from heddle.sim.scheduling.heartbeats import serve_heartbeats, tell_of_ends
from heddle.sim.scheduling.preemption import preempt
from heddle.sim.scheduling.promises import look_at_promises, share_out
from heddle.sim.scheduling.reports import catch_up_reports, node_changed, resize
from heddle.sim.scheduling.room import close_pass
from heddle.sim.settle import settle
from heddle.sim.timeline import timer_pop, timer_push


@inlined
def _integrate(sim, at_ms):
    control = sim.control
    elapsed = at_ms - control["integrated_at_ms"][0]
    control["integrated_at_ms"][0] = at_ms
    for r in range(sim.shown.shape["demand"].shape[1]):
        control["reserved_ms"][0, r] += elapsed * control["reserved_now"][0, r]
        control["used_ms"][0, r] += elapsed * control["used_now"][0, r]


@compiled
def advance(sim, until_ms):
    """Runs until one of the statuses of codes.py; call again to go on.

    The phases stand in their order; control["phase"] says which of them have been left behind, so that a run that came
    back for more memory, or for a look from outside, goes on where it was.
    """
    control, setting, clock = sim.control, sim.setting, sim.shown.clock
    ideal = setting["node_heartbeat_ms"][0] == 0
    reports_matter = setting["reports_matter"][0]
    has_early = setting["has_early"][0]
    while True:
        if control["phase"][0] == NEXT:
            if control["jobs_left"][0] == 0:
                return FINISHED
            if control["next_arrival"][0] == control["block_ends"][0]:
                return JOBS_WANTED
            at = next_instant(sim, until_ms)
            if at == FOREVER or (only_polls(sim) and at - control["last_progress_ms"][0] > setting["quiet_ms"][0]):
                return STALLED
            if at > until_ms:
                return PAUSED
            _integrate(sim, at)
            clock["now_ms"][0] = at
            control["phase"][0] = CONTAINERS
        now = clock["now_ms"][0]
        if control["phase"][0] == CONTAINERS:
            if control["next_flow_ms"][0] <= now:
                control["last_progress_ms"][0] = now
                end_flows(sim, now)
            while control["n_due"][0] > 0 and sim.due["at_ms"][0] <= now:
                short = short_of_memory(sim)
                if short != 0:
                    return short
                control["last_progress_ms"][0] = now
                due_now(sim)
                settle(sim)
            if control["n_touched"][0] > 0:
                check_memory_of_touched(sim)
            elif nothing_else_now(sim, now):
                control["phase"][0] = NEXT
                continue
            control["phase"][0] = NODES
        if control["phase"][0] == NODES:
            while timer_due(sim, now, TIMER_NODE_RETURN, TIMER_BACKGROUND):
                short = short_of_memory(sim)
                if short != 0:
                    return short
                kind, subject = sim.timer["kind"][0], sim.timer["subject"][0]
                timer_pop(sim)
                if setting["node_mtbf_ms"][0] == 0:  # else nodes come and go for ever
                    control["last_progress_ms"][0] = now
                node_event(sim, kind, subject, now)
                settle(sim)
            if control["n_touched"][0] > 0:
                check_memory_of_touched(sim)
            control["phase"][0] = ARRIVALS
        if control["phase"][0] == ARRIVALS:
            while next_arrival(sim, now):
                control["last_progress_ms"][0] = now
                settle(sim)
                short = short_of_memory(sim)
                if short != 0:
                    return short
            control["phase"][0] = ASKS
        if control["phase"][0] == ASKS:
            if has_early:
                begin_looks(sim, now)
            while timer_due(sim, now, TIMER_ASK, TIMER_LOOK):
                short = short_of_memory(sim)
                if short != 0:
                    return short
                serve_timer(sim, now)
                settle(sim)
                if has_early:
                    tell_who_looks_later(sim)
            if has_early:
                control["looks_over_ms"][0] = now
                if control["idle"][0] == ONLY_LOOKS:
                    control["phase"][0] = NEXT
                    continue
            polled = round_is_due(sim, now) or tick_is_due(sim, now) or control["look_at_ms"][0] <= now
            look_at_promises(sim, now, polled)
            if round_is_due(sim, now):
                short = short_of_memory(sim)
                if short != 0:
                    return short
                control["round_at_ms"][0] = now
                if control["waiting"][0] > 0 and preempt(sim, now) > 0:
                    control["idle"][0] = 0
                    settle(sim)
            if tick_is_due(sim, now):
                control["tick_at_ms"][0] = now
                if tell_levers(sim, EVENT_TICK, -1, -1, -1, 0) != 0:
                    control["idle"][0] = 0
                    settle(sim)
            if control["look_at_ms"][0] <= now:
                return LOOK
            control["phase"][0] = OFFERS
            control["passes"][0] += 1
            control["rounds"][0] += 1
            control["offer_node"][0] = 0
            if not ideal and control["heartbeats_at_ms"][0] != now:  # each node is offered once in an instant
                control["heartbeats_at_ms"][0] = now
                control["offer_node"][0] = -1
                tell_of_ends(sim)
            elif not ideal:
                control["offer_node"][0] = sim.heartbeat_order.shape[0]
            if ideal and control["waiting"][0] > 0:
                if reports_matter:
                    catch_up_reports(sim, now)
                elif setting["sizes_with_time"][0] and control["idle"][0] == 0:
                    for n in range(sim.shown.node.shape[0]):
                        if sim.shown.node["alive"][n]:
                            resize(sim, n)
        if control["phase"][0] == OFFERS:
            while control["waiting"][0] > 0 and (control["idle"][0] == 0 or not ideal):
                short = short_of_memory(sim)
                if short != 0:
                    return short
                if ideal:
                    if not offer_all(sim):
                        break
                elif serve_heartbeats(sim, now) == 0:
                    break
                settle(sim)
            if ideal and control["idle"][0] == 0 and (control["n_gained"][0] > 0 or control["news"][0] != 0):
                close_pass(sim)
            control["n_telling"][0] = 0
            control["phase"][0] = CRASHES
        if control["n_touched"][0] > 0:
            if check_memory_of_touched(sim) and ideal:
                timer_push(sim, now + 1, TIMER_WAKE, 0)
            for i in range(control["n_touched"][0]):
                n = sim.touched[i]
                sim.node_run["touched"][n] = 0
                renew_rates(sim, n)
            control["n_touched"][0] = 0
        if control["n_fetchers"][0] + control["n_changed_links"][0] + control["flows_are_news"][0] > 0:
            while control["n_fetchers"][0] > 0:
                if min(control["n_free_flows"][0], control["n_free_routes"][0]) < setting["flow_margin"][0]:
                    return FLOWS_FULL
                begin_flows(sim)
            renew_flows(sim, now)
        control["phase"][0] = NEXT
        if (control["n_due"][0] > 0 and sim.due["at_ms"][0] <= now) or timer_due(sim, now, 0, TIMER_LOOK):
            control["phase"][0] = CONTAINERS
        if control["broken"][0] != 0:
            return control["broken"][0]


@compiled
def prepare_run(sim):
    """Time 0: first background levels, what nodes may promise, the placement index, first faults, containers that are
    there already."""
    for n in range(sim.shown.node.shape[0]):
        begin_background(sim, n)
        if sim.setting["sizing_changes"][0]:
            resize(sim, n)
        node_changed(sim, n)
        if sim.node_run["decommission_at_ms"][n] >= 0:
            timer_push(sim, sim.node_run["decommission_at_ms"][n], TIMER_DECOMMISSION, n)
        if sim.setting["node_mtbf_ms"][0] > 0:
            plan_fault(sim, n, 0)
    if sim.setting["shares_out"][0]:
        share_out(sim)
    go_on_with_running(sim)
