"""The exact command that an operator types next: shadow first, then live."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from heddle.check.checked import Checked
from heddle.check.findings import simulation_off


@dataclass(frozen=True)
class NextStep:
    why: str
    command: str


def next_steps(checked: Checked, address: str, command: str) -> list[NextStep]:
    """Nothing is suggested that was not shown to help, nor live what a doubtful simulation shows.

    `command` made this check.
    """
    best = None if checked.tried is None else checked.tried.best()
    watches = any(word.partition("=")[0] == "--for" for word in shlex.split(command))
    watch = [] if watches else [NextStep("Watch it for half an hour, for a surer verdict", f"{command} --for 30m")]
    if best is None:
        return watch
    steer = ["heddle", "yarn", "steer", "--rm", address, "--policy", best.steered]
    shadow = NextStep("See what it would do, changing nothing", shlex.join([*steer, "--for", "10m"]))
    if simulation_off(checked):
        return [shadow, *watch]
    needs = f" (live it needs {best.needs})" if best.needs else ""
    live = shlex.join([*steer, "--mode", "live"])
    return [shadow, NextStep(f"Then let it, until Ctrl-C puts everything back{needs}", live)]
