"""Lets tests of any folder import what several share, and open pages in a real browser."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis.internal.conjecture import providers

TESTS = Path(__file__).resolve().parent

for shared in (TESTS.parent, TESTS, TESTS / "property"):  # the first for `benchmarks`
    if str(shared) not in sys.path:
        sys.path.insert(0, str(shared))

# Hypothesis mixes constants of our loaded modules into what it draws, and which are loaded depends on the tests that
# ran before in the same process. A derandomized test would draw other examples in a whole run than alone, and what
# fails in CI could not be seen again. Hypothesis has no setting for this.
assert callable(providers._get_local_constants)
providers._get_local_constants = lambda: providers._local_constants  # of no module: empty for good

from browser.chromium import Chromium, browser_path  # noqa: E402  # found by the lines above


@pytest.fixture(scope="session")
def browser() -> Iterator[Chromium]:
    """A Chromium without a network; where there is none the test is skipped, and in CI that is a failure."""
    if browser_path() is None:
        reason = "no Chromium here: scripts/install-chromium installs Debian's"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    with Chromium() as started:
        yield started
