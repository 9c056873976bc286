"""What `python -m benchmarks.choosing` says of runs."""

from __future__ import annotations

import pytest
from benchmarks.choosing import CHOOSING, against, show


def test_it_is_held_against_each_and_against_the_best_of_each_seed(capsys: pytest.CaptureFixture[str]) -> None:
    stay = {"chosen": "a", "in_force": "a", "prospects": [{}], "predicted": 3.0, "came": 2.0}
    change = stay | {"chosen": "b", "predicted": 1.0}
    rows = [
        ({"a": 100.0, "b": 80.0, CHOOSING: 88.0}, {"a": 0, "b": 4, CHOOSING: 2}, [stay, change], 5.0),
        ({"a": 50.0, "b": 100.0, CHOOSING: 55.0}, {"a": 0, "b": 6, CHOOSING: 2}, [stay], 7.0),
    ]
    show(rows, ["a", "b"])
    lines = {line.split("  ")[0]: line.split()[-4:] for line in capsys.readouterr().out.splitlines()}
    assert lines["a"][0] == "-1.0"  # -12 % and +10 %
    assert lines["b"][0] == "-17.5"  # +10 % and -45 %
    assert lines["best of each seed"][0] == "+10.0"
    assert lines["the best fixed one over all seeds: a"]
    assert "changes in a run: 0.5 on average, 1 at most" in lines


def test_one_seed_has_no_interval() -> None:
    assert against([88.0], [80.0]) == "+10.0"
