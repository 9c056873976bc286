"""Lets tests of any folder import the reference simulator and what compares the engine with it."""

import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent

for shared in (TESTS, TESTS / "property"):
    if str(shared) not in sys.path:
        sys.path.insert(0, str(shared))
