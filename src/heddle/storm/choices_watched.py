"""How often a controller may change its policy, and by which choices."""

from __future__ import annotations

from heddle.storm.timeline import Process
from heddle.storm.watch import Watch


class ChoicesWatched:
    def __init__(self, watch: Watch, rest_s: float) -> None:
        self._watch, self._rest_s = watch, rest_s
        self._in_force: dict[str, tuple[int, float]] = {}  # of a process: policy, and since when
        self._told_late: dict[str, bool] = {}  # whether the last choice came too late
        self.changes = 0

    def told(self, process: Process, late: bool) -> None:
        """Which policy to choose."""
        self._told_late[process.name] = late

    def stepped(self, process: Process, policy: int) -> None:
        """After each step: the policy that is to act."""
        now_s = self._watch.now_s
        last, since_s = self._in_force.get(process.name, (0, -self._rest_s))
        if policy != last:
            if now_s - since_s < self._rest_s:
                self._watch.breaks(f"{process.name} changes its policy twice within {self._rest_s:g} s")
            if self._told_late.get(process.name):
                self._watch.breaks(f"{process.name} changes its policy by a choice that came too late")
            self._in_force[process.name] = policy, now_s
            self.changes += 1
