"""Smallest demand first: jobs that hold and ask for little go before those that want much (DRESS's order)."""

from __future__ import annotations

from heddle.model.resources import ONE
from heddle.policy.lever import Ordering, Parameter
from heddle.policy.levers.dress_demand import still_wanted


def key(view, state, params, stage):
    """The dominant share of what the job holds and wants."""
    job = view.stage_spec["job"][stage]
    largest = 0
    for r in range(view.shape["demand"].shape[1]):
        if view.clock["counts"][0, r] and view.clock["allowance"][0, r] > 0:
            amount = view.job["allocated"][job, r] + still_wanted(view, job, r, params.demand == 0)
            largest = max(largest, amount * ONE // view.clock["allowance"][0, r])
    return largest


SMALLEST_FIRST = Ordering(
    name="smallest-first",
    summary="jobs by the dominant share of what they hold and ask for, smallest first",
    key=key,
    parameters=(
        Parameter(
            "demand",
            "asked",
            "what a job holds and has asked for; or whole: what it holds and will still want, as far as that is known",
            choices=("asked", "whole"),
        ),
    ),
    depends_on="allocations",
)
