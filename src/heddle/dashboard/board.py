"""All that the dashboard shows, numbered by version, so that each viewer is told only what is new to them.

Fed by a controller's own steps (`steer --dashboard`) or by a poll (`heddle yarn dashboard`); what the controller does
comes from its desk in either case. Times are seconds of the machine's monotonic clock: a page counts ages on from the
moment at which it was told, whatever its own clock says.
"""

from __future__ import annotations

from collections import deque
from pathlib import Path
from threading import Lock
from typing import Any, Final

from heddle.dashboard.controls import Controller, look_at
from heddle.dashboard.forecasts import Forecasts, eta_rows
from heddle.dashboard.ledger import Ledger
from heddle.dashboard.nodes import FIELDS, Nodes
from heddle.dashboard.waiting import Waiting, queue_rows
from heddle.model.errors import HeddleError
from heddle.yarn.live.snapshot import Snapshot
from heddle.yarn.live.steering.desk import Desk
from heddle.yarn.live.things_seen import Size

KEPT: Final = 300  # lines of what happened
LONGEST_STEP_S: Final = 10.0  # between two looks: nobody knows what nodes did in a longer time


class Board:
    """Looked at and told from different threads."""

    def __init__(self, rm: str, desk: Desk, stale_s: float, forecasts: Path | None = None) -> None:
        """`forecasts`: the folder in which a twin keeps its own."""
        self.desk, self._stale_s = desk, stale_s
        self._clock = desk.world.clock
        self._lock = Lock()
        self._version = 1
        self._forecasts = None if forecasts is None else Forecasts(forecasts, self._clock.time)
        self._nodes, self._waiting, self._ledger = Nodes(self._happened), Waiting(), Ledger()
        self._sections: dict[str, tuple[int, Any]] = {}
        self._log: deque[tuple[int, dict[str, Any]]] = deque(maxlen=KEPT)
        self._lines = 0
        self._told: tuple[str, int] = "", 0  # session and number of its last line that we have
        self._looked_at_s: float | None = None
        self._trouble = ""
        self._controller_state = ""
        self._own: dict[str, Size] = {}
        self._baseline_at: int | None = None
        self._named_at = 0  # the version at which a node was last new
        self._set("about", {"rm": rm, "stale_s": stale_s, "fields": FIELDS})
        self._answered()

    # What it is told.

    def saw(self, seen: Snapshot) -> None:
        """A look at the cluster. It is as old as its beginning: the last of its answers may have come much later."""
        with self._lock:
            self._version += 1
            at_s, before_s = seen.at_ms / 1000, self._looked_at_s
            if before_s is not None:
                looked = at_s - before_s <= LONGEST_STEP_S
                self._ledger.add(self._nodes.held(before_s, self._stale_s), at_s - before_s, looked=looked)
            self._looked_at_s = at_s
            known = len(self._nodes)
            self._nodes.saw(seen.nodes.values(), self._own_sizes(), at_s, self._version)
            if len(self._nodes) > known:
                self._named_at = self._version
            promised_mb = sum(node.total[0] for node in seen.nodes.values())
            self._set("queues", queue_rows(seen.queues, seen.apps.values(), promised_mb))
            self._set("waiting", self._waiting.saw(seen.apps, at_s))
            self._set(
                "applications", {"running": sum(app.running for app in seen.apps.values()), "all": len(seen.apps)}
            )
            self._set("ledger", self._ledger.shown())
            if self._forecasts is not None:
                self._set("forecasts", eta_rows(self._forecasts.look(self._clock.monotonic()), seen.apps.values()))
            if self._trouble:
                self._happened("the ResourceManager answers again")
            self._trouble = ""
            self._answered()

    def missed(self, why: str) -> None:
        """A look that the ResourceManager did not answer."""
        with self._lock:
            self._version += 1
            if not self._trouble:
                self._happened(f"the ResourceManager does not answer: {why}")
            self._trouble = why
            self._answered()

    def asked(self, words: str) -> None:
        """What a person has asked of the controller."""
        with self._lock:
            self._version += 1
            self._happened(words)

    def look_at_desk(self) -> None:
        """What the controller shows of itself now."""
        with self._lock:
            self._version += 1
            controller = look_at(self.desk)
            self._take_log(controller)
            state = controller.about["state"]
            if state == "died" and self._controller_state == "running":
                self._happened("the controller has died")
            self._controller_state = state
            self._set("controller", controller.about)

    # What it tells.

    @property
    def version(self) -> int:
        return self._version

    def news(self, version: int, epoch: int) -> dict[str, Any]:
        """What a viewer who has this version of this epoch does not know; 0: everything."""
        with self._lock:
            since = version if epoch == self._nodes.epoch else 0
            told: dict[str, Any] = {name: what for name, (at, what) in self._sections.items() if at > since}
            told |= {"version": self._version, "epoch": self._nodes.epoch, "now_s": round(self._clock.monotonic(), 2)}
            if not since or since < self._named_at:
                told["names"] = self._nodes.names()
            told["nodes"] = self._nodes.changed_since(since)
            told["log"] = [line for at, line in self._log if at > since]
            return told

    def _answered(self) -> None:
        looked_at_s = None if self._looked_at_s is None else round(self._looked_at_s, 2)
        self._set("look", {"at_s": looked_at_s, "trouble": self._trouble})

    def _set(self, section: str, what: Any) -> None:
        if section not in self._sections or self._sections[section][1] != what:
            self._sections[section] = self._version, what

    def _happened(self, text: str, at: float | None = None, **more: Any) -> None:
        self._lines += 1
        line = {"n": self._lines, "at": round(self._clock.time() if at is None else at, 1), "text": text, **more}
        self._log.append((self._version, line))

    def _take_log(self, controller: Controller) -> None:
        session = controller.about.get("session", "")
        last = self._told[1] if self._told[0] == session else 0
        for entry in controller.log:
            if entry["n"] > last:
                at, said = entry["at"], entry.get("said")
                if said is not None:
                    self._happened(said, at, kind="said")
                else:
                    decided = {key: entry[key] for key in ("before", "wanted", "verdict", "cause", "problem", "what")}
                    self._happened(entry["name"], at, kind="decision", **decided)
                last = entry["n"]
        self._told = session, last

    def _own_sizes(self) -> dict[str, Size]:
        """Of nodes that a controller has changed, or may: as it found them."""
        try:
            stamp = self.desk.baseline_file.stat().st_mtime_ns
        except OSError:
            stamp = None
        if stamp != self._baseline_at:
            try:
                baseline = self.desk.load()
            except HeddleError:  # in between two states: the next look reads it
                return self._own
            self._own = dict(baseline.found.sizes) if baseline is not None else {}
            self._baseline_at = stamp
        return self._own
