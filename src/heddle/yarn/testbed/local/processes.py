"""The processes of a local cluster, found by a mark in their environment.

Nothing is remembered about them: the kernel's own list is the truth, so that neither a killed command nor a number that
was given to another process can mislead. Daemons carry the mark and their role, containers the mark alone. A
command that a daemon runs for a moment may inherit both: a daemon is the one whose parent does not have its role.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from heddle.model.errors import RunRefused
from heddle.yarn.testbed.local.configuration import MARK

ROLE: Final = "HEDDLE_YARN_DAEMON"
GRACE_S: Final = 8.0
LOOK_EVERY_S: Final = 0.1
PROC: Final = Path("/proc")


@dataclass(frozen=True)
class Process:
    """A live process of a cluster; the role of a container, or of what it started, is ''."""

    pid: int
    role: str


def refuse_without_proc() -> None:
    if not (PROC / "self" / "environ").exists():
        raise RunRefused("a local cluster needs Linux: its processes are found in /proc")


def start(command: Sequence[str | Path], role: str, folder: Path, environment: Mapping[str, str], log: Path) -> None:
    """Starts a daemon that outlives this command, with its output in a log."""
    # Through a shell that ends at once, so that the daemon is nobody's child and leaves no zombie here.
    subprocess.run(
        ["sh", "-c", '"$@" </dev/null >>"$0" 2>&1 &', log, *command],
        cwd=folder,
        env={**environment, MARK: str(folder), ROLE: role},
        start_new_session=True,
        check=True,
    )


def processes_of(folder: Path) -> list[Process]:
    """All live processes of the cluster in this folder."""
    mark = f"{MARK}={folder}".encode()
    found, parents = [], {}
    for entry in PROC.iterdir():
        if not entry.name.isdigit():
            continue
        try:
            environment = (entry / "environ").read_bytes().split(b"\0")
            parent = int((entry / "stat").read_bytes().rpartition(b")")[2].split()[1])
        except OSError:  # ended meanwhile, or somebody else's
            continue
        if mark in environment:
            role = next((e.partition(b"=")[2].decode() for e in environment if e.startswith(f"{ROLE}=".encode())), "")
            found.append(Process(int(entry.name), role))
            parents[int(entry.name)] = parent
    roles = {process.pid: process.role for process in found}
    inherited = {pid for pid, parent in parents.items() if roles[pid] and roles.get(parent) == roles[pid]}
    found = [replace(process, role="") if process.pid in inherited else process for process in found]
    return sorted(found, key=lambda process: process.pid)


def stop(folder: Path) -> int:
    """Ends all processes of the cluster: asks first, then insists. Returns how many there were."""
    seen = _signal(processes_of(folder), signal.SIGTERM)
    patience = time.monotonic() + GRACE_S
    while left := processes_of(folder):
        late = time.monotonic() > patience
        if late:
            _signal(left, signal.SIGKILL)
        # Once the daemons are gone nobody else ends what ran in their containers.
        elif not any(process.role for process in left):
            patience = 0.0
        time.sleep(LOOK_EVERY_S)
        seen |= {process.pid for process in left}
    return len(seen)


def _signal(processes: Iterable[Process], number: signal.Signals) -> set[int]:
    told = set()
    for process in processes:
        try:
            os.kill(process.pid, number)
        except ProcessLookupError:
            continue
        told.add(process.pid)
    return told
