"""What follows from what happened.

Things that follow from others are put on lists (endings, starts, asks, rekeys) and served here one after another, so
that each rule stands in one place.
"""

from __future__ import annotations

from heddle.model.compiled import inlined
from heddle.sim.codes import FREE
from heddle.sim.containers.ends import end
from heddle.sim.containers.starts import start_slot
from heddle.sim.scheduling.asking import rekey_all, rekey_job, stage_asks


@inlined
def settle(sim):
    """Serves everything that follows from what just happened, endings first."""
    control = sim.control
    lists = control["n_endings"][0] + control["n_starts"][0] + control["n_asks"][0] + control["n_rekeys"][0]
    if lists + control["keys_changed"][0] == 0:
        return
    ending, start, ask, rekeyed = 0, 0, 0, 0
    while True:
        if ending < control["n_endings"][0]:
            s, outcome = sim.endings[2 * ending], sim.endings[2 * ending + 1]
            ending += 1
            end(sim, s, outcome)
        elif start < control["n_starts"][0]:
            s = sim.starts[start]
            start += 1
            if sim.slot["phase"][s] != FREE:
                start_slot(sim, s)
        elif ask < control["n_asks"][0]:
            noted = sim.asks[ask]
            ask += 1
            stage_asks(sim, noted)
        elif rekeyed < control["n_rekeys"][0]:
            job = sim.rekeys[rekeyed]
            rekeyed += 1
            rekey_job(sim, job)
        else:
            break
    control["n_endings"][0] = 0
    control["n_starts"][0] = 0
    control["n_asks"][0] = 0
    control["n_rekeys"][0] = 0
    if control["keys_changed"][0]:
        control["keys_changed"][0] = 0
        rekey_all(sim)
