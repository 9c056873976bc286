"""Smallest demand first: jobs that hold and ask for little go before those that want much (DRESS's order)."""

from __future__ import annotations

from heddle.model.resources import ONE
from heddle.policy.lever import Ordering


def key(view, state, params, stage):
    """The dominant share of what the job holds and waits for."""
    job = view.stage_spec["job"][stage]
    first = view.job_spec["first_stage"][job]
    largest = 0
    for r in range(view.shape["demand"].shape[1]):
        if view.clock["counts"][0, r] and view.clock["allowance"][0, r] > 0:
            amount = view.job["allocated"][job, r]
            for other in range(first, first + view.job_spec["n_stages"][job]):
                amount += view.stage["waiting"][other] * view.shape["demand"][view.stage_spec["shape"][other], r]
            largest = max(largest, amount * ONE // view.clock["allowance"][0, r])
    return largest


SMALLEST_FIRST = Ordering(
    name="smallest-first",
    summary="jobs by the dominant share of what they hold and ask for, smallest first",
    key=key,
    depends_on="allocations",
)
