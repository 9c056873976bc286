"""All of paper 5."""

from __future__ import annotations

from heddle.reproduce.constants import Constants
from heddle.reproduce.dress.compared import Mixes
from heddle.reproduce.dress.mixes import mixes
from heddle.reproduce.dress.release import release
from heddle.reproduce.dress.shares import shares
from heddle.reproduce.lab import Findings, Lab


def experiment(lab: Lab, constants: Constants) -> Findings:
    given = Mixes(lab, constants)
    found = lab.together([mixes(given), shares(given), release(given)])
    found.remarks.append(
        "Sizes and lengths of the authors' HiBench jobs are not published: jobs are drawn from "
        f"{len(given.members)} ranges of them."
    )
    return found
