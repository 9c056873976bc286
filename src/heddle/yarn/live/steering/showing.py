"""What a running controller shows of itself on its desk, for whoever looks from outside (`heddle yarn dashboard`).

A small file for each mode, replaced after every step, and a lock beside it that is held as long as the controller
lives, however it ends: a file without a lock that does not say `ended_at` is that of a controller that has died.
Nothing that goes wrong here may disturb the controller.
"""

from __future__ import annotations

import getpass
import json
import os
import secrets
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

from heddle.model.errors import BadInput, RunRefused
from heddle.model.nested_text import from_json
from heddle.model.whole_files import write_whole
from heddle.yarn.live.applying.turn import Verdict
from heddle.yarn.live.steering.desk import Desk

MODES: Final = ("live", "shadow")
KEPT: Final = 200  # entries of the log that stay in the file
_LOCK_TRIES: Final = 20  # whoever asks whether we live holds our lock for a moment
_NOT_WORTH_A_LINE: Final = (None, Verdict.UNCHANGED, Verdict.DEAD_BAND)


class Showing:
    """Told of every step; `name` is the session's."""

    def __init__(self, desk: Desk, policy: str, mode: str, every_s: float, lease_s: float) -> None:
        self._desk, self._mode = desk, mode
        self.name = secrets.token_hex(8)
        self._about: dict[str, Any] = {
            "session": self.name, "pid": os.getpid(), "user": getpass.getuser(), "policy": policy, "mode": mode,
            "every_s": every_s, "lease_s": lease_s, "began_at": round(desk.world.clock.time(), 3),
        }  # fmt: skip
        self._steps = self._missed = 0
        self._totals: Counter[str] = Counter()
        self._log: deque[dict[str, Any]] = deque(maxlen=KEPT)
        self._entries = 0
        self._decided: dict[tuple[str, str], tuple[Any, ...]] = {}
        self._step: dict[str, Any] = {"paused": False, "answered": True}
        self._shows = False

    @contextmanager
    def at_work(self, say: Callable[[str], None]) -> Iterator[None]:
        """Around the session, so that its last words are seen. Of several controllers in shadow mode one is shown."""
        with _held(self._desk, self._mode) as self._shows:
            if not self._shows and self._mode == "shadow":
                say("another controller is in shadow mode here: a dashboard shows that one, not this")
            self._write()
            try:
                yield
            finally:
                self._about["ended_at"] = round(self._desk.world.clock.time(), 3)
                self._write()

    def said(self, text: str) -> None:
        self._add({"said": text})
        self._write()

    def in_force(self, policy: str) -> None:
        """Another one acts from now on."""
        self._about["policy"] = policy

    def stepped(self, decision: dict[str, Any], paused: bool) -> None:
        self._steps += 1
        decided = self._decided
        self._decided = {}
        for turn in _turns(decision):
            self._decide(turn, decided.get((turn["what"], turn["name"])))
        parts = ("applications", "containers", "observe_ms", "decide_ms", "act_ms", "in_full_s")
        self._step = {**{part: decision[part] for part in parts}, "paused": paused, "answered": True}
        self._tick()

    def missed(self, paused: bool) -> None:
        """A step for which the ResourceManager did not answer."""
        self._missed += 1
        self._step |= {"paused": paused, "answered": False}
        self._tick()

    def _tick(self) -> None:
        self._step["at_monotonic_s"] = round(self._desk.world.clock.monotonic(), 3)
        self._write()

    def _decide(self, turn: dict[str, Any], before: tuple[Any, ...] | None) -> None:
        """A decision is worth a line when it is another than that of the step before about the same thing."""
        if turn["verdict"] in _NOT_WORTH_A_LINE:
            return
        self._totals[turn["verdict"]] += 1
        now = turn["wanted"], turn["verdict"], turn["cause"], turn["problem"]
        self._decided[turn["what"], turn["name"]] = now
        if now != before:
            self._add(turn)

    def _add(self, entry: dict[str, Any]) -> None:
        self._entries += 1
        self._log.append({"n": self._entries, "at": round(self._desk.world.clock.time(), 3), **entry})

    def _write(self) -> None:
        if not self._shows:
            return
        so_far = {"steps": self._steps, "missed": self._missed, "totals": dict(self._totals)}
        shown = {**self._about, **so_far, **self._step, "log": list(self._log)}
        try:
            write_whole(file_of(self._desk, self._mode), json.dumps(shown))
        except BadInput:  # a full disk: the dashboard then shows by its age that nothing new has come
            return


def file_of(desk: Desk, mode: str) -> Path:
    return desk.folder / f"{mode}.json"


def shown_on(desk: Desk) -> tuple[dict[str, Any], bool] | None:
    """What the controller shows, and whether it lives; a live one before one in shadow mode. None: there is none."""
    left = None
    for mode in MODES:
        try:
            shown = from_json(desk.world.files.read(file_of(desk, mode)))
        except (OSError, ValueError):
            continue
        if not isinstance(shown, dict) or not {"session", "user"} <= shown.keys():
            continue
        if _lives(desk, mode):
            return shown, True
        left = left or (shown, False)
    return left


def _lives(desk: Desk, mode: str) -> bool:
    try:
        with desk.world.files.lock(desk.folder / f"{mode}.lock", "held"):
            return False
    except RunRefused:
        return True


@contextmanager
def _held(desk: Desk, mode: str) -> Iterator[bool]:
    """Whether the lock is ours until the end of the block."""
    with ExitStack() as held:
        yield any(_take(held, desk, mode) for _ in range(_LOCK_TRIES))


def _take(held: ExitStack, desk: Desk, mode: str) -> bool:
    try:
        held.enter_context(desk.world.files.lock(desk.folder / f"{mode}.lock", "held"))
    except RunRefused:
        desk.world.clock.sleep(0.05)
        return False
    return True


def _turns(decision: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """All that was decided in a step, in one form."""
    keys = ("what", "name", "before", "wanted", "verdict", "cause", "problem")
    for turn in decision["knobs"]:
        yield {key: turn[key] for key in keys}
    for node in decision["nodes"]:
        yield {"what": "sizes", "name": node["node"], **{key: node[key] for key in keys[2:]}}
    table = decision["table"]
    if table is not None and table["verdict"] == Verdict.FAILED:
        yield {**dict.fromkeys(keys), **table, "what": "table", "name": "the bridge", "wanted": table["requests"]}
