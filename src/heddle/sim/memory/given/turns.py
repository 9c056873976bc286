"""Whose turn it is among requests with equal keys: by number, but that a job's early stages come before its others.

MapReduce's AM asks for reduces with priority 10 and for maps with 20, and the smaller goes first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from heddle.model.workload import AM, Workload


@dataclass(frozen=True)
class Turns:
    of_stage: npt.NDArray[np.int32]
    stages: npt.NDArray[np.int32]  # the stage of each turn

    @classmethod
    def of(cls, workload: Workload) -> Turns:
        stages = workload.stages
        in_order = np.arange(len(stages), dtype=np.int32)
        if not (stages["slow_start_permille"] >= 0).any():
            return cls(in_order, in_order)
        rank = np.where(stages["kind"] == AM, 0, np.where(stages["slow_start_permille"] >= 0, 1, 2))
        by_turn = np.lexsort((rank, stages["job"])).astype(np.int32)  # stable: then by number
        turns = np.empty_like(in_order)
        turns[by_turn] = in_order
        return cls(turns, by_turn)
