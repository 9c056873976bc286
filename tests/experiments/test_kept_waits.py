"""What explained runs leave beside a matrix, and what happens to files that somebody else left there."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from heddle.analysis.waiting.by_reason import Waits
from heddle.experiments.effects.waits import WAITS, WaitStore
from heddle.experiments.sweep_run import SweepRun

RUN = cast(SweepRun, SimpleNamespace(key="a-run"))  # nothing else of it is looked at


def test_what_was_put_is_there(tmp_path: Path) -> None:
    kept = WaitStore(tmp_path)
    assert kept.get(RUN) is None
    kept.put(RUN, Waits(3, {"no room": 4000}))
    assert kept.get(RUN) == Waits(3, {"no room": 4000})


@pytest.mark.parametrize(
    "text",
    ["", "{", "{}", "[]", '{"jobs": 1, "ms": [1]}', '{"jobs": Infinity, "ms": {}}', '{"jobs": 1, "ms": {"a": "b"}}'],
)
def test_a_damaged_file_is_as_none(tmp_path: Path, text: str) -> None:
    kept = WaitStore(tmp_path)
    (tmp_path / WAITS / f"{RUN.key}.json").write_text(text, encoding="utf-8")
    assert kept.get(RUN) is None
