"""What must hold of the bridge's tables, whatever happens: seen at the wire and in the bridge."""

from __future__ import annotations

from heddle.storm.bridge import CLOCKS_DIFFER_MS, SimulatedBridge, read_table
from heddle.storm.machine import Asked, Machine
from heddle.storm.timeline import BEGAN_S, Process
from heddle.storm.watch import Watch
from heddle.storm.yarn import EPOCH_MS
from heddle.yarn.live.applying.seen import Limits
from heddle.yarn.live.bridge.endpoint import PATH


class TablesWatched:
    """`by_table`: the processes that decide through the bridge; it is for the storm to say which do."""

    def __init__(self, bridge: SimulatedBridge, watch: Watch, machine: Machine, lease_s: float, limits: Limits) -> None:
        self._bridge, self._watch, self._machine = bridge, watch, machine
        self._lease_s, self._limits = lease_s, limits
        self.by_table: set[str] = set()
        self._withdrew: set[str] = set()

    def asks(self, process: Process, asked: Asked) -> None:
        """A request, whatever becomes of it on its way."""
        if asked.method == "DELETE" and asked.target == PATH:
            self._withdrew.add(process.name)

    def ends(self, process: Process) -> None:
        """Of its own accord: its table goes now, not when its lease is over."""
        if process.name in self.by_table and process.name not in self._withdrew:
            self._watch.breaks(f"{process.name} has ended and left its table behind")

    def before(self, process: Process, asked: Asked) -> None:
        """A change on its way to the bridge."""
        if asked.method != "PUT" or asked.target != PATH:
            return
        breaks = self._watch.breaks
        if process not in self._watch.controllers:
            breaks(f"{process.name} sends a table")
        self._watch.must_have_begun_anew(process)
        try:
            table = read_table(asked.body or "")
        except (ValueError, IndexError, KeyError) as error:
            breaks(f"{process.name} sends a table that cannot be read: {error!r}")
            return
        if table.lease_ms > 1000 * self._lease_s:
            breaks(f"{process.name} sends a table for {table.lease_ms} ms, which is longer than its lease")
        if strange := table.leaves - self._bridge.leaves:
            breaks(f"{process.name} speaks of {sorted(strange)}, which do not ask the bridge")
        if self._limits.only is not None and (strange := table.vetoed - self._limits.only):
            breaks(f"{process.name} keeps requests off {sorted(strange)}, which it was not to touch")
        if self._watch.was_paused():
            breaks(f"{process.name} sends a table, though it was paused before its step began")

    def look(self) -> None:
        """Once a second."""
        for why in (*self._bridge.malformed, *self._bridge.heard_twice):
            self._watch.breaks(f"the bridge: {why}")

    def must_be_renewed(self) -> None:
        """When faults are over for long enough: whoever decides by tables has sent one just now."""
        rm_ms = EPOCH_MS + 1000 * (self._machine.timeline.now_s - BEGAN_S)
        here_ms = 1000 * (self._machine.wall_s + self._machine.timeline.now_s)
        living = [one for one in self._watch.controllers if not one.over and not one.dead and one.name in self.by_table]
        if living and abs(here_ms - rm_ms) < CLOCKS_DIFFER_MS and self._bridge.current is None:
            self._watch.breaks(f"{living[0].name} decides through the bridge, which has no table")

    def must_be_gone(self) -> None:
        if self._bridge.current is not None:
            self._watch.breaks(f"the bridge still has table {self._bridge.current.version}")
