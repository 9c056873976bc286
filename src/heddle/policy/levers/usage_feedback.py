"""Usage feedback (Ha et al., "load awareness at worker side"): promise what is not really used.

Per node and resource an estimate E of what is in use, on each report of utilisation U, damping a:
    E = (1-a) E + a U            (1)
    E += R                       (2)  when a request R is allocated
    E = U if E < U               (3)
    E -= (1-a)^n R               (4)  when a container that saw n reports ends
The arithmetic is in usage_estimate.py.

What is available is allowance - E in the paper's simulator (`headroom=allowance`), and in its prototype the smaller of
    allowance - use of all containers      (5)
    capacity - E                           (6)
total = allocated + available. With `side=worker` the node estimates, and the master has what the report before the last
one said was available, less what it allocated there since: one to two reports late. An end makes nothing available
before a report has told of it: the master does not know how much of the reservation was still counted.

Three improvements that are not in the paper. `young_reports=y`: a container counts in full, beside E, for its first y
reports, and (2) takes place then: one that has just been launched uses nothing yet. What it does use by then is in E
too, so never more is expected than what is in use and all that is reserved beyond it: a node promises no less than by
reservation. On a live cluster y follows how long containers take to start, so what matters is when each was charged,
not what y is by now. `forget`: at the end of a container its own smoothed use goes with what (4) takes; the paper
leaves it in E, where it decays. `target_failures`: each node tunes its damping (failure_budget.py).
"""

from __future__ import annotations

from heddle.model.compilable import callable_too
from heddle.model.view import EVENT_ALLOCATED, EVENT_FINISHED, EVENT_NODE_LOST, EVENT_REPORTED, EVENT_STOPPED
from heddle.model.workload import INNER
from heddle.policy.lever import Parameter, Sizing, State, per_resource
from heddle.policy.levers.failure_budget import count_end
from heddle.policy.levers.usage_estimate import (
    SMOOTHED,
    estimate,
    left_of,
    prepare,
    set_estimate,
    smoothed_use,
    turn_to,
)


@callable_too
def is_young(view, state, params, row):
    """Tasks inside an executor have rows too, but nothing was ever allocated for them."""
    if params.young_reports == 0 or state.container["grew_up_at"][row] > 0:
        return False
    return view.stage_spec["kind"][view.container["stage"][row]] != INNER


@callable_too
def available_now(view, state, params, node, r):
    """By the estimate as it is now."""
    expected = estimate(state, node, r) + state.node["young"][node, r]
    if params.young_reports > 0:
        idle = view.node["allocated"][node, r] - view.node["containers_used"][node, r]
        expected = min(expected, view.node["used"][node, r] + max(0, idle))
    if params.headroom == 0:
        return view.node["allowance"][node, r] - expected
    by_containers = view.node["allowance"][node, r] - view.node["containers_used"][node, r]  # (5)
    return min(by_containers, view.node["capacity"][node, r] - expected)  # (6)


@callable_too
def follow_node(view, state, node, count):
    """(1) and (3), for so many equal reports: while they say what those before said, only their number matters."""
    state.node["told"][node] += count
    for r in range(view.shape["demand"].shape[1]):
        used = view.node["used"][node, r]
        if used != state.node["used"][node, r]:
            turn_to(state.node, node, r, estimate(state, node, r), used)
        state.node["age"][node, r] += count


@callable_too
def take_reports(view, state, params, node, count):
    """So many equal reports, of the node and of its containers."""
    follow_node(view, state, node, count)
    container = view.node["first_container"][node] if params.young_reports + params.forget > 0 else -1
    while container >= 0:
        seen = state.container["seen"][container] + count
        state.container["seen"][container] = seen
        grows_up = seen * 1000 >= params.young_reports and is_young(view, state, params, container)
        if grows_up:
            state.container["grew_up_at"][container] = seen
        for r in range(view.shape["demand"].shape[1]):
            if grows_up:  # (2), now that it is not young any more
                demand = view.shape["demand"][view.stage_spec["shape"][view.container["stage"][container]], r]
                state.node["young"][node, r] -= demand
                set_estimate(state, node, r, estimate(state, node, r) + demand)
            if params.forget != 0:
                used = view.container["used"][container, r]
                if used != state.container["used"][container, r]:
                    turn_to(state.container, container, r, smoothed_use(state, node, container, r), used)
                state.container["age"][container, r] += count
        container = view.container["next"][container]


