"""Usage feedback (Ha et al., "load awareness at worker side"): promise what is not really used.

Per node and resource an estimate E of what is in use, on each report of utilisation U, damping a:
    E = (1-a) E + a U            (1)
    E += R                       (2)  when a request R is allocated
    E = U if E < U               (3)
    E -= (1-a)^n R               (4)  when a container that saw n reports ends
While reports say the same, (1) and (3) have the closed form E = U + max(0, E0 - U) (1-a)^k, so that any number of equal
reports is one step. Powers are read from a table by age and never multiplied up: skipping idle time changes nothing.

What is available is allowance - E in the paper's simulator (`headroom=allowance`), and in its prototype the smaller of
    allowance - use of all containers      (5)
    capacity - E                           (6)
total = allocated + available. With `side=worker` the node estimates, and the master has what the report before the last
one said was available, less what it allocated there since: one to two reports late. An end makes nothing available
before a report has told of it: the master does not know how much of the reservation was still counted.

Two improvements that are not in the paper. `young_reports=y`: a container counts in full, beside E, for its first y
reports, and (2) takes place then: one that has just been launched uses nothing yet. What it does use by then is in E
too, so never more is expected than what is in use and all that is reserved beyond it: a node promises no less than by
reservation. On a live cluster y follows how long containers take to start, so what matters is when each was charged,
not what y is by now. `forget`: at the end of a container its own smoothed use goes with what (4) takes; the paper
leaves it in E, where it decays.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from heddle.model.compiled import callable_too
from heddle.model.resources import MAX_RESOURCES
from heddle.model.view import EVENT_ALLOCATED, EVENT_FINISHED, EVENT_NODE_LOST, EVENT_REPORTED, EVENT_STOPPED
from heddle.model.workload import INNER
from heddle.policy.lever import Columns, Lever, Parameter, Question
from heddle.policy.policy import Setup

POWER_BITS = 30
MAX_AGE = 4096  # reports after which a reservation has decayed to nothing at any sensible damping
HEADROOM_AT, SIDE_AT, YOUNG_AT, FORGET_AT = 1, 2, 3, 4  # places of parameters
# Columns of state.node, per resource r: PER_RESOURCE * r + ...; SAID: what the last report said is available; SINCE:
# what was allocated after it; the same of the report before.
E0, USED, AGE, YOUNG, SAID, SAID_BEFORE, SINCE, SINCE_BEFORE, PER_RESOURCE = 0, 1, 2, 3, 4, 5, 6, 7, 8
REPORTS = PER_RESOURCE * MAX_RESOURCES
# Columns of state.container: reports that it saw, and had seen when it was young no more (0: it still is, if y > 0);
# then of its smoothed use, per resource, what E0, USED, AGE are of E
SEEN, GREW_UP_AT, SMOOTHED, PER_SMOOTHED = 0, 1, 2, 3


def prepare(setup: Setup) -> npt.NDArray[np.int64]:
    """The table of (1-a)^k in fixed point; a is per second, reports come every report_ms."""
    keep = 1.0 - float(setup.lever.parameter("damping"))
    per_report = setup.view.clock["report_ms"][0] / 1000
    return np.array([round((1 << POWER_BITS) * keep ** (k * per_report)) for k in range(MAX_AGE)], np.int64)


@callable_too
def faded(state, amount, age):
    """amount * (1-a)^age."""
    return amount * state.table[min(age, MAX_AGE - 1)] >> POWER_BITS


@callable_too
def estimate(state, node, r):
    at = PER_RESOURCE * r
    anchor, used, age = state.node[node, at + E0], state.node[node, at + USED], state.node[node, at + AGE]
    return anchor if age == 0 else used + faded(state, max(0, anchor - used), age)


@callable_too
def smoothed_use(state, container, r):
    """(1) of a container's own use."""
    at = SMOOTHED + PER_SMOOTHED * r
    anchor, used = state.container[container, at + E0], state.container[container, at + USED]
    rest = faded(state, abs(anchor - used), state.container[container, at + AGE])
    return used + rest if anchor > used else used - rest


@callable_too
def is_young(view, state, params, row):
    """Tasks inside an executor have rows too, but nothing was ever allocated for them."""
    if params[YOUNG_AT] == 0 or state.container[row, GREW_UP_AT] > 0:
        return False
    return view.stage_spec["kind"][view.container["stage"][row]] != INNER


@callable_too
def set_estimate(state, node, r, amount):
    state.node[node, PER_RESOURCE * r + E0] = amount
    state.node[node, PER_RESOURCE * r + AGE] = 0


@callable_too
def available_now(view, state, params, node, r):
    """By the estimate as it is now."""
    expected = estimate(state, node, r) + state.node[node, PER_RESOURCE * r + YOUNG]
    if params[YOUNG_AT] > 0:
        idle = view.node["allocated"][node, r] - view.node["containers_used"][node, r]
        expected = min(expected, view.node["used"][node, r] + max(0, idle))
    if params[HEADROOM_AT] == 0:
        return view.node["allowance"][node, r] - expected
    by_containers = view.node["allowance"][node, r] - view.node["containers_used"][node, r]  # (5)
    return min(by_containers, view.node["capacity"][node, r] - expected)  # (6)


