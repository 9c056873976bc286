"""The engine's memory before a run, and more of it when the engine runs short: all as declared."""

from __future__ import annotations

from heddle.model.view import View
from heddle.sim.memory.carrying import carried
from heddle.sim.memory.lever_memory import levers_at_start, levers_grown
from heddle.sim.memory.making import lengthened, made
from heddle.sim.memory.run_inputs import RunInputs
from heddle.sim.memory.shown import SHOWN
from heddle.sim.memory.sizes import Sizes
from heddle.sim.memory.tables import OWN, Sim
from heddle.sim.memory.window import Moved


def build_sim(run: RunInputs) -> Sim:
    """The engine's memory at time 0."""
    sizes = Sizes.at_start(run)
    view = View(**made(SHOWN, sizes))
    return Sim(view, levers_at_start(sizes, view), made(OWN, sizes))


def with_more_slots(sim: Sim, run: RunInputs) -> Sim:
    """The same memory with twice as many slots and timers."""
    return _grown(sim, _sizes_of(sim, run).more_slots())


def with_more_flows(sim: Sim, run: RunInputs) -> Sim:
    """The same memory with room for at least twice as many flows and routes."""
    return _grown(sim, _sizes_of(sim, run).more_flows())


def with_other_jobs(sim: Sim, run: RunInputs, moved: Moved, then: RunInputs) -> Sim:
    """The memory over the jobs of `then`, the first of which are those that stay."""
    return carried(sim, run, moved, _sizes_of(sim, then))


def _sizes_of(sim: Sim, run: RunInputs) -> Sizes:
    return Sizes(run, slots=len(sim.slot), timers=len(sim.timer), flows=len(sim.flow))


def _grown(sim: Sim, sizes: Sizes) -> Sim:
    shown = sim.shown._replace(**lengthened(SHOWN, sim.shown._asdict(), sizes))
    return Sim(shown, levers_grown(sim.levers, sizes), sim.own | lengthened(OWN, sim.own, sizes))
