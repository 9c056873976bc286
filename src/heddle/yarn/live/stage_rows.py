"""Kinds of requests (stages) and distinct sizes (shapes) of a live cluster, as rows of the view.

Levers find the stages of a job side by side, its AM first. An application shows its kinds of requests one by one, so
each job has a block of rows with some room, and moves to a larger block when that is full. No lever keeps anything per
stage, so only the host's own references must follow.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from heddle.model.view import Dtypes
from heddle.model.workload import AM, STAGE, TASKS
from heddle.yarn.live.growing import Growing
from heddle.yarn.live.snapshot import Size

ROOM_AT_FIRST: Final = 4  # MapReduce: AM, maps, failed maps, reduces
UNKNOWN_SIZE: Final = (0, 0)  # of an AM that neither asked nor ran yet
NEVER_ASKED: Final = -1


class StageRows:
    """Rows of stage_spec, stage and shape."""

    def __init__(self, dtypes: Dtypes) -> None:
        self.spec, self.stage, self.shape = Growing(STAGE), Growing(dtypes.stage), Growing(dtypes.shape)
        self._shape_row: dict[Size, int] = {}
        self._kinds: dict[int, dict[tuple[int, Size], int]] = {}  # job -> (priority, size) -> place in its block
        self._block: dict[int, tuple[int, int]] = {}  # job -> first row, room
        self._used: dict[int, int] = {}
        self.shape_of(UNKNOWN_SIZE)

    def open_job(self, job: int, has_am: bool) -> None:
        self._kinds[job] = {}
        self._block[job] = self._new_block(job, ROOM_AT_FIRST), ROOM_AT_FIRST
        self._used[job] = 0
        if has_am:
            self._take(job, AM, UNKNOWN_SIZE)

    def close_job(self, job: int) -> None:
        """Its rows stay, but nothing more can be asked for."""
        self.stage.rows["waiting"][self.rows_of(job)] = 0
        for of_job in (self._kinds, self._block, self._used):
            del of_job[job]

    def rows_of(self, job: int) -> slice:
        first = self._block[job][0]
        return slice(first, first + self._used[job])

    def am(self, job: int, size: Size) -> int:
        """The AM's stage, now that its size is known."""
        row = self._block[job][0]
        self.spec.rows["shape"][row] = self.shape_of(size)
        return row

    def kind(self, job: int, priority: int, size: Size) -> tuple[int, npt.NDArray[np.int64]]:
        """The stage of this kind and, if the job's block had to move for it, [old first row, new first row, rows]."""
        known = self._kinds[job]
        moved = np.zeros(0, np.int64)
        if (priority, size) not in known:
            if self._used[job] == self._block[job][1]:
                moved = self._move(job)
            known[priority, size] = self._take(job, TASKS, size)
        return self._block[job][0] + known[priority, size], moved

    def shape_of(self, size: Size) -> int:
        if size not in self._shape_row:
            row = self._shape_row[size] = self.shape.add()
            self.shape.rows["demand"][row] = size
        return self._shape_row[size]

    def _new_block(self, job: int, room: int) -> int:
        first = self.spec.add(room)
        self.stage.add(room)
        block = slice(first, first + room)
        self.spec.rows["job"][block] = job
        self.spec.rows["slow_start_permille"][block] = -1
        self.stage.rows["asked_at_ms"][block] = NEVER_ASKED
        return first

    def _take(self, job: int, kind: int, size: Size) -> int:
        place = self._used[job]
        row = self._block[job][0] + place
        self.spec.rows["kind"][row], self.spec.rows["shape"][row] = kind, self.shape_of(size)
        self._used[job] = place + 1
        return place

    def _move(self, job: int) -> npt.NDArray[np.int64]:
        old, room = self._block[job]
        new = self._new_block(job, 2 * room)
        for rows in (self.spec.rows, self.stage.rows):
            rows[new : new + room] = rows[old : old + room]
        self.stage.rows["waiting"][old : old + room] = self.stage.rows["held"][old : old + room] = 0
        self._block[job] = new, 2 * room
        return np.array([old, new, room], np.int64)
