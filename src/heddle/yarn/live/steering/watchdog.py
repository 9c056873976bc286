"""The process that puts nodes back when their controller no longer can: `python -m heddle.yarn.live.steering.watchdog`.

It looks twice a second whether the controller still holds its lock and still beats. If it does not, it puts back what
baseline.json says, again and again until the ResourceManager answers and every node that is there has its size. It is
done when the baseline is gone, which means that everything is back. It loads nothing that could fail it later.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Final

from heddle.model.errors import HeddleError, RunRefused
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.state import only_one
from heddle.yarn.live.steering.desk import Baseline, Desk
from heddle.yarn.live.steering.putting_back import put_back, still_owed

LOOK_EVERY_S: Final = 0.5
TIMEOUT_S: Final = 5.0
STARTS_WITHIN_S: Final = 30.0  # a master's machine may be busy
ABSENT_S: Final = 600.0  # nodes that are away so long are left to `restore`, or to the start of their NodeManager
_LOCK: Final = "watchdog.lock"
LOCK_TRIES: Final = 20


def start_watchdog(desk: Desk, lease_s: float) -> None:
    """Starts one that lives on its own, whatever becomes of us, and waits until it is on guard."""
    command = [sys.executable, "-m", "heddle.yarn.live.steering.watchdog", str(desk.folder), str(lease_s)]
    log = desk.folder / "watchdog.log"
    subprocess.run(["sh", "-c", '"$@" </dev/null >>"$0" 2>&1 &', log, *command], start_new_session=True, check=True)
    deadline = time.monotonic() + STARTS_WITHIN_S
    while not watchdog_lives(desk):
        if time.monotonic() > deadline:
            raise RunRefused(f"the watchdog did not start; see {log}")
        time.sleep(0.05)


def watchdog_lives(desk: Desk) -> bool:
    return _is_held(desk.folder / _LOCK)


def _is_held(lock: Path) -> bool:
    try:
        with only_one(lock, "held"):
            return False
    except RunRefused:
        return True


def guard(desk: Desk, lease_s: float) -> None:
    """Until there is nothing left to put back."""
    away_since_s: float | None = None
    while desk.baseline_file.exists():
        time.sleep(LOOK_EVERY_S)
        try:
            # Nobody may begin to steer while we put back what the dead one changed.
            with desk.lock():
                left = _revert(desk)
        except RunRefused:  # it lives; but does it beat?
            if desk.beat_age_s() <= lease_s:
                away_since_s = None
                continue
            left = _revert(desk)
        if not left:
            return
        away_since_s = away_since_s or time.monotonic()
        if time.monotonic() - away_since_s > ABSENT_S:
            _say(f"gave up on what is away: {', '.join(left)}")
            return


def _revert(desk: Desk) -> list[str]:
    """What could not be put back yet. What could is taken out of the baseline."""
    baseline = _baseline(desk)
    if baseline is None:
        return []
    try:
        with RmClient(baseline.rm, timeout_s=TIMEOUT_S, user=baseline.user) as client:
            done = put_back(client, baseline.found)
    except HeddleError as error:
        _say(f"cannot put back yet: {error}")
        return baseline.found.names()
    _say("put back " + ", ".join(f"{one.name} from {one.before} to {one.now}" for one in done))
    left = still_owed(done)
    if left:
        desk.save(Baseline(baseline.rm, baseline.user, left))
    else:
        desk.forget()
    return left.names()


def _baseline(desk: Desk) -> Baseline | None:
    try:
        return desk.load()
    except HeddleError as error:
        _say(str(error))
        return None


def main(desk: Desk, lease_s: float) -> None:
    for _ in range(LOCK_TRIES):  # whoever asks whether we live holds our lock for a moment
        try:
            with only_one(desk.folder / _LOCK, "another watchdog is on guard"):
                guard(desk, lease_s)
            return
        except RunRefused as refused:
            why = str(refused)
            time.sleep(0.1)
    _say(why)


def _say(text: str) -> None:
    print(time.strftime("%Y-%m-%dT%H:%M:%S"), text, flush=True)


if __name__ == "__main__":
    main(Desk(Path(sys.argv[1])), float(sys.argv[2]))
