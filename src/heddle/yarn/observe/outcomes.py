"""How applications and their containers ended: as a history tells, or else as far as it follows from the rest."""

from __future__ import annotations

from typing import Final

from heddle.model.reasons import JobOutcome, Outcome
from heddle.yarn.observe.seen import AppLife, ContainerLife

NOT_KNOWN: Final = -1
# What MapReduce says of attempts that it did not end itself.
_KILLED: Final = {
    "preempted": Outcome.PREEMPTED,
    "*lost* node": Outcome.NODE_LOST,
    "unusable node": Outcome.NODE_LOST,
}
_OVER_ITS_SIZE: Final = "memory limit"


def job_outcome(app: AppLife) -> JobOutcome:
    if app.ended_at_ms is None:
        return JobOutcome.UNFINISHED
    return JobOutcome.FINISHED if app.final_status == "SUCCEEDED" else JobOutcome.FAILED


def outcome_of(container: ContainerLife, app: AppLife) -> int:
    """An Outcome, or -1."""
    finished = Outcome.RELEASED if container.is_am else Outcome.FINISHED
    said = container.diagnostics.lower()
    if container.state == "SUCCEEDED":
        return finished
    if container.state == "FAILED":
        return Outcome.LIMIT_KILLED if _OVER_ITS_SIZE in said else Outcome.FAILED
    if container.state == "KILLED":
        told = next((outcome for words, outcome in _KILLED.items() if words in said), None)
        return NOT_KNOWN if told is None else told
    # Without a history: nothing is said of single containers, but all of those of a job that succeeded have done so.
    known = container.ended_at_ms is not None and job_outcome(app) is JobOutcome.FINISHED
    return finished if known else NOT_KNOWN


def retried(container: ContainerLife) -> bool:
    """Whether it ran a task for the second time or later, as far as a history tells."""
    return container.attempt is not None and not container.is_am and not container.attempt.endswith("_0")
