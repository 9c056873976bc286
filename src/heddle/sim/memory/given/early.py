"""Early stages, those that may begin before the stages they come after are done, and the turns of all stages."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from heddle.model.workload import AM, Workload


@dataclass(frozen=True)
class EarlyStages:
    workload: Workload
    there: bool  # whether any job of the whole workload has one

    @cached_property
    def _are(self) -> npt.NDArray[np.bool_]:
        early: npt.NDArray[np.bool_] = self.workload.stages["slow_start_permille"] >= 0
        return early

    @property
    def in_job(self) -> npt.NDArray[np.int64]:
        """How many each job has, if any job has one."""
        n_jobs = len(self.workload.jobs) if self.there else 0
        return np.bincount(self.workload.stages["job"][self._are], minlength=n_jobs)

    @property
    def tasks(self) -> npt.NDArray[np.int64]:
        """How many tasks each early stage has; of the others none."""
        return np.where(self._are, self.workload.stages["n_tasks"], 0)

    @cached_property
    def stage_of_turn(self) -> npt.NDArray[np.int32]:
        """Who goes first of requests with equal keys: by number, but that a job's early stages come before its others.

        MapReduce's AM asks for reduces with priority 10 and for maps with 20, and the smaller goes first.
        """
        stages = self.workload.stages
        if not self.there:
            return np.arange(len(stages), dtype=np.int32)
        rank = np.where(stages["kind"] == AM, 0, np.where(self._are, 1, 2))
        return np.lexsort((rank, stages["job"])).astype(np.int32)  # stable: then by number

    @property
    def turn(self) -> npt.NDArray[np.int32]:
        turns = np.empty_like(self.stage_of_turn)
        turns[self.stage_of_turn] = np.arange(len(turns), dtype=np.int32)
        return turns
