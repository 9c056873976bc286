"""What runs in a replayed container: an early reduce waits for its maps, then for its shuffle, then works."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import time

from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build, constant
from heddle.yarn.testbed.local.cluster import SERVING
from heddle.yarn.testbed.replay.plan import replay_jobs
from heddle.yarn.testbed.replay.submit import SCRIPT

LEVELS = "16:0:10000"


def start(*words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-ISE", SCRIPT, "100", LEVELS, *words], stderr=subprocess.PIPE)


def test_it_waits_at_the_gate() -> None:
    with socket.create_server(("127.0.0.1", 0)) as gate, start(f"gate=127.0.0.1:{gate.getsockname()[1]}/3") as task:
        connection, _ = gate.accept()
        with connection:
            assert connection.recv(10) == b"3\n"
            time.sleep(0.3)  # longer than it works
            assert task.poll() is None
            connection.sendall(b"\n")
        assert task.wait(120) == 0


def test_without_its_application_master_it_fails() -> None:
    with socket.create_server(("127.0.0.1", 0)) as gate, start(f"gate=127.0.0.1:{gate.getsockname()[1]}/3") as task:
        gate.accept()[0].close()
        assert task.wait(120) != 0


def test_a_shuffle_takes_its_time() -> None:
    began_s = time.monotonic()
    with start("shuffle=700") as task:
        assert task.wait(120) == 0
    assert time.monotonic() - began_s > 0.8


def test_a_plan_says_what_is_early_and_how_long_it_shuffles() -> None:
    maps = StageSpec("map", (1024, 1000), [TaskSpec(5000, constant(20, 0))])
    reduces = StageSpec(
        "reduce", (512, 2000), [TaskSpec(3000, constant(20, 0))], ("map",), slow_start_permille=50, shuffle_ms=2000
    )
    (job,), notes = replay_jobs(build("w", [JobSpec("j", 0, [maps, reduces], am=(256, 1000))]))
    assert job.lines == (
        "stage 1024 1 -",
        "task 0 5000 20:0:10000",
        "stage 512 2 0 early=50",
        "task 1 3000 20:0:10000 shuffle=2000",
    )
    assert notes == []


def serving() -> tuple[subprocess.Popen[bytes], int]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = subprocess.Popen([sys.executable, "-ISE", SERVING, "127.0.0.1", str(port)])
    for _ in range(1200):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            break
        time.sleep(0.1)
    return server, port


def test_it_fetches_what_it_is_told() -> None:
    server, port = serving()
    try:
        with start(f"fetch=127.0.0.1:{port}:3000000,127.0.0.1:{port}:5") as task:
            assert task.wait(120) == 0
        with start(f"fetch=127.0.0.1:{port}:many") as task:  # what is not served is an error
            assert task.wait(120) != 0
    finally:
        server.terminate()
        server.wait()


def test_a_plan_says_what_is_read_from_where() -> None:
    first = StageSpec("a", (512, 1000), [TaskSpec(1000, constant(20, 0), prefers="node-4", input_bytes=7_000_000)])
    then = StageSpec("b", (512, 1000), [TaskSpec(1000, constant(20, 0))], ("a",), after_bytes=(9_000_000,))
    (job,), _ = replay_jobs(build("w", [JobSpec("j", 0, [first, then], am=(256, 1000))]))
    assert job.lines == (
        "stage 512 1 -",
        "task 0 1000 20:0:10000 input=4:7000000",
        "stage 512 1 0",
        "reads 1 0 9000000",
        "task 1 1000 20:0:10000",
    )
