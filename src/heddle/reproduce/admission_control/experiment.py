"""All of paper 3."""

from __future__ import annotations

from heddle.reproduce.admission_control.deficit import deficit
from heddle.reproduce.admission_control.fragments import fragments
from heddle.reproduce.admission_control.rounds import kinds_of_job
from heddle.reproduce.admission_control.score import Rounds, score
from heddle.reproduce.admission_control.stock import stock
from heddle.reproduce.admission_control.storm import storm
from heddle.reproduce.constants import Constants
from heddle.reproduce.lab import Findings, Lab


def experiment(lab: Lab, constants: Constants) -> Findings:
    rounds = Rounds(lab, constants, constants["cluster.vcores"])
    found = lab.together([part(rounds) for part in (stock, score, fragments, deficit, storm)])
    kinds = len(kinds_of_job(constants))
    found.remarks.append(
        f"What a terasort job of 100 MB does is not published, but for its sizes: {kinds} kinds are run."
    )
    return found
