from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from browser.chromium import Chromium, browser_path
from heddle.cli.main import run


@pytest.fixture(scope="session")
def browser() -> Iterator[Chromium]:
    if browser_path() is None:
        reason = "no Chromium here: scripts/install-chromium installs Debian's"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    with Chromium() as started:
        yield started


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a comparison with everything in it: gains, losers, stalls, queues, reasons."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    policies = [part for name in ("fifo", "capacity", "fifo+usage-feedback") for part in ("--policy", name)]
    assert run(["compare", "mix(jobs=25)", *policies, "--seeds", "3", "--jobs", "1", "--report", str(path)]) == 0
    return path
