from __future__ import annotations

import pytest

from heddle.check import policies


@pytest.fixture(autouse=True)
def few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as a large cluster gets: what is tested here does not depend on how narrow intervals are."""
    monkeypatch.setattr(policies, "SEEDS", {})
