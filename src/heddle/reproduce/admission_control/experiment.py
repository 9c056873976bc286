"""All of paper 3."""

from __future__ import annotations

from heddle.reproduce.admission_control.as_printed import as_printed
from heddle.reproduce.admission_control.beyond import usable_on_traces
from heddle.reproduce.admission_control.deficit import deficit
from heddle.reproduce.admission_control.fragments import fragments
from heddle.reproduce.admission_control.rounds import kinds_of_job
from heddle.reproduce.admission_control.score import score
from heddle.reproduce.admission_control.settings import Rounds
from heddle.reproduce.admission_control.stock import stock
from heddle.reproduce.admission_control.storm import storm
from heddle.reproduce.before import before_and_after
from heddle.reproduce.constants import Constants
from heddle.reproduce.lab import Findings, Lab


def experiment(lab: Lab, constants: Constants) -> Findings:
    rounds = Rounds(lab, constants, constants["cluster.vcores"])
    found = lab.together(
        [part(rounds) for part in (stock, score, usable_on_traces, as_printed, fragments, deficit, storm)]
    )
    found.tables.insert(0, before_and_after(constants, found.claims))
    kinds, starts = len(kinds_of_job(constants)), len(constants.of("am_start"))
    found.remarks.append(
        f"What a terasort job of 100 MB does is not published, but for its sizes, nor how long an AM takes to start: "
        f"{kinds} kinds of jobs are run with each of {starts} such times."
    )
    return found
