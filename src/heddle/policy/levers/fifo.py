"""First in, first out: YARN's FifoScheduler, and what most others are measured against."""

from __future__ import annotations

from heddle.policy.lever import Ordering, Parameter
from heddle.policy.shares import submission_rank


def key(view, state, params, stage):
    return submission_rank(view, stage)


FIFO = Ordering(
    name="fifo",
    summary="jobs in order of priority, then submission; the first that does not fit blocks those behind",
    key=key,
    parameters=(Parameter("blocking", True, "false lets smaller requests pass a head that does not fit"),),
    blocking="blocking",
    of_yarn=True,
)
