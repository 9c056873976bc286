"""Usage feedback (Ha et al., "load awareness at worker side"): promise what is not really used.

Per node and resource an estimate E of what is in use, on each report of utilisation U, damping a:
    E = (1-a) E + a U            (1)
    E += R                       (2)  when a request R is allocated
    E = U if E < U               (3)
    E -= (1-a)^n R               (4)  when a container that saw n reports ends
While reports say the same, (1) and (3) have the closed form E = U + max(0, E0 - U) (1-a)^k, so that any number of equal
reports is one step. Powers are read from a table by age and never multiplied up: skipping idle time changes nothing.
available = allowance - E (the rule of the paper's simulator), so total = allocated + allowance - E.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from heddle.model.compiled import callable_too
from heddle.model.resources import MAX_RESOURCES
from heddle.model.view import EVENT_ALLOCATED, EVENT_FINISHED, EVENT_REPORTED, EVENT_STOPPED
from heddle.policy.lever import Columns, Lever, Parameter, Question
from heddle.policy.policy import Setup

POWER_BITS = 30
MAX_AGE = 4096  # reports after which a reservation has decayed to nothing at any sensible damping
# Columns of state.node, per resource r: 3 * r + ...
E0, USED, AGE = 0, 1, 2


def prepare(setup: Setup) -> npt.NDArray[np.int64]:
    """The table of (1-a)^k in fixed point; a is per second, reports come every report_ms."""
    keep = 1.0 - float(setup.lever.parameter("damping"))
    per_report = setup.view.clock["report_ms"][0] / 1000
    return np.array([round((1 << POWER_BITS) * keep ** (k * per_report)) for k in range(MAX_AGE)], np.int64)


@callable_too
def faded(state, amount, age):  # type: ignore[no-untyped-def]
    """amount * (1-a)^age."""
    return amount * state.table[min(age, MAX_AGE - 1)] >> POWER_BITS


@callable_too
def estimate(state, node, r):  # type: ignore[no-untyped-def]
    anchor, used, age = state.node[node, 3 * r + E0], state.node[node, 3 * r + USED], state.node[node, 3 * r + AGE]
    return anchor if age == 0 else used + faded(state, max(0, anchor - used), age)


def observe(view, state, params, kind, node, stage, container, value):  # type: ignore[no-untyped-def]
    for r in range(view.shape["demand"].shape[1]):
        if kind == EVENT_REPORTED:
            used = view.node["used"][node, r]
            if used != state.node[node, 3 * r + USED]:
                state.node[node, 3 * r + E0] = estimate(state, node, r)
                state.node[node, 3 * r + USED] = used
                state.node[node, 3 * r + AGE] = value
            else:
                state.node[node, 3 * r + AGE] += value
        else:
            demand = view.shape["demand"][view.stage_spec["shape"][stage], r]
            now = estimate(state, node, r)
            if kind == EVENT_ALLOCATED:
                now += demand
            else:
                now = max(0, now - faded(state, demand, value))
            state.node[node, 3 * r + E0] = now
            state.node[node, 3 * r + AGE] = 0
    return 0


def total(view, state, params, node, r):  # type: ignore[no-untyped-def]
    return view.node["allocated"][node, r] + view.node["allowance"][node, r] - estimate(state, node, r)


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
    ),
    columns=Columns(node=3 * MAX_RESOURCES),
    listens=(EVENT_ALLOCATED, EVENT_FINISHED, EVENT_STOPPED, EVENT_REPORTED),
    prepare=prepare,
    changes="allocation",
)
