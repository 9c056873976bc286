from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import EntryPoint
from typing import Any

import pytest

from heddle.experiments.engines import LocalProcesses, engine_named
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


@pytest.mark.parametrize("name", ["local:1", "local:2"])
def test_local_processes_give_every_result_with_its_position(name: str) -> None:
    assert dict(engine_named(name).run(square, [3, 1, 2])) == {0: 9, 1: 1, 2: 4}


@pytest.mark.parametrize("processes", [1, 2])
def test_an_error_arrives_as_it_was(processes: int) -> None:
    with pytest.raises(BadInput, match="is negative"):
        list(LocalProcesses(processes).run(square, [1, -1]))


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
