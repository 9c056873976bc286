from __future__ import annotations

import pytest

from heddle.check import policies


@pytest.fixture(autouse=True)
def one_run(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each policy: most of what is tested here does not depend on intervals. `resampled` asks for them."""
    monkeypatch.setattr(policies, "SEEDS", {})
    monkeypatch.setattr(policies, "FEW", 3 if "resampled" in request.fixturenames else 1)


@pytest.fixture
def resampled() -> None:
    """Runs enough for intervals."""
