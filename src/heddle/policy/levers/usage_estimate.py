"""The estimate of usage feedback: what is in use, smoothed, in whole numbers.

While reports say the same, E = (1-a) E + a U has the closed form E = U + (E0 - U) (1-a)^k, so that any number of equal
reports is one step. Powers are read from a table by age and never multiplied up: skipping idle time changes nothing.

A node has a damping of its own, some steps of a factor sqrt(2) from the one that was asked for; without a failure
budget (failure_budget.py) nothing ever moves it, and the table has that one alone.
"""

from __future__ import annotations

import math
from typing import Any

from heddle.model.compilable import callable_too
from heddle.policy.lever import per_resource
from heddle.policy.policy import Setup

POWER_BITS = 30
WHOLE = 1 << POWER_BITS
MAX_AGE = 4096  # reports after which a reservation has decayed to nothing at any sensible damping
STEPS_BELOW = 8  # a sixteenth of the damping that was asked for: tasks of minutes keep most of their reservation
SMOOTHED = per_resource("anchor", "used", "age")  # E0, U and k of the closed form


def prepare(setup: Setup) -> dict[str, Any]:
    """A table of (1-a)^k in fixed point for each damping, one after another; per second, as reports come."""
    damping = float(setup.lever.parameter("damping"))
    per_report = setup.view.clock["report_ms"][0] / 1000
    dampings = [damping]
    if setup.lever.parameter("target_failures") and damping > 0:
        setup.state.table["start"] = STEPS_BELOW
        steps_to_1 = math.ceil(2 * math.log2(1 / damping))
        dampings = [min(1.0, damping * 2 ** (step / 2)) for step in range(-STEPS_BELOW, steps_to_1 + 1)]
    return {"powers": [power for a in dampings for power in _powers(1.0 - a, per_report)]}


def _powers(base: float, per_report: float) -> list[int]:
    """By age. Once one has faded to nothing, so have all that follow."""
    powers = []
    for age in range(MAX_AGE):
        powers.append(round(WHOLE * base ** (age * per_report)))
        if powers[-1] == 0:
            break
    return powers + [0] * (MAX_AGE - len(powers))


@callable_too
def faded(state, node, amount, age):
    """amount * (1-a)^age."""
    at = state.table["start"][0] + state.node["step"][node]
    return amount * state.powers[at * MAX_AGE + min(age, MAX_AGE - 1)] >> POWER_BITS


@callable_too
def estimate(state, node, r):
    kept = state.node
    anchor, used, age = kept["anchor"][node, r], kept["used"][node, r], kept["age"][node, r]
    return anchor if age == 0 else used + faded(state, node, max(0, anchor - used), age)


@callable_too
def set_estimate(state, node, r, amount):
    state.node["anchor"][node, r], state.node["age"][node, r] = amount, 0


@callable_too
def smoothed_use(state, node, container, r):
    """(1) of a container's own use."""
    kept = state.container
    anchor, used = kept["anchor"][container, r], kept["used"][container, r]
    rest = faded(state, node, abs(anchor - used), kept["age"][container, r])
    return used + rest if anchor > used else used - rest


@callable_too
def left_of(state, node, container, reserved, reports):
    """What E still holds of a reservation, so many reports after the container was allocated."""
    kept = state.container
    since = reports - max(kept["grew_up_at"][container], kept["retuned_at"][container])
    return faded(state, node, reserved * (WHOLE - kept["gone"][container]) >> POWER_BITS, since)


@callable_too
def turn_to(rows, row, r, smoothed, used):
    """Reports of another use come from now on; what was smoothed up to now is this."""
    rows["anchor"][row, r], rows["used"][row, r], rows["age"][row, r] = smoothed, used, 0
