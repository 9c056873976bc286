"""Amounts as shares of the cluster, in units of ONE. Used by many levers; works compiled and in plain Python."""

from __future__ import annotations

from heddle.model.compilable import callable_too
from heddle.model.resources import ONE


@callable_too
def dominant_share(view, amounts, row):
    """The largest share, over the resources that count, that amounts[row] is of the sum of allowances."""
    largest = 0
    for r in range(view.shape["demand"].shape[1]):
        if view.clock["counts"][0, r] and view.clock["allowance"][0, r] > 0:
            largest = max(largest, amounts[row, r] * ONE // view.clock["allowance"][0, r])
    return largest


@callable_too
def submission_rank(view, stage):
    """Jobs by priority, then by number: the order of a plain FIFO."""
    job = view.stage_spec["job"][stage]
    return -(view.job["priority"][job] << 32) + view.job["number"][job]
