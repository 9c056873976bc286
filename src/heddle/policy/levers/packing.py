"""Orders that look at the node: first-fit-decreasing by dot product, and Tetris, which also prefers short jobs."""

from __future__ import annotations

from heddle.model.compilable import callable_too
from heddle.model.resources import MEMORY, ONE
from heddle.model.view import EVENT_FINISHED, EVENT_INNER_FINISHED
from heddle.policy.lever import Form, Ordering, Parameter, State
from heddle.policy.levers.remaining_work import finished, prepare, total_work
from heddle.policy.shares import submission_rank


@callable_too
def alignment(view, state, params, node, stage):
    """Dot product of what the request wants and what the node has free, both as parts of the node's allowance."""
    shape = view.stage_spec["shape"][stage]
    total = 0
    for r in range(view.shape["demand"].shape[1]):
        allowance = view.node["allowance"][node, r]
        if view.clock["counts"][0, r] and allowance > 0:
            free = view.node["total"][node, r] - view.node["allocated"][node, r]
            total += (view.shape["demand"][shape, r] * ONE // allowance) * (free * ONE // allowance) // ONE
    return total


def tie_break(view, state, params, stage):
    """Of requests that suit the node equally well: the job that came first, or the one that holds least memory."""
    if params.ties != 0:
        return view.job["allocated"][view.stage_spec["job"][stage], MEMORY]
    return submission_rank(view, stage)


def fit_alone(
    view, state, params, key, fit, term, n, sum_key, sum_fit, min_key, max_key, min_fit, max_fit, min_term, max_term
):
    return fit


def fit_and_remaining(
    view, state, params, key, fit, term, n, sum_key, sum_fit, min_key, max_key, min_fit, max_fit, min_term, max_term
):
    """Tetris: alignment minus weighted remaining work, each relative to its mean over the candidates."""
    aligned = fit * n * ONE // max(1, sum_fit)
    remaining = key * n * ONE // max(1, sum_key)
    return aligned - params.weight * remaining // 1000


FFD_DP = Ordering(
    name="ffd-dp",
    summary="first-fit decreasing by dot product: the request that fills the node best",
    key=tie_break,
    fit=alignment,
    combine=fit_alone,
    form=Form("fit"),
    parameters=(
        Parameter(
            "ties",
            "submission",
            "of equal fit: the job that came first, or evenly among jobs (the one that holds least memory)",
            choices=("submission", "even"),
        ),
    ),
    depends_on="allocations",
)

TETRIS = Ordering(
    name="tetris",
    summary="dot product plus a preference for jobs with little work left",
    key=total_work,
    fit=alignment,
    combine=fit_and_remaining,
    on_event=finished,
    parameters=(Parameter("weight", 1.0, "of remaining work against fit", low=0, high=1000),),
    state=State(job="work"),
    listens=(EVENT_FINISHED, EVENT_INNER_FINISHED),
    prepare=prepare,
    truth=("workload",),
    depends_on="allocations",
)
