"""All of paper 2."""

from __future__ import annotations

from heddle.reproduce.before import before_and_after
from heddle.reproduce.constants import Constants
from heddle.reproduce.haste.five import five
from heddle.reproduce.haste.four_gb import four_gb
from heddle.reproduce.haste.settings import Settings
from heddle.reproduce.haste.trajectories import trajectories
from heddle.reproduce.haste.why import why
from heddle.reproduce.lab import Findings, Lab


def experiment(lab: Lab, constants: Constants) -> Findings:
    settings = Settings(lab, constants)
    found = lab.together([five(settings), four_gb(settings), trajectories(settings), why(settings)])
    found.tables.insert(0, before_and_after(constants, found.claims))
    found.remarks.append(
        "Our copy of the paper lost its numbers: sizes of jobs and tasks are ours, and no effect can be compared."
    )
    return found