@callable_too
def take_reports(view, state, params, node, count):
    """(1) and (3), for so many equal reports."""
    for r in range(view.shape["demand"].shape[1]):
        at, used = PER_RESOURCE * r, view.node["used"][node, r]
        if used != state.node[node, at + USED]:
            state.node[node, at + E0] = estimate(state, node, r)
            state.node[node, at + USED] = used
            state.node[node, at + AGE] = count
        else:
            state.node[node, at + AGE] += count
    container = view.node["first_container"][node] if params[YOUNG_AT] + params[FORGET_AT] > 0 else -1
    while container >= 0:
        stage = view.container["stage"][container]
        seen = state.container[container, SEEN] + count
        state.container[container, SEEN] = seen
        grows_up = seen * 1000 >= params[YOUNG_AT] and is_young(view, state, params, container)
        if grows_up:
            state.container[container, GREW_UP_AT] = seen
        for r in range(view.shape["demand"].shape[1]):
            if grows_up:  # (2), now that it is not young any more
                demand = view.shape["demand"][view.stage_spec["shape"][stage], r]
                state.node[node, PER_RESOURCE * r + YOUNG] -= demand
                set_estimate(state, node, r, estimate(state, node, r) + demand)
            if params[FORGET_AT] != 0:
                at, used = SMOOTHED + PER_SMOOTHED * r, view.container["used"][container, r]
                if used != state.container[container, at + USED]:
                    state.container[container, at + E0] = smoothed_use(state, container, r)
                    state.container[container, at + USED] = used
                    state.container[container, at + AGE] = count
                else:
                    state.container[container, at + AGE] += count
        container = view.container["next"][container]


@callable_too
def reports_until_change(view, state, params, node, count):
    """How many of so many equal reports can be taken at once: until a container is young no more."""
    container = view.node["first_container"][node] if params[YOUNG_AT] > 0 else -1
    while container >= 0:
        if is_young(view, state, params, container):
            count = min(count, max(1, params[YOUNG_AT] // 1000 - state.container[container, SEEN]))
        container = view.container["next"][container]
    return count


@callable_too
def say_available(view, state, params, node):
    """The node tells what is available."""
    state.node[node, REPORTS] += 1
    for r in range(view.shape["demand"].shape[1]):
        at = PER_RESOURCE * r
        state.node[node, at + SAID_BEFORE] = state.node[node, at + SAID]
        state.node[node, at + SAID] = available_now(view, state, params, node, r)
        state.node[node, at + SINCE_BEFORE] = state.node[node, at + SINCE]
        state.node[node, at + SINCE] = 0


@callable_too
def reported(view, state, params, node, count):
    by_worker = params[SIDE_AT] != 0
    while count > 0:
        step = reports_until_change(view, state, params, node, count)
        if by_worker and step == count and step > 1:
            step -= 1  # the last one but one is what the master will act on
        take_reports(view, state, params, node, step)
        if by_worker:
            say_available(view, state, params, node)
        count -= step


def observe(view, state, params, kind, node, stage, container, value):
    if kind == EVENT_REPORTED:
        reported(view, state, params, node, value)
        return 0
    if kind == EVENT_NODE_LOST:
        state.node[node, REPORTS] = 0
        return 0
    for r in range(view.shape["demand"].shape[1]):
        demand = view.shape["demand"][view.stage_spec["shape"][stage], r]
        if kind == EVENT_ALLOCATED:
            state.node[node, PER_RESOURCE * r + SINCE] += demand
            state.node[node, PER_RESOURCE * r + SINCE_BEFORE] += demand
        if kind == EVENT_ALLOCATED and params[YOUNG_AT] > 0:
            state.node[node, PER_RESOURCE * r + YOUNG] += demand
        elif kind == EVENT_ALLOCATED:
            set_estimate(state, node, r, estimate(state, node, r) + demand)  # (2)
        else:
            rest = 0
            if is_young(view, state, params, container):
                state.node[node, PER_RESOURCE * r + YOUNG] -= demand
            else:
                rest = faded(state, demand, value - state.container[container, GREW_UP_AT])  # (4)
            if params[FORGET_AT] != 0:
                rest += smoothed_use(state, container, r)
            set_estimate(state, node, r, max(0, estimate(state, node, r) - rest))
    return 0


def total(view, state, params, node, r):
    allocated = view.node["allocated"][node, r]
    if params[SIDE_AT] == 0:
        return allocated + available_now(view, state, params, node, r)
    if state.node[node, REPORTS] < 2:
        return view.node["allowance"][node, r]
    at = PER_RESOURCE * r
    return allocated + state.node[node, at + SAID_BEFORE] - state.node[node, at + SINCE_BEFORE]


USAGE_FEEDBACK = Lever(
    name="usage-feedback",
    question=Question.SIZING,
    summary=(
        "promise what nodes do not really use: "
        "a damped estimate of utilisation takes the place of reservations (paper 1)"
    ),
    hooks={"total": total, "on_event": observe},
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
        Parameter("young_reports", 0, "for so many reports a container counts in full; not in the paper", low=0),
        Parameter("forget", False, "take a container's smoothed use out when it ends; not in the paper"),
    ),
    columns=Columns(node=REPORTS + 1, container=SMOOTHED + PER_SMOOTHED * MAX_RESOURCES),
    listens=(EVENT_ALLOCATED, EVENT_FINISHED, EVENT_STOPPED, EVENT_REPORTED, EVENT_NODE_LOST),
    prepare=prepare,
    changes="allocation",
    reads_containers="forget",
)
