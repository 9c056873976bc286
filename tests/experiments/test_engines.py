from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from heddle.experiments import engines
from heddle.experiments.engines import LocalProcesses, ProcessesThatPay, engine_named
from heddle.model.errors import BadInput


def square(number: int) -> int:
    if number < 0:
        raise BadInput.of("number", "is negative")
    return number * number


class Backwards:
    """An engine of another package."""

    def __init__(self, rest: str) -> None:
        self.rest = rest

    def run(self, function: Callable[[Any], Any], configurations: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        for number in reversed(range(len(configurations))):
            yield number, function(configurations[number])


@pytest.mark.parametrize("name", ["local", "local:1", "local:2"])
def test_local_processes_give_every_result_with_its_position(name: str) -> None:
    assert dict(engine_named(name).run(square, [3, 1, 2])) == {0: 9, 1: 1, 2: 4}


def process_after(seconds: float) -> int:
    time.sleep(seconds)
    return os.getpid()


def test_no_process_is_started_for_what_takes_no_time() -> None:
    done = dict(ProcessesThatPay(2).run(process_after, [0.0] * 5))
    assert done == dict.fromkeys(range(5), os.getpid())


def test_a_slow_first_run_is_followed_by_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "WORKER_START_S", 0.25)
    monkeypatch.setattr(engines, "LOADING_S", 0.0)
    done = dict(ProcessesThatPay(2).run(process_after, [0.3, 0.0, 0.0, 0.0]))
    assert done[0] == os.getpid()
    assert os.getpid() not in {done[1], done[2], done[3]}


@pytest.mark.parametrize("processes", [1, 2])
def test_an_error_arrives_as_it_was(processes: int) -> None:
    with pytest.raises(BadInput, match="is negative"):
        list(LocalProcesses(processes).run(square, [1, -1]))


def test_workers_end_with_a_parent_that_is_killed() -> None:
    """They would wait for work for ever: each of them holds both ends of the queue."""
    script = "import time; from heddle.experiments.engines import LocalProcesses\n"
    script += "for one in LocalProcesses(2).run(time.sleep, [0, 0, 300, 300, 300]): print(one, flush=True)"
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as parent:
        try:
            assert parent.stdout is not None
            assert sorted(parent.stdout.readline() for _ in range(2)) == [b"(0, None)\n", b"(1, None)\n"]
            children = Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text().split()
            workers = [int(one) for one in children if b"spawn_main" in Path(f"/proc/{one}/cmdline").read_bytes()]
        finally:
            parent.kill()
    assert len(workers) == 2
    try:
        wait_until(lambda: not any(map(is_running, workers)))
    finally:
        for pid in filter(is_running, workers):
            os.kill(pid, signal.SIGKILL)


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_until(holds: Callable[[], bool], patience_s: float = 60.0) -> None:
    deadline = time.monotonic() + patience_s
    while not holds():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)


def test_another_engine_plugs_in(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("backwards", f"{__name__}:Backwards", "heddle.engines")
    monkeypatch.setattr("heddle.experiments.engines.entry_points", lambda group: [point])
    engine = engine_named("backwards:here")
    assert list(engine.run(square, [1, 2])) == [(1, 4), (0, 1)]
    assert isinstance(engine, Backwards)
    assert engine.rest == "here"


@pytest.mark.parametrize("text", ["lokal", "local:0", "local:many"])
def test_what_is_no_engine_is_bad_input(text: str) -> None:
    with pytest.raises(BadInput, match="--on"):
        engine_named(text)
