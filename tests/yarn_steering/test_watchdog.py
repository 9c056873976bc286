"""Real processes against a fake RM: a controller that dies, hangs, or dies together with its watchdog."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from heddle.cli.main import run
from heddle.yarn.live.steering.desk import Desk
from heddle.yarn.live.steering.watchdog import watchdog_lives
from yarn_live.fake_rm import FakeRm

from .watching import wait_for, watchdogs

OWN = {"a:1": 8192, "b:1": 8192}
LEASE_S = 2
WITHIN_S = LEASE_S + 60  # with time to spare 5: see the soak
STARTS_S = 120  # on a busy machine


def sizes(rm: FakeRm) -> dict[str, int]:
    return {name: node.memory_mb for name, node in rm.nodes.items()}


def as_found(rm: FakeRm) -> bool:
    """Sizes of nodes, settings of queues, priorities of applications."""
    return sizes(rm) == OWN and not rm.settings and not any(app.priority for app in rm.apps.values())


@pytest.fixture
def steering(rm: FakeRm, desk: Desk) -> Iterator[subprocess.Popen[bytes]]:
    """A live controller that has turned every kind of knob."""
    rm.configured["yarn.cluster.max-application-priority"] = "10"
    rm.add_app().asks = [(0, 1024, 1, 1)]
    command = [sys.executable, "-c", "from heddle.cli.main import main; main()", "yarn", "steer", "--rm", rm.address]
    command += ["--mode", "live", "--lease", str(LEASE_S), "--every", "0.3", "--young", "0", "--accept-sizes"]
    command += ["--policy", "smallest-first+usage-feedback(damping=1)+max-running(jobs=1)", "--overcommit", "2"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            wait_for(lambda: all(sizes(rm)[node] > OWN[node] for node in OWN), STARTS_S)
            wait_for(lambda: bool(rm.settings) and any(app.priority for app in rm.apps.values()), STARTS_S)
            yield process
        finally:
            process.kill()
    wait_for(lambda: not watchdog_lives(desk), STARTS_S)


def test_kill_9(rm: FakeRm, steering: subprocess.Popen[bytes], desk: Desk) -> None:
    steering.send_signal(signal.SIGKILL)
    wait_for(lambda: as_found(rm) and desk.load() is None, WITHIN_S)


def test_a_controller_that_hangs(rm: FakeRm, steering: subprocess.Popen[bytes], desk: Desk) -> None:
    steering.send_signal(signal.SIGSTOP)
    wait_for(lambda: as_found(rm), WITHIN_S)
    time.sleep(0.5)
    steering.send_signal(signal.SIGCONT)  # it finds out, and goes on with a new lease
    wait_for(lambda: sizes(rm) != OWN and desk.load() is not None and watchdog_lives(desk), STARTS_S)


def test_both_die(rm: FakeRm, steering: subprocess.Popen[bytes], desk: Desk) -> None:
    (watchdog,) = watchdogs(desk)
    os.kill(watchdog, signal.SIGSTOP)  # or it would do its work while a busy machine keeps this test waiting
    steering.kill()  # before it: the controller would start another one
    os.kill(watchdog, signal.SIGKILL)
    steering.wait()
    assert not as_found(rm)
    assert run(["yarn", "restore", "--rm", rm.address]) == 0
    assert as_found(rm)
    assert desk.load() is None


def test_an_rm_that_is_away_when_the_controller_dies(rm: FakeRm, steering: subprocess.Popen[bytes], desk: Desk) -> None:
    rm.instead["/nodes"] = (500, "standby")
    steering.send_signal(signal.SIGKILL)
    time.sleep(LEASE_S + 1)
    assert sizes(rm) != OWN
    del rm.instead["/nodes"]
    wait_for(lambda: as_found(rm), WITHIN_S)


def test_ctrl_c_puts_everything_back_at_once(rm: FakeRm, steering: subprocess.Popen[bytes], desk: Desk) -> None:
    steering.send_signal(signal.SIGINT)
    assert steering.wait(120) == 0
    assert as_found(rm)
    assert desk.load() is None
