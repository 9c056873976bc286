"""First in, first out, strictly or as YARN's FifoScheduler does it: what most others are measured against."""

from __future__ import annotations

from heddle.policy.lever import Ordering, Parameter
from heddle.policy.shares import submission_rank


def key(view, state, params, stage):
    if params.yarn:  # it knows no priorities of applications
        return view.job["number"][view.stage_spec["job"][stage]]
    return submission_rank(view, stage)


FIFO = Ordering(
    name="fifo",
    summary="jobs in order of priority, then submission; the first that does not fit blocks those behind",
    key=key,
    parameters=(
        Parameter("blocking", True, "false lets smaller requests pass a head that does not fit"),
        Parameter(
            "yarn",
            False,
            "as YARN's FifoScheduler: in order of submission, memory alone counts, and a request that does not fit"
            " blocks its own job only",
        ),
    ),
    blocking="blocking",
    blocks_in_job="yarn",
    by_memory="yarn",
    of_yarn=True,
)
