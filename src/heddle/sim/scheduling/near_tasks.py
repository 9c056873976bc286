"""Which waiting task of a stage has its input near a node."""

from __future__ import annotations

from heddle.sim.numba.units import unit


@unit
def task_near(sim, stage, n):
    """The waiting task of the stage that prefers node n, else its rack, else the first; by number."""
    view = sim.shown
    first = view.stage_spec["first_task"][stage]
    in_rack, on_node = -1, -1
    k = sim.stage_run["returned"][stage]
    fresh = first + sim.stage_run["next_fresh"][stage]
    while True:
        if k < 0:
            k = fresh
        if k >= first + sim.stage_run["asked"][stage]:
            break
        host = sim.prefers[k]
        if host == n and on_node < 0:
            on_node = k
        if host >= 0 and in_rack < 0 and view.node["rack"][host] == view.node["rack"][n]:
            in_rack = k
        k = k + 1 if k >= fresh else sim.task["link"][k]
    return on_node if on_node >= 0 else in_rack
