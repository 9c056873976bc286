"""How containers ended, as the history of a MapReduce job tells it or as it follows from the job's end."""

import pytest

from heddle.model.reasons import Outcome
from heddle.yarn.observe.outcomes import NOT_KNOWN, outcome_of, retried
from heddle.yarn.observe.seen import AppLife, ContainerLife

DONE = AppLife("app", "a", "MAPREDUCE", "root.default", "ann", 0, ended_at_ms=9000, final_status="SUCCEEDED")
BROKEN = AppLife("app", "a", "MAPREDUCE", "root.default", "ann", 0, ended_at_ms=9000, final_status="FAILED")


def container(
    state: str | None, diagnostics: str = "", is_am: bool = False, attempt: str | None = None
) -> ContainerLife:
    return ContainerLife(
        id="c", app="app", node="n:1", priority=20, size=(512, 1000), is_am=is_am, asked_at_ms=0, began_at_ms=0,
        ended_at_ms=5000, attempt=attempt, state=state, diagnostics=diagnostics,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("state", "diagnostics", "outcome"),
    [
        ("SUCCEEDED", "", Outcome.FINISHED),
        ("FAILED", "Error: java.io.IOException: no such file", Outcome.FAILED),
        ("FAILED", "Container [pid=7] is running 9B beyond the 'PHYSICAL' memory limit.", Outcome.LIMIT_KILLED),
        ("KILLED", "Container preempted by scheduler", Outcome.PREEMPTED),
        ("KILLED", "Container released on a *lost* node", Outcome.NODE_LOST),
        ("KILLED", "TaskAttempt killed because it ran on unusable node n:1", Outcome.NODE_LOST),
        ("KILLED", "Speculation: attempt_1_m_000000_1 succeeded first!", NOT_KNOWN),
    ],
)
def test_what_a_history_tells_counts_whatever_became_of_the_job(state: str, diagnostics: str, outcome: int) -> None:
    assert outcome_of(container(state, diagnostics), DONE) == outcome
    assert outcome_of(container(state, diagnostics), BROKEN) == outcome


def test_without_a_history_the_end_of_the_job_tells() -> None:
    assert outcome_of(container(None), DONE) == Outcome.FINISHED
    assert outcome_of(container(None, is_am=True), DONE) == Outcome.RELEASED
    assert outcome_of(container(None), BROKEN) == NOT_KNOWN


def test_a_task_that_runs_again_is_retried() -> None:
    assert not retried(container(None))
    assert not retried(container("SUCCEEDED", attempt="attempt_1_0001_m_000000_0"))
    assert retried(container("SUCCEEDED", attempt="attempt_1_0001_m_000000_1"))
    assert not retried(container("SUCCEEDED", is_am=True, attempt="2"))
