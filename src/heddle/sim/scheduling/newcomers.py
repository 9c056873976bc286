"""Requests that somebody outside has to name before they are served: he hears of them, and they are held for a while.

Nobody outside, or one who names nothing: all that happens is that the beginning of waiting is written down.
"""

from __future__ import annotations

from heddle.model.compiled import inlined
from heddle.model.workload import AM
from heddle.sim.codes import ASKS


@inlined
def begin_to_wait(sim, stage):
    """The stage asks for containers, and none of its tasks was waiting."""
    sim.stage_run["waits_since_ms"][stage] = sim.shown.clock["now_ms"][0]
    sim.control["began_to_wait"][0] += 1


@inlined
def never_asked(sim, stage):
    """What waits of the stage is withdrawn. Jobs ask in phase 5: if that has not come, nobody has heard of it."""
    at_once = sim.stage_run["waits_since_ms"][stage] == sim.shown.clock["now_ms"][0]
    if sim.control["phase"][0] < ASKS and at_once and sim.shown.stage["waiting"][stage] > 0:
        sim.control["began_to_wait"][0] -= 1


@inlined
def hear_of_newcomers(sim):
    """The instant is over: whoever has to name requests looks a little later."""
    control = sim.control
    if control["began_to_wait"][0] > 0 and control["hears_in_ms"][0] > 0:
        heard = sim.shown.clock["now_ms"][0] + control["hears_in_ms"][0]
        control["hears_at_ms"][0] = min(control["hears_at_ms"][0], heard)
        control["look_at_ms"][0] = min(control["look_at_ms"][0], heard)
    control["began_to_wait"][0] = 0


@inlined
def is_held(sim, stage):
    """Whether the stage's request is so young that somebody may be about to name it. Never an AM's."""
    if sim.stage_run["named"][stage] or sim.shown.stage_spec["kind"][stage] == AM:
        return False
    waited_ms = sim.shown.clock["now_ms"][0] - sim.stage_run["waits_since_ms"][stage]
    return waited_ms < sim.control["hold_ms"][0]
