"""A live controller on the cluster of these tests, a job that reserves more than it uses, and looks at both."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from heddle.yarn.live.client import RmClient
from heddle.yarn.live.polling import take_snapshot
from heddle.yarn.live.rm_answers import read_nodes
from heddle.yarn.live.steering.desk import desk_of
from heddle.yarn.live.steering.watchdog import watchdog_lives
from heddle.yarn.live.wire import YarnError
from heddle.yarn.testbed.local.cluster import LocalCluster
from heddle.yarn.testbed.replay.plan import ReplayJob
from yarn_steering.watching import wait_for

from .conftest import NODE_MB

HEDDLE = (sys.executable, "-c", "from heddle.cli.main import main; main()")
LEASE_S, STALE_S = 5, 4
# This long after the ResourceManager answers, nothing is left of a change. On a machine with time to spare it is the
# lease + 5 s: the soak measures that, and the storm holds it on a clock of its own.
WITHIN_S = LEASE_S + 60
PATIENT_S = 60  # for an answer, where lateness is not what is tested
STARTS_S = 300  # on a machine that is busy with everything else
SIZING = "usage-feedback(damping=0.5)"


def over_reserved(task_s: int) -> ReplayJob:
    """Each of two nodes has room for two of its tasks by what they reserve, and for many by what they use."""
    lines = ("stage 768 1 -", *7 * (f"task 0 {1000 * task_s} 40:10:10000",))
    return ReplayJob("over-reserved", 0, "root.default", 0, (256, 1), (), 7, lines)


def small(task_s: float, name: str = "small") -> ReplayJob:
    lines = ("stage 256 1 -", f"task 0 {round(1000 * task_s)} 40:10:10000")
    return replace(over_reserved(1), name=name, tasks=1, lines=lines)


def totals(rm: RmClient) -> dict[str, int]:
    return {node.id: node.total[0] for node in read_nodes(rm.nodes(), "").values() if node.alive}


def has_nodes(rm: RmClient, count: int) -> bool:
    """Whether it answers by now and so many nodes have registered."""
    try:
        return len(totals(rm)) == count
    except YarnError:
        return False


def as_found(rm: RmClient) -> bool:
    return set(totals(rm).values()) == {NODE_MB}


def containers_of(rm: RmClient, app_id: str) -> set[str]:
    return {c.id for c in take_snapshot(rm, 0).containers.values() if c.app == app_id}


def application(rm: RmClient, app_id: str) -> dict[str, Any]:
    found: dict[str, Any] = (rm.app(app_id) or {})["app"]
    return found


def answers(rm: RmClient) -> bool:
    try:
        return len(totals(rm)) == 2
    except YarnError:
        return False


def pid_of(cluster: LocalCluster, role: str) -> int:
    return next(process.pid for process in cluster.processes() if process.role == role)


@contextmanager
def stopped(pid: int) -> Iterator[None]:
    """A process that hangs meanwhile."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


@contextmanager
def steering(rm: str, decisions: Path, policy: str = SIZING, *more: str) -> Iterator[subprocess.Popen[bytes]]:
    """`heddle yarn steer --mode live`, with every decision in a record, and what it says in a file beside it."""
    command = [*HEDDLE, "yarn", "steer", "--rm", rm, "--mode", "live", "--policy", policy, "--lease", str(LEASE_S)]
    command += ["--young", "2", "--stale", str(STALE_S), "--record", str(decisions), *more]
    # By a pipe, so that a limit on the controller's files is none on what it says.
    with (
        said_by(decisions).open("w") as said,
        subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=said) as pipe,
        subprocess.Popen(command, stdout=pipe.stdin, stderr=pipe.stdin) as process,
    ):
        assert pipe.stdin is not None
        pipe.stdin.close()
        try:
            yield process
        finally:
            process.kill()
            process.wait()
            wait_for(lambda: not watchdog_lives(desk_of(rm)), 60)


def said_by(decisions: Path) -> Path:
    return decisions.with_suffix(".said")
