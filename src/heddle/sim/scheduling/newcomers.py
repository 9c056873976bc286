"""Requests that somebody outside has to name before they are served: he hears of them, and they are held for a while.

Nobody outside, or one who names nothing: all that happens is that the beginning of waiting is written down.
"""

from __future__ import annotations

from heddle.model.compiled import inlined
from heddle.model.workload import AM


@inlined
def begin_to_wait(sim, stage):
    """The stage asks for containers, and none of its tasks was waiting."""
    control, now = sim.control, sim.shown.clock["now_ms"][0]
    sim.stage_run["waits_since_ms"][stage] = now
    if control["hears_in_ms"][0] > 0:
        heard = now + control["hears_in_ms"][0]
        control["hears_at_ms"][0] = min(control["hears_at_ms"][0], heard)
        control["look_at_ms"][0] = min(control["look_at_ms"][0], heard)


@inlined
def is_held(sim, stage):
    """Whether the stage's request is so young that somebody may be about to name it. Never an AM's."""
    if sim.stage_run["named"][stage] or sim.shown.stage_spec["kind"][stage] == AM:
        return False
    waited_ms = sim.shown.clock["now_ms"][0] - sim.stage_run["waits_since_ms"][stage]
    return waited_ms < sim.control["hold_ms"][0]
