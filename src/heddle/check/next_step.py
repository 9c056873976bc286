"""The exact command that an operator types next: shadow first, then live."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from heddle.check.checked import Checked


@dataclass(frozen=True)
class NextStep:
    why: str
    command: str


def next_steps(checked: Checked, address: str, command: str) -> list[NextStep]:
    """Nothing is suggested that was not shown to help; `command` made this check."""
    best = None if checked.tried is None else checked.tried.best()
    if best is None:
        watch = f"{command} --for 30m"
        return (
            [] if checked.watched is not None else [NextStep("Watch it for half an hour, for a surer verdict", watch)]
        )
    steer = ["heddle", "yarn", "steer", "--rm", address, "--policy", best.steered]
    needs = f" (live it needs {best.needs})" if best.needs else ""
    return [
        NextStep("See what it would do, changing nothing", shlex.join([*steer, "--for", "600"])),
        NextStep(f"Then let it, until Ctrl-C puts everything back{needs}", shlex.join([*steer, "--mode", "live"])),
    ]
