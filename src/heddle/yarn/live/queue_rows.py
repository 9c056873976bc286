"""The queues of a live cluster and the users in them, as rows of the view."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from heddle.model.resources import MILLI
from heddle.model.view import JOB_ADMITTED, Dtypes
from heddle.yarn.live.growing import Growing
from heddle.yarn.live.snapshot import QueueSeen

ROOT = "root"
Rows = npt.NDArray[np.int64]


class QueueRows:
    """Rows of queues (parents before children, root first) and of members; queues are never taken away again."""

    def __init__(self, dtypes: Dtypes) -> None:
        self.queue = Growing(dtypes.queue)
        self.member = Growing(dtypes.member)
        self._row: dict[str, int] = {}
        self._members: dict[tuple[int, str], int] = {}
        self._users: dict[str, int] = {}
        self._found_permille: dict[int, tuple[int, int]] = {}  # of the queues whose shares we set
        self._add(ROOT)

    def update(self, seen: tuple[QueueSeen, ...], total: npt.NDArray[np.int64]) -> None:
        """Takes the settings of the RM's queues; their shares are of what all nodes may promise now."""
        rows = self.queue.rows
        rows["guarantee"][:] = rows["maximum"][:] = total  # of queues that the RM does not list
        for queue in seen:
            row = self._row.get(queue.name)
            if row is None:
                row = self._add(queue.name)
            rows = self.queue.rows
            rows["guarantee"][row] = queue.guarantee or total * queue.guarantee_permille // MILLI
            rows["maximum"][row] = queue.maximum or total * queue.maximum_permille // MILLI
            rows["user_limit_percent"][row] = queue.user_limit_percent
            rows["user_limit_factor_milli"][row] = queue.user_limit_factor_milli
            rows["max_running_jobs"][row] = queue.max_running_jobs
            if rows["am_share_permille"][row] < 0:  # later it may be ours
                rows["am_share_permille"][row] = queue.am_share_permille
            if queue.found_permille:
                self._found_permille[row] = queue.found_permille

    def as_found(self, total: npt.NDArray[np.int64]) -> None:
        """Until the next update, guarantees and maxima are those that queues had before we set them."""
        for row, (guarantee, maximum) in self._found_permille.items():
            self.queue.rows["guarantee"][row] = total * guarantee // MILLI
            self.queue.rows["maximum"][row] = total * maximum // MILLI

    def leaf(self, name: str, total: npt.NDArray[np.int64]) -> int:
        """The row of an application's queue. The RM may give the last part of the name only."""
        if name in self._row:
            return self._row[name]
        ends = [row for known, row in self._row.items() if known.rpartition(".")[2] == name]
        if len(ends) == 1:
            return ends[0]
        row = self._add(name if name.startswith(f"{ROOT}.") else f"{ROOT}.{name}")
        self.queue.rows["guarantee"][row] = self.queue.rows["maximum"][row] = total
        return row

    def leaves(self) -> dict[str, int]:
        """Queues without children, by name."""
        return {name: row for name, row in self._row.items() if self.queue.rows["first_child"][row] < 0}

    def member_of(self, queue: int, user: str) -> int:
        key = (queue, user)
        if key not in self._members:
            row = self._members[key] = self.member.add()
            self.member.rows["queue"][row] = queue
            self.member.rows["user"][row] = self._users.setdefault(user, len(self._users))
        return self._members[key]

    def add_up(self, job: npt.NDArray[Any], am_held: Rows, ams: Rows, live: Rows) -> None:
        """What queues and members hold and wait for, from the live jobs: anew, because jobs may change their queue."""
        queue, member = self.queue.rows, self.member.rows
        for name in ("allocated", "am_allocated", "running_jobs", "running_ams", "active_users", "waiting"):
            queue[name] = 0
        member["allocated"] = member["waiting"] = 0
        leaf, of_member, waiting = job["queue"][live], job["member"][live], job["waiting"][live]
        np.add.at(queue["allocated"], leaf, job["allocated"][live])
        np.add.at(queue["am_allocated"], leaf, am_held[live])
        np.add.at(queue["running_jobs"], leaf, job["state"][live] == JOB_ADMITTED)
        np.add.at(queue["running_ams"], leaf, ams[live])
        np.add.at(queue["waiting"], leaf, waiting)
        np.add.at(member["allocated"], of_member, job["allocated"][live])
        np.add.at(member["waiting"], of_member, waiting)
        np.add.at(queue["active_users"], member["queue"], member["waiting"] > 0)
        for row in range(len(queue) - 1, 0, -1):
            above = queue["parent"][row]
            for name in ("allocated", "waiting"):
                queue[name][above] += queue[name][row]

    def _add(self, name: str) -> int:
        row = self.queue.add()
        self._row[name] = row
        rows = self.queue.rows
        rows["parent"][row] = rows["first_child"][row] = rows["next_sibling"][row] = -1
        rows["weight_milli"][row] = rows["user_limit_factor_milli"][row] = MILLI
        rows["user_limit_percent"][row] = 100
        rows["am_share_permille"][row] = rows["max_running_jobs"][row] = -1
        if row:
            above = self._row.get(name.rpartition(".")[0], 0)
            rows["parent"][row] = above
            last = rows["first_child"][above]
            if last < 0:
                rows["first_child"][above] = row
            while last >= 0:
                if rows["next_sibling"][last] < 0:
                    rows["next_sibling"][last] = row
                    break
                last = rows["next_sibling"][last]
        return row