@callable_too
def reports_until_change(view, state, params, node, count):
    """How many of so many equal reports can be taken at once: until a container is young no more."""
    container = view.node["first_container"][node] if params.young_reports > 0 else -1
    while container >= 0:
        if is_young(view, state, params, container):
            count = min(count, max(1, params.young_reports // 1000 - state.container["seen"][container]))
        container = view.container["next"][container]
    return count


@callable_too
def say_available(view, state, params, node):
    """The node tells what is available."""
    kept = state.node
    kept["reports"][node] += 1
    for r in range(view.shape["demand"].shape[1]):
        kept["said_before"][node, r], kept["since_before"][node, r] = kept["said"][node, r], kept["since"][node, r]
        kept["said"][node, r], kept["since"][node, r] = available_now(view, state, params, node, r), 0


@callable_too
def reported(view, state, params, node, count):
    by_worker = params.side != 0
    while count > 0:
        step = reports_until_change(view, state, params, node, count)
        if by_worker and step == count and step > 1:
            step -= 1  # the last one but one is what the master will act on
        take_reports(view, state, params, node, step)
        if by_worker:
            say_available(view, state, params, node)
        count -= step


@callable_too
def allocated_or_ended(view, state, params, kind, node, stage, container, value):
    if kind == EVENT_ALLOCATED:
        state.container["born_at"][container] = state.node["told"][node]
    for r in range(view.shape["demand"].shape[1]):
        demand = view.shape["demand"][view.stage_spec["shape"][stage], r]
        if kind == EVENT_ALLOCATED:
            state.node["since"][node, r] += demand
            state.node["since_before"][node, r] += demand
            if params.young_reports > 0:
                state.node["young"][node, r] += demand
            else:
                set_estimate(state, node, r, estimate(state, node, r) + demand)  # (2)
        else:
            rest = 0
            if is_young(view, state, params, container):
                state.node["young"][node, r] -= demand
            else:
                rest = left_of(state, node, container, demand, value)  # (4)
            if params.forget != 0:
                rest += smoothed_use(state, node, container, r)
            set_estimate(state, node, r, max(0, estimate(state, node, r) - rest))
    if kind != EVENT_ALLOCATED:
        count_end(view, state, params, node, kind == EVENT_STOPPED and view.node["alive"][node] != 0)


def observe(view, state, params, kind, node, stage, container, value):
    if kind == EVENT_REPORTED:
        if params.side + params.young_reports + params.forget == 0:  # as in the paper: a dozen and more for each task
            follow_node(view, state, node, value)
        else:
            reported(view, state, params, node, value)
    elif kind == EVENT_NODE_LOST:
        state.node["reports"][node] = 0
    else:
        allocated_or_ended(view, state, params, kind, node, stage, container, value)
    return 0


def total(view, state, params, node, r):
    allocated = view.node["allocated"][node, r]
    if params.side == 0:
        return allocated + available_now(view, state, params, node, r)
    if state.node["reports"][node] < 2:
        return view.node["allowance"][node, r]
    return allocated + state.node["said_before"][node, r] - state.node["since_before"][node, r]


USAGE_FEEDBACK = Sizing(
    name="usage-feedback",
    summary=("overcommit what nodes do not use: a damped estimate of utilisation replaces reservations (paper 1)"),
    total=total,
    on_event=observe,
    parameters=(
        Parameter(
            "damping",
            0.125,
            "how fast the estimate follows reports, per second; 0 is reservation, 1 instantaneous",
            low=0,
            high=1,
        ),
        Parameter(
            "headroom",
            "allowance",
            "what is available: allowance less estimate, or as the prototype has it, looking at the hardware too",
            choices=("allowance", "prototype"),
        ),
        Parameter(
            "side",
            "master",
            "who estimates: the ResourceManager, or the nodes, one to two reports later",
            choices=("master", "worker"),
        ),
        Parameter("young_reports", 0, "a container counts in full for this many reports; not in the paper", low=0),
        Parameter("forget", False, "remove a container's smoothed use when it ends; not in the paper"),
        Parameter(
            "target_failures",
            0.0,
            "percent of containers that may fail: each node tunes its damping to that, from the one given; "
            "0 keeps it; not in the paper",
            low=0,
            high=100,
        ),
    ),
    state=State(
        # said: what the last report said is available; since: what was allocated after it; the same of the report
        # before. told: reports so far. balance: what of a failure may still be spent. step: of the node's damping.
        node=(
            "reports",
            "told",
            "balance",
            "step",
            SMOOTHED,
            per_resource("young", "said", "said_before", "since", "since_before"),
        ),
        # Reports that it saw, and had seen when it was young no more; that its node had made at its allocation. gone:
        # what of its reservation had faded, in parts of WHOLE, when it had seen `retuned_at` reports.
        container=("seen", "grew_up_at", "born_at", "gone", "retuned_at", SMOOTHED),
        table=("start",),  # the place of the damping that was asked for among those in `powers`
        lists=("powers",),
    ),
    listens=(EVENT_ALLOCATED, EVENT_FINISHED, EVENT_STOPPED, EVENT_REPORTED, EVENT_NODE_LOST),
    prepare=prepare,
    reads_containers="forget",
    reads_failures="target_failures",
    young="young_reports",
)
