"""A pytest plugin: no test may take more CPU than LIMIT_S says, so a mutant that never ends is known soon.

The signal ends the process, whatever it does: compiled code returns to no handler. At the end the plugin says what the
longest test took, which is what the limit of the next run comes from.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator

import pytest

LIMIT = "HEDDLE_MUTATION_LIMIT_S"  # of each test, in the environment; without it there is none
LONGEST = "longest test, in s of CPU:"

_longest_s = 0.0


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Iterator[object]:
    global _longest_s
    began_s = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, float(os.environ.get(LIMIT, 0)))
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        _longest_s = max(_longest_s, time.process_time() - began_s)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    terminalreporter.write_line(f"{LONGEST} {_longest_s:.1f}")
