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
    watch = [] if watches else [NextStep("Watch for half an hour to firm up the verdict", f"{command} --for 30m")]
    if best is None:
        return watch
    steer = ["heddle", "yarn", "steer", "--rm", address, "--policy", best.steered]
    look = shlex.join([*steer, "--for", "10m"])
    shadow = NextStep(f"See what {best.steered} would do, without changing anything", look)
    if simulation_off(checked):
        return [shadow, *watch]
    needs = f" (live mode needs {best.needs})" if best.needs else ""
    live = shlex.join([*steer, "--mode", "live"])
    return [shadow, NextStep(f"Then let it act; Ctrl-C restores everything{needs}", live)]
