"""Which jobs stay in memory when more come: those that have not ended, and those that anything still refers to."""

from __future__ import annotations

import numpy as np

from heddle.model.some_jobs import Mask
from heddle.model.view import JOB_FINISHED
from heddle.policy.carried_state import jobs_in_chains
from heddle.sim.codes import FREE, TIMER_ARRIVE, TIMER_ASK, TIMER_LOOK, TIMER_RETRY
from heddle.sim.memory.run_inputs import RunInputs
from heddle.sim.memory.tables import Sim


def who_stays(sim: Sim, run: RunInputs) -> Mask:
    """A timer that means nothing any more keeps its job, too: the clock then finds what it would find anyway."""
    view, control = sim.shown, sim.control[0]
    stays: Mask = view.job["state"] < JOB_FINISHED
    job_of_stage = view.stage_spec["job"]
    timers = sim.timer[: control["n_timers"]]
    subject, kind = timers["subject"], timers["kind"]
    stays[subject[(kind == TIMER_ARRIVE) | (kind == TIMER_LOOK)]] = True
    stays[job_of_stage[subject[kind == TIMER_ASK]]] = True
    if (kind == TIMER_RETRY).any():
        stage_of_task = np.repeat(np.arange(len(job_of_stage)), view.stage_spec["n_tasks"])
        stays[job_of_stage[stage_of_task[subject[kind == TIMER_RETRY]]]] = True
    stays[sim.slot["job"][sim.slot["phase"] != FREE]] = True
    if control["looker"] >= 0:
        stays[control["looker"]] = True
    if run.by_stage:  # wants are stages, and one for which there was no room may wait no more
        stays[job_of_stage[sim.full[: control["n_no_room"]]]] = True
    for kept in sim.levers.values():
        stays[jobs_in_chains(kept.lever.state, kept.state)] = True
    return stays
