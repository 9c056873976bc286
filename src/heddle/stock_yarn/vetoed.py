"""The placement of a simulated YARN that has the bridge: any node, but for those that the table vetoes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from heddle.model.reasons import Reason
from heddle.policy.lever import Placement, State
from heddle.policy.levers.placement import MOST_FREE
from heddle.policy.policy import Setup

NODES_PER_WORD: Final = 62
VETO: Final = int(Reason.VETO)


def _prepare(setup: Setup) -> dict[str, Any]:
    words = -(-len(setup.view.node) // NODES_PER_WORD)
    return {"vetoed": np.zeros(words * len(setup.view.stage), np.int64)}


def _allows(view, state, params, node, stage):  # type: ignore[no-untyped-def]
    words = state.vetoed.shape[0] // view.stage.shape[0]
    word = state.vetoed[stage * words + node // NODES_PER_WORD]
    return VETO if word >> (node % NODES_PER_WORD) & 1 else 0


def write_vetoes(vetoes: npt.NDArray[np.int64], n_stages: int, vetoed: npt.NDArray[np.int64]) -> None:
    """Into the list of the placement below: rows of (stage, node), and no others."""
    vetoed[:] = 0
    words = len(vetoed) // n_stages
    stages, nodes = vetoes[:, 0], vetoes[:, 1]
    np.bitwise_or.at(vetoed, stages * words + nodes // NODES_PER_WORD, np.int64(1) << nodes % NODES_PER_WORD)


VETOED: Final = replace(
    MOST_FREE,
    name="vetoed",
    summary="not where the table in the bridge says no",
    allows=_allows,
    state=State(lists=("vetoed",)),
    prepare=_prepare,
    of_yarn=False,
)


def vetoed_as(placement: Placement) -> Placement:
    """For tables that this placement makes: whether those behind one that is vetoed are stepped over to, it says."""
    return replace(VETOED, by_stage=placement.trait(placement.by_stage))
