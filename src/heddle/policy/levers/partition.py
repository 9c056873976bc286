"""Which pool a job draws on: one for all, or a small pool of its own for jobs of small demand."""

from __future__ import annotations

from heddle.model.workload import AM, INNER
from heddle.policy.lever import Lever, Parameter, Question
from heddle.policy.shares import dominant_share

LARGE, SMALL = 0, 1


def pool(view, state, params, job):  # type: ignore[no-untyped-def]
    """SMALL if the job has at most theta times as many containers as an empty cluster holds of its largest shape."""
    first = view.job_spec["first_stage"][job]
    containers = 0
    n_resources = view.shape["demand"].shape[1]
    largest, largest_share = -1, -1
    for stage in range(first, first + view.job_spec["n_stages"][job]):
        kind = view.stage_spec["kind"][stage]
        if kind != AM and kind != INNER:
            containers += view.stage_spec["n_tasks"][stage]
            shape = view.stage_spec["shape"][stage]
            share = dominant_share(view, view.shape["demand"], shape)
            if share > largest_share:
                largest, largest_share = shape, share
    if largest < 0:
        return SMALL
    slots = 0
    for node in range(view.node.shape[0]):
        fit = 1 << 30
        for r in range(n_resources):
            if view.clock["counts"][0, r] and view.shape["demand"][largest, r] > 0:
                fit = min(fit, view.node["allowance"][node, r] // view.shape["demand"][largest, r])
        slots += fit
    return SMALL if containers * 1000 <= params[1] * slots else LARGE


def limit(view, state, params, pool, r):  # type: ignore[no-untyped-def]
    total = view.clock["allowance"][0, r]
    small = total * params[0] // 1000
    return small if pool == SMALL else total - small


SHARED = Lever(name="shared", question=Question.PARTITION, summary="one pool for all jobs", hooks={})

SMALL_POOL = Lever(
    name="small-pool",
    question=Question.PARTITION,
    summary="a fixed share of the cluster is kept for jobs of small demand",
    hooks={"pool": pool, "limit": limit},
    parameters=(
        Parameter("share", 0.1, "part of the cluster that is kept for small jobs", low=0, high=1),
        Parameter(
            "theta", 0.1, "a job is small if it wants at most this part of the cluster's containers", low=0, high=1
        ),
    ),
    n_pools=2,
    may_deadlock=True,
)
