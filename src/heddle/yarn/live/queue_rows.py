"""The queues of a live cluster by name, as rows of the view: parents before children, root first."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from heddle.model.resources import MILLI
from heddle.yarn.live.columns import Columns
from heddle.yarn.live.live_memory import NOTHING, QUEUES, LiveMemory
from heddle.yarn.live.names import Names

ROOT = "root"


class QueueRows:
    """Rows that queues have. They are never taken away again."""

    def __init__(self, memory: LiveMemory) -> None:
        self._memory = memory
        self._row: dict[str, int] = {}
        self._leaves: dict[str, int] = {}
        self._add(ROOT)

    def know(self, columns: Columns, names: Names) -> None:
        """Gives a row to every queue that is listed, and to those that applications name."""
        apps = columns.apps
        named = (columns.queues["queue"], True), (apps["queue"], False), (apps["submitted_to"], False)
        while any(self._learn(numbers, names, are_listed) for numbers, are_listed in named):
            pass  # a queue that is new may change what a name stands for

    def _learn(self, numbers: npt.NDArray[np.int64], names: Names, are_listed: bool) -> bool:
        """Whether one of them was new."""
        for number in numbers[self._memory["leaf_of_queue"][numbers] < 0].tolist():
            name, before = names.queues.name(number), len(self._row)
            row = self._row.get(name) if are_listed else self._leaf(name)
            row = self._add(name) if row is None else row
            self._memory["leaf_of_queue"][number] = row
            if len(self._row) > before:
                return True
        return False

    def leaves(self) -> dict[str, int]:
        """Queues without children, by name."""
        return self._leaves

    def _leaf(self, name: str) -> int:
        """The row of an application's queue. The RM may give the last part of the name only."""
        if name in self._row:
            return self._row[name]
        ends = [row for known, row in self._row.items() if known.rpartition(".")[2] == name]
        if len(ends) == 1:
            return ends[0]
        return self._add(name if name.startswith(f"{ROOT}.") else f"{ROOT}.{name}")

    def _add(self, name: str) -> int:
        self._memory.make_room((QUEUES, 1))
        row = int(self._memory.counts[QUEUES])
        self._memory.counts[QUEUES] += 1
        self._memory["leaf_of_queue"][:] = NOTHING  # what an unknown name stood for may have changed
        self._row[name] = row
        rows = self._memory["queue"]
        rows["parent"][row] = rows["first_child"][row] = rows["next_sibling"][row] = -1
        rows["weight_milli"][row] = rows["user_limit_factor_milli"][row] = MILLI
        rows["user_limit_percent"][row] = 100
        rows["am_share_permille"][row] = rows["max_running_jobs"][row] = -1
        self._memory["found_permille"][row] = NOTHING
        if row:
            above = self._row.get(name.rpartition(".")[0], 0)
            rows["parent"][row] = above
            siblings = np.flatnonzero(rows["parent"][:row] == above)
            if rows["first_child"][above] < 0:
                rows["first_child"][above] = row
            else:
                rows["next_sibling"][siblings[-1]] = row
        self._leaves = {known: at for known, at in self._row.items() if rows["first_child"][at] < 0}
        return row
