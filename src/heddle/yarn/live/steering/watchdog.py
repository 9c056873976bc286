"""The process that puts nodes back when their controller no longer can: `python -m heddle.yarn.live.steering.watchdog`.

It looks twice a second whether the controller still holds its lock and still beats. If it does not, it puts back what
baseline.json says, again and again until the ResourceManager answers and every node that is there has its size. It is
done when the baseline is gone, which means that everything is back. It loads nothing that could fail it later.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Final

from heddle.model.errors import BadInput, HeddleError, RunRefused
from heddle.model.visible_text import visible
from heddle.yarn.live.applying.putting_back import HEARD_S, still_owed
from heddle.yarn.live.applying.rm_knobs import RmKnobs
from heddle.yarn.live.applying.standing import Standing
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.files import OutOfFiles, refused
from heddle.yarn.live.pace import Pace
from heddle.yarn.live.steering.desk import Baseline, Desk
from heddle.yarn.live.steering.left_behind import put_back_left

LOOK_EVERY_S: Final = 0.5
TIMEOUT_S: Final = 5.0
STARTS_WITHIN_S: Final = 30.0  # a master's machine may be busy
ABSENT_S: Final = 600.0  # nodes away for this long are left to `restore`, or to the restart of their NodeManager
_LOCK: Final = "watchdog.lock"
LOCK_TRIES: Final = 20


def start_watchdog(desk: Desk, lease_s: float) -> None:
    """Starts one that lives on its own, whatever becomes of us, and waits until it is on guard."""
    log, clock = desk.folder / "watchdog.log", desk.world.clock
    command = [sys.executable, "-m", "heddle.yarn.live.steering.watchdog", str(desk.folder), str(lease_s)]
    try:
        desk.world.processes.start(command, log)
    except OSError as error:
        raise refused(log, "no watchdog can be started ({}), so heddle changes nothing", error) from None
    deadline_s = clock.monotonic() + STARTS_WITHIN_S
    while not watchdog_lives(desk):
        if clock.monotonic() > deadline_s:
            raise RunRefused(f"the watchdog did not start; see {log}")
        clock.sleep(0.05)


def watchdog_lives(desk: Desk) -> bool:
    """OutOfFiles where nobody can tell now."""
    try:
        with desk.world.files.lock(desk.folder / _LOCK, "held"):
            return False
    except OutOfFiles:
        raise
    except RunRefused:
        return True


class _UnlessSteered(RmKnobs):
    def __init__(self, client: RmClient, is_steered: Callable[[], bool]) -> None:
        super().__init__(client)
        self._is_steered = is_steered

    def set(self, change: Standing) -> None:
        _stop(self._is_steered)
        super().set(change)


def _stop(is_steered: Callable[[], bool]) -> None:
    if is_steered():
        raise RunRefused("a controller steers again, and puts back itself what was left")


class Watchdog:
    """Guards what one desk has on it; look() again and again until there is nothing left to put back."""

    def __init__(self, desk: Desk, lease_s: float) -> None:
        self._desk, self._lease_s = desk, lease_s
        self._pace = Pace(clock=desk.world.clock)
        self._away_since_s: float | None = None
        self._back: Baseline | None = None  # all of it was put back, and the disk did not let us say so
        self._resized_s = -inf  # when we last gave a node its size back

    def look(self) -> bool:
        """Puts back what must be. Whether its work is done."""
        desk, clock = self._desk, self._desk.world.clock
        try:
            # Nobody may begin to steer while we put back what the dead one changed.
            with desk.lock():
                left = self._revert()
        except RunRefused:  # it lives; but does it beat?
            if self._is_beating():
                self._away_since_s = None
                return False
            left = self._revert(unless=self._is_beating)
        if not left:
            return True
        if self._away_since_s is None:
            self._away_since_s = clock.monotonic()
        if clock.monotonic() - self._away_since_s <= ABSENT_S:
            return False
        self._say(f"gave up on what is unreachable: {', '.join(left)}")
        return True

    def _is_beating(self) -> bool:
        return self._desk.beat_age_s() <= self._lease_s

    def _revert(self, unless: Callable[[], bool] = lambda: False) -> list[str]:
        """What could not be put back yet. What could is taken out of the baseline.

        `unless`: a controller steers again, asked before every change. The ResourceManager may be slow, and what stands
        there then, on disk too, is that one's.
        """
        desk = self._desk
        try:
            baseline = self._baseline()
        except RunRefused as cannot_be_read:
            self._say(str(cannot_be_read))
            self._away_since_s = None  # nor do we know of anything that is away
            return [str(desk.baseline_file)]
        if baseline is None:
            return []
        if baseline == self._back:  # nothing is owed, but a disk that is read-only still says so
            return self._noted(baseline, Standing())
        rm, user, world = baseline.rm, baseline.user, desk.world
        try:
            with RmClient(rm, timeout_s=TIMEOUT_S, user=user, connect=world.connect, pace=self._pace) as client:
                done = put_back_left(_UnlessSteered(client, unless), baseline.ownership(), world.clock, self._say)
            _stop(unless)
        except HeddleError as error:
            self._say(f"cannot restore yet: {error}")
            self._away_since_s = None  # nobody told us that anything is away: as long as it takes
            return baseline.found.names()
        self._say("put back " + ", ".join(f"{one.name} from {one.before} to {one.now}" for one in done))
        if any(one.resized for one in done):
            self._resized_s = world.clock.monotonic()
        if world.clock.monotonic() - self._resized_s < HEARD_S:
            return baseline.found.names()
        return self._noted(baseline, still_owed(done))

    def _noted(self, baseline: Baseline, left: Standing) -> list[str]:
        """Writes down what is left, and gives its names. A disk that refuses is tried again."""
        self._back = None if left else baseline
        try:
            if left:
                self._desk.save(replace(baseline, found=left))
            else:
                self._desk.forget()
        except RunRefused as refused:
            self._say(str(refused))
            return left.names() or [str(self._desk.baseline_file)]
        return left.names()

    def _baseline(self) -> Baseline | None:
        try:
            return self._desk.load()
        except BadInput as error:
            self._say(str(error))
            return None

    def _say(self, text: str) -> None:
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(self._desk.world.clock.time()))
        print(stamp, visible(text), flush=True)


def guard(desk: Desk, lease_s: float) -> None:
    """Until there is nothing left to put back."""
    watchdog = Watchdog(desk, lease_s)
    while desk.has_baseline:
        desk.world.clock.sleep(LOOK_EVERY_S)
        if watchdog.look():
            return


def main(desk: Desk, lease_s: float) -> None:
    for _ in range(LOCK_TRIES):  # whoever asks whether we live holds our lock for a moment
        try:
            with desk.world.files.lock(desk.folder / _LOCK, "another watchdog is running"):
                guard(desk, lease_s)
            return
        except RunRefused as refused:
            why = str(refused)
            desk.world.clock.sleep(0.1)
    print(visible(why), flush=True)


if __name__ == "__main__":
    main(Desk(Path(sys.argv[1])), float(sys.argv[2]))
