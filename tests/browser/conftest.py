from __future__ import annotations

from pathlib import Path

import pytest

from heddle.cli.main import run


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a comparison with everything in it: gains, losers, queues, reasons."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    policies = [part for name in ("fifo", "capacity", "fifo+usage-feedback") for part in ("--policy", name)]
    assert run(["compare", "mix(jobs=25)", *policies, "--seeds", "3", "--jobs", "1", "--report", str(path)]) == 0
    return path
