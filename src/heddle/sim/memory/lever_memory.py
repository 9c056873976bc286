"""What levers remember, as each declares it, and their parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from heddle.model.view import View
from heddle.policy.declaration import Lever
from heddle.policy.lever import Placement
from heddle.policy.policy import Setup
from heddle.policy.question import Question
from heddle.policy.state import THINGS, lever_state
from heddle.sim.memory.declaring import Table
from heddle.sim.memory.given.places import declared
from heddle.sim.memory.run_inputs import RunInputs
from heddle.sim.memory.sizes import Sizes

# What compiled code sees of it, to clear rows.
CONTAINERS: Final = Table(lambda _: np.dtype(np.int64), axes=2)
_NONE: Final = np.zeros(0, np.dtype([]))


@dataclass(frozen=True)
class Kept:
    """Of one lever. `state` is what prepare() gets, and what the lever's hooks see where they run as Python."""

    lever: Lever
    state: Any
    params: npt.NDArray[np.int64]

    @property
    def containers(self) -> npt.NDArray[Any]:
        return getattr(self.state, "container", _NONE)

    def arrays(self, truth: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
        """In the order of its StateLayout."""
        return [*self.state, truth] if "future_peak" in self.lever.truth else list(self.state)


Levers = Mapping[Question, Kept]


def levers_at_start(sizes: Sizes, view: View) -> Levers:
    """Those of the policy, prepared."""
    levers = sizes.run.policy.by_question
    return {question: prepared(levers[question], sizes, view) for question in Question}


def levers_grown(levers: Levers, sizes: Sizes) -> Levers:
    """With a row for each container that can live now."""
    return {question: _grown(kept, sizes) for question, kept in levers.items()}


def _grown(kept: Kept, sizes: Sizes) -> Kept:
    rows = kept.containers
    if not rows.dtype.itemsize or sizes.slots <= len(rows):
        return kept
    more = np.zeros(sizes.slots - len(rows), rows.dtype)
    return replace(kept, state=kept.state._replace(container=np.concatenate([rows, more])))


def prepared(lever: Lever, sizes: Sizes, view: View) -> Kept:
    """With what its prepare() makes of its memory."""
    run: RunInputs = sizes.run
    rows = dict(zip((*THINGS, "table"), (sizes.nodes, sizes.jobs, sizes.slots, 1), strict=True))
    arrays = {part: lever.state.zeroed(part, rows[part], run.n_resources) for part in lever.state.parts}
    if lever.prepare is not None:
        truth = run.workload if "workload" in lever.truth else None
        reads = isinstance(lever, Placement) and lever.reads_declared
        said = declared(run.workload, run.cluster, run.preferred) if reads else None
        setup = Setup(lever, view, lever_state(arrays), truth, run.preferred.first, run.preferred.nodes, said)
        arrays |= setup.prepared_lists()
    params = np.array(lever.in_thousandths() or [0], np.int64)
    return Kept(lever, lever_state(arrays), params)
