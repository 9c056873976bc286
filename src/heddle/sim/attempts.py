"""The attempts of a run that are under way; those that ended are in its log."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from heddle.sim.codes import FREE, LAUNCHING, NEVER
from heddle.sim.memory.declaring import dtype_of
from heddle.sim.memory.log_tables import Attempt
from heddle.sim.memory.tables import Sim

NO_OUTCOME: Final = -1


def attempts_held(sim: Sim) -> npt.NDArray[Any]:
    """The attempts that have not ended."""
    slots = np.flatnonzero(sim.slot["phase"] != FREE)
    slot, container = sim.slot[slots], sim.shown.container[slots]
    held = np.zeros(len(slots), dtype_of(Attempt, slot["used_ms"].shape[1]))
    started = slot["phase"] != LAUNCHING
    for name in ("task", "used_ms", "asked_at_ms", "allocated_place", "started_place"):
        held[name] = slot[name]
    for name in ("fetched_at_ms", "fetched_place", "fetched_bytes", "cross_rack_bytes"):
        held[name] = slot[name]
    for name in ("allocated_at_ms", "stage", "node"):
        held[name] = container[name]
    held["fetch_ms"] = slot["fetched_at_ms"] - slot["fetching_since_ms"]
    held["started_at_ms"] = np.where(started, container["started_at_ms"], NEVER)
    held["ended_at_ms"] = NEVER
    held["attempt"] = sim.task["attempts"][slot["task"]] - started
    held["outcome"] = NO_OUTCOME
    return held
