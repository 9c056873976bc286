"""What is made wrong, and which tests must notice: those that plausibly cover a folder, the quickest first."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Target:
    name: str
    folder: str
    tests: tuple[str, ...]
    compiled: bool  # by Numba: then a mutant that leaves no compiled code of its own was not tried

    def files(self, top: Path) -> list[Path]:
        return sorted((top / self.folder).rglob("*.py"))


_ENGINE = (
    "tests/golden/test_golden.py",
    "tests/sim",
    "tests/engine_storm",
    "tests/property",
    "tests/test_blocks.py",
    "tests/conformance",
)
ABOUT_TEXT = ("tests/yarn_steering/test_guards.py",)  # would notice any change of a line, whatever it does
TARGETS = (
    Target(
        "ledger",
        "src/heddle/analysis/waste",
        ("tests/analysis/waste", "tests/report/test_waste_figures.py", "tests/test_streaming.py"),
        compiled=False,
    ),
    Target(
        "applier",
        "src/heddle/yarn/live/applying",
        (
            "tests/yarn_steering",
            "tests/sim/test_worked_examples.py",
            "tests/yarn_live",
            "tests/yarn_bridge",
            "tests/property/test_knobs_equal_reference.py",
        ),
        compiled=False,
    ),
    Target(
        "steering",
        "src/heddle/yarn/live/steering",
        ("tests/yarn_steering", "tests/dashboard", "tests/yarn_bridge", "tests/security"),
        compiled=False,
    ),
    Target("levers", "src/heddle/policy/levers", ("tests/levers", "tests/policy", *_ENGINE), compiled=True),
    Target("sim", "src/heddle/sim", _ENGINE, compiled=True),
)


def target_of(file: str) -> Target:
    return next(target for target in TARGETS if file.startswith(f"{target.folder}/"))
