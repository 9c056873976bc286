"""Parts of an experiment: what they ask for at the same time runs together, and each is sent its own results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from heddle.reproduce.lab import SCORED_FROM, TUNED_FROM, Findings, Lab, Part, Scores


def square(value: int) -> int:
    return value * value


class Counting:
    """Computes in this process, backwards, and remembers how much it was given at a time."""

    def __init__(self) -> None:
        self.batches: list[int] = []

    def __call__(self, function: Callable[[Any], Any], configurations: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        self.batches.append(len(configurations))
        for place in reversed(range(len(configurations))):
            yield place, function(configurations[place])


def one_step(values: list[int]) -> Part:
    found = yield {value: partial(square, value) for value in values}
    return Findings(remarks=[f"{[found[value] for value in values]}"])


def two_steps(value: int) -> Part:
    found = yield {"first": partial(square, value)}
    found = yield {"second": partial(square, found["first"])}
    return Findings(remarks=[f"{found['second']}"])


def test_parts_run_together_and_get_their_own_results(tmp_path: Path) -> None:
    compute = Counting()
    lab = Lab(compute, tmp_path)
    found = lab.together([two_steps(3), one_step([1, 2]), one_step([4])])
    assert found.remarks == ["81", "[1, 4]", "[16]"]  # in the order of the parts
    assert compute.batches == [4, 1]  # one pool for all first steps
    assert lab.runs == 5


def test_seeds_of_tuning_and_scoring_are_apart(tmp_path: Path) -> None:
    lab = Lab(Counting(), tmp_path, quick=True)
    assert lab.scored(20, 5) == range(SCORED_FROM, SCORED_FROM + 5)
    assert lab.tuned(20, 5) == range(TUNED_FROM, TUNED_FROM + 5)
    assert not set(Lab(Counting(), tmp_path).scored(1000, 5)) & set(lab.tuned(20, 1000))


def test_scores_leave_out_what_did_not_end() -> None:
    ended = {"outcome": "finished", "jct_s": {"mean": 2.0}, "crashed_tasks": 3, "tasks": 600}
    runs = {("day", "fifo", 0): ended, ("day", "fifo", 1): {**ended, "outcome": "stalled"}}
    scores = Scores(runs)
    assert scores.metric("day", "fifo", "jct_s.mean") == {0: 2.0}
    assert scores.failed_pct("day", "fifo") == {0: pytest.approx(0.5)}
    assert scores.stalled_on("day", "fifo") == {1}
