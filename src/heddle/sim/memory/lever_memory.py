"""What levers remember: the columns that each declares, in the engine's memory."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from heddle.model.view import LeverState, View
from heddle.policy.lever import Lever, Question
from heddle.policy.policy import Setup
from heddle.sim.memory.declaring import Table
from heddle.sim.memory.given.places import declared
from heddle.sim.memory.run_inputs import RunInputs
from heddle.sim.memory.sizes import Sizes


class Levers(NamedTuple):
    """State and parameters of the six levers."""

    queues: LeverState
    queues_params: Any
    ordering: LeverState
    ordering_params: Any
    admission: LeverState
    admission_params: Any
    sizing: LeverState
    sizing_params: Any
    partition: LeverState
    partition_params: Any
    placement: LeverState
    placement_params: Any


# What compiled code sees of it; how wide it is, each lever says itself.
PARAMS: Final = Table(lambda _: np.dtype(np.int64))
STATE: Final = {part: Table(PARAMS.dtype, axes=1 if part == "table" else 2) for part in LeverState._fields}


def levers_at_start(sizes: Sizes, view: View) -> Levers:
    """With what prepare() of each makes of its memory."""
    levers = sizes.run.policy.by_question
    found: dict[str, Any] = {}
    for question in Question:
        found[str(question)] = _prepared(levers[question], sizes, view)
        found[f"{question}_params"] = np.array(levers[question].in_thousandths(), np.int64)
    return Levers(**found)


def levers_grown(levers: Levers, sizes: Sizes) -> Levers:
    """With a row for each container that can live now."""
    longer = {}
    for question in Question:
        state: LeverState = getattr(levers, question)
        rows, columns = state.container.shape
        if columns and sizes.slots > rows:
            more = np.zeros((sizes.slots - rows, columns), np.int64)
            longer[str(question)] = state._replace(container=np.concatenate([state.container, more]))
    return levers._replace(**longer)


def _zeroed(lever: Lever, sizes: Sizes) -> LeverState:
    """As the lever declares it."""

    def state(rows: int, columns: int) -> Any:
        return np.zeros((rows if columns else 0, columns), np.int64)

    return LeverState(
        table=np.zeros(0, np.int64),
        node=state(sizes.nodes, lever.columns.node),
        job=state(sizes.jobs, lever.columns.job),
        container=state(sizes.slots, lever.columns.container),
    )


def _prepared(lever: Lever, sizes: Sizes, view: View) -> LeverState:
    run: RunInputs = sizes.run
    state = _zeroed(lever, sizes)
    if lever.prepare is None:
        return state
    truth = run.workload if lever.clairvoyant else None
    said = declared(run.workload, run.cluster, run.preferred) if lever.reads_declared else None
    table = lever.prepare(Setup(lever, view, state, truth, run.preferred.first, run.preferred.nodes, said))
    return state if table is None else state._replace(table=table)
