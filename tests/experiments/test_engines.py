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
from heddle.experiments.attempts import Failed, results_or_raise
from heddle.experiments.engines import LocalProcesses, ProcessesThatPay, engine_named
from heddle.model.errors import BadInput
from heddle.model.extras import how_to_install


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
def test_an_error_is_told_of_its_run_and_the_others_go_on(processes: int) -> None:
    found = dict(LocalProcesses(processes).run(square, [1, -1, 3, 4]))
    failed = found.pop(1)
    assert found == {0: 1, 2: 9, 3: 16}
    assert isinstance(failed, Failed)
    assert isinstance(failed.error, BadInput)
    assert failed.says == "number: is negative"


@pytest.mark.parametrize("processes", [1, 2])
def test_whoever_needs_all_results_gets_the_error_as_it_was(processes: int) -> None:
    with pytest.raises(BadInput, match="is negative"):
        list(results_or_raise(LocalProcesses(processes).run(square, [1, -1])))


def divided_by(number: int) -> float:
    return 1 / number


def test_an_error_that_nobody_expected_shows_the_line_that_raised_it() -> None:
    failed = dict(LocalProcesses(2).run(divided_by, [1, 0]))[1]
    assert isinstance(failed, Failed)
    assert failed.says == "ZeroDivisionError: division by zero"
    assert "return 1 / number" in failed.trace


class Unsendable(Exception):
    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"{one} and {two}")


def unsendable(number: int) -> int:
    raise Unsendable(number, number)


def test_an_error_that_cannot_be_sent_arrives_in_words() -> None:
    failed = dict(LocalProcesses(2).run(unsendable, [1, 2]))[0]
    assert isinstance(failed, Failed)
    assert failed.says == "Unsendable: 1 and 1"


def ends_its_worker_if_negative(number: int) -> int:
    if number < 0:
        os._exit(9)
    time.sleep(0.05)
    return number


def test_a_run_that_ends_its_worker_fails_alone() -> None:
    """It takes others with it, which are under way at that time: they are run again."""
    wanted = [1, 2, 3, -1, 4, 5, 6]
    found = list(LocalProcesses(2).run(ends_its_worker_if_negative, wanted))
    assert sorted(number for number, _ in found) == list(range(7)), "each once"
    failed = dict(found).pop(3)
    assert isinstance(failed, Failed)
    assert "--on local:1" in failed.says
    assert {number: result for number, result in found if number != 3} == {0: 1, 1: 2, 2: 3, 4: 4, 5: 5, 6: 6}


class Counted(Sequence[int]):
    """Configurations that count how many of them were asked for."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.asked = 0

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[int]:
        for number in range(self.count):
            self.asked += 1
            yield number

    def __getitem__(self, place: Any) -> Any:
        raise NotImplementedError


def test_few_runs_are_under_way_however_many_there_are() -> None:
    many = Counted(2000)
    for done, _ in enumerate(LocalProcesses(2).run(square, many)):
        assert many.asked - done <= 2 * engines.AHEAD + 1
    assert many.asked == 2000


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


@pytest.mark.parametrize(("name", "module"), [("dask", "distributed"), ("spark", "pyspark")])
def test_an_engine_that_is_not_installed_says_what_to_install(
    name: str, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, f"heddle.experiments.workers.{name}_engine", raising=False)
    for loaded in [one for one in sys.modules if one.partition(".")[0] == module]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setattr(sys, "meta_path", [Without(module), *sys.meta_path])
    with pytest.raises(BadInput) as refused:
        engine_named(name)
    assert str(refused.value) == f"--on: {name} needs {module}, which is not installed: {how_to_install(name)}"


class Without:
    """As if a package were not installed."""

    def __init__(self, package: str) -> None:
        self.package = package

    def find_spec(self, name: str, *_: object) -> None:
        if name.partition(".")[0] == self.package:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


@pytest.mark.parametrize("text", ["lokal", "local:0", "local:many", "dask:0", "dask:host:8786"])
def test_what_is_no_engine_is_bad_input(text: str) -> None:
    with pytest.raises(BadInput, match="--on"):
        engine_named(text)
