"""A real Dask scheduler and real workers, each a process of its own that can be killed."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Final

TESTS: Final = Path(__file__).resolve().parents[1]


class DaskProcesses:
    """The workers lie in a folder of their own: what they are not brought, they do not find."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.scheduler = self.start_scheduler()
        self.workers = [self.start_worker(), self.start_worker()]

    @property
    def on(self) -> str:
        return f"dask://127.0.0.1:{self.port}"

    def start_scheduler(self) -> subprocess.Popen[bytes]:
        return self._started("scheduler", "--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard")

    def start_worker(self) -> subprocess.Popen[bytes]:
        one = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--death-timeout", "60")
        return self._started("worker", f"tcp://127.0.0.1:{self.port}", *one)

    def close(self) -> None:
        for process in [*self.workers, self.scheduler]:
            kill(process)

    def _started(self, *words: str) -> subprocess.Popen[bytes]:
        environment = os.environ | {"PYTHONPATH": str(TESTS)}
        log = (self.folder / "dask.log").open("ab")
        with log:
            command = [sys.executable, "-m", "dask", *words]
            return subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder, env=environment)


def kill(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGKILL)
    process.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
