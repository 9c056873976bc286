"""Everything outside its process that steering touches: clock, network, files, other processes.

All of it is an argument, so that a simulated world can drive the very same code. `REAL` is this machine.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from heddle.model.access import opened_to_append
from heddle.yarn.live.connection import HttpConnection
from heddle.yarn.live.files import DISK, Files
from heddle.yarn.live.wire import Connect


class Clock(Protocol):
    """As the module `time`. Whatever must not jump goes by monotonic()."""

    def monotonic(self) -> float: ...
    def time(self) -> float: ...
    def sleep(self, seconds: float, /) -> None: ...


class Processes(Protocol):
    def start(self, command: Sequence[str], log: Path) -> None:
        """Starts a process that lives on, whatever becomes of this one, and says to `log` what it has to say."""


class OwnProcesses:
    """Those of this machine."""

    def start(self, command: Sequence[str], log: Path) -> None:
        # By way of a shell that ends at once, so that nobody waits for it and no signal for us reaches it.
        said = opened_to_append(log)
        try:
            through_shell = ["sh", "-c", '"$@" </dev/null &', "sh", *command]
            subprocess.run(through_shell, stdout=said, stderr=said, start_new_session=True, check=True)
        finally:
            os.close(said)


@dataclass(frozen=True)
class World:
    clock: Clock = time
    connect: Connect = HttpConnection
    files: Files = DISK
    processes: Processes = field(default_factory=OwnProcesses)


REAL = World()
