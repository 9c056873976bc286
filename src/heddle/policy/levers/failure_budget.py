"""Damping tuned to a failure budget (`target_failures`), for each node by what was seen there. Not in the paper.

So many percent of the containers may fail. Every container that ends on a node earns that part of a failure, one that
fails costs a whole one; with every quarter of a failure that is left over the damping rises by a factor of sqrt(2), and
for every quarter that is owed it falls by as much. So it comes to rest where as many fail as may. It stays from a
sixteenth of `damping`, where it begins, to 1; what is earned or owed beyond these ends is forgotten.

A failure is a container that ended otherwise than well on a node that is there: no host says why it did. A
ResourceManager does not even tell that (a task that is tried again is no news to it), so this is for the simulator.
"""

from __future__ import annotations

from heddle.model.compilable import callable_too
from heddle.policy.levers.usage_estimate import (
    MAX_AGE,
    STEPS_BELOW,
    WHOLE,
    estimate,
    left_of,
    set_estimate,
    smoothed_use,
)

FAILURE = 100_000  # in thousandths of a percent, as the parameter comes
QUARTER = FAILURE // 4


@callable_too
def count_end(view, state, params, node, failed):
    """A container ended on the node: what may fail from now on."""
    if params.target_failures == 0:
        return
    balance = state.node["balance"][node] + params.target_failures - (FAILURE if failed else 0)
    steps = balance // QUARTER
    state.node["balance"][node] = balance - steps * QUARTER
    highest = state.powers.shape[0] // MAX_AGE - 1 - state.table["start"][0]
    step = max(-STEPS_BELOW, min(highest, state.node["step"][node] + steps))
    if step != state.node["step"][node] and state.table["start"][0] > 0:
        retune(view, state, params, node, step)


@callable_too
def retune(view, state, params, node, step):
    """Another damping from now on: what has faded by the old one is written down."""
    for r in range(view.shape["demand"].shape[1]):
        set_estimate(state, node, r, estimate(state, node, r))
    container = view.node["first_container"][node]
    while container >= 0:
        kept = state.container
        reports = state.node["told"][node] - kept["born_at"][container]
        if params.young_reports == 0 or kept["grew_up_at"][container] > 0:
            kept["gone"][container] = WHOLE - left_of(state, node, container, WHOLE, reports)
            kept["retuned_at"][container] = reports
        if params.forget != 0:
            for r in range(view.shape["demand"].shape[1]):
                smoothed = smoothed_use(state, node, container, r)
                kept["anchor"][container, r], kept["age"][container, r] = smoothed, 0
        container = view.container["next"][container]
    state.node["step"][node] = step
