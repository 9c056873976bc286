"""A sizing lever of one's own, with state and a parameter: a node promises what its recent peak of use leaves.

heddle compare mix --policy fifo --policy "./examples/recent_peak.py:recent_peak(keep=0.95)"
"""

from heddle.model.view import EVENT_ALLOCATED, EVENT_REPORTED
from heddle.policy.lever import Parameter, State, per_resource, sizing


def observe(view, state, params, kind, node, stage, container, value):
    for r in range(view.shape["demand"].shape[1]):
        if kind == EVENT_ALLOCATED:  # no report has seen it yet: it counts in full
            state.node["peak"][node, r] += view.shape["demand"][view.stage_spec["shape"][stage], r]
        else:
            for _ in range(value):  # this many reports said the same
                faded = state.node["peak"][node, r] * params.keep // 1000
                state.node["peak"][node, r] = max(view.node["used"][node, r], faded)
    return 0


@sizing(
    parameters=(Parameter("keep", 0.9, "part of the last peak that stays at each report", low=0, high=1),),
    state=State(node=per_resource("peak")),
    on_event=observe,
    listens=(EVENT_ALLOCATED, EVENT_REPORTED),
)
def recent_peak(view, state, params, node, r):
    """promise what the recent peak of use leaves"""
    return view.node["allocated"][node, r] + view.node["allowance"][node, r] - state.node["peak"][node, r]
