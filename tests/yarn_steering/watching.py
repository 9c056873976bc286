"""Waiting for what other processes do, and finding the watchdogs among them."""

import os
import time
from collections.abc import Callable
from pathlib import Path

from heddle.yarn.live.steering.desk import Desk


def wait_for(what: Callable[[], bool], within_s: float) -> None:
    deadline = time.monotonic() + within_s
    while not what():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


def watchdogs(desk: Desk) -> set[int]:
    """Processes that guard what this desk has on it."""
    found = set()
    for name in os.listdir("/proc"):
        try:
            command = Path(f"/proc/{name}/cmdline").read_bytes().split(b"\0") if name.isdigit() else []
        except OSError:  # ended meanwhile
            continue
        if b"heddle.yarn.live.steering.watchdog" in command and str(desk.folder).encode() in command:
            found.add(int(name))
    return found
