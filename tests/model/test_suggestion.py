"""One rule for names that somebody mistyped."""

from __future__ import annotations

from pathlib import Path

import pytest

from heddle.model import suggestion
from heddle.model.suggestion import did_you_mean

SOURCE = Path(suggestion.__file__).parents[1]


@pytest.mark.parametrize(
    ("word", "near"),
    [("duration_ms", None), ("capcity", "capacity"), ("FIFO", "fifo"), ("etL", "ETL"), ("zebra", None), ("", None)],
)
def test_near_names_are_named_whatever_their_case(word: str, near: str | None) -> None:
    expected = f', did you mean "{near}"?' if near else ""
    assert did_you_mean(word, ["capacity", "fifo", "ETL", "iteration"]) == expected


def test_nobody_guesses_by_a_rule_of_their_own() -> None:
    guessing = [path.name for path in SOURCE.rglob("*.py") if "difflib" in path.read_text()]
    assert guessing == ["suggestion.py"]
