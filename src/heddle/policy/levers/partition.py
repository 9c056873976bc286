"""Which pool a job draws on: one for all, or a small pool of its own for jobs of small demand."""

from __future__ import annotations

from heddle.model.compilable import callable_too
from heddle.model.workload import AM, INNER
from heddle.policy.lever import Parameter, Partition
from heddle.policy.shares import dominant_share

LARGE, SMALL = 0, 1
THETA = Parameter("theta", 0.1, "a job is small if it wants at most this share of the containers", low=0, high=1)


@callable_too
def small_or_large(view, job, theta_milli, of_available):
    """SMALL if the job has at most theta times as many containers as the cluster holds of its largest shape.

    The whole cluster, empty; or what is free of it now.
    """
    first = view.job_spec["first_stage"][job]
    containers = 0
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
        fit = -1
        for r in range(view.shape["demand"].shape[1]):
            if view.clock["counts"][0, r] and view.shape["demand"][largest, r] > 0:
                room = view.node["allowance"][node, r]
                if of_available:
                    room = max(0, room - view.node["allocated"][node, r])
                fits = room // view.shape["demand"][largest, r]
                fit = fits if fit < 0 else min(fit, fits)
        if fit < 0:  # it needs nothing that counts
            return SMALL
        if not of_available or view.node["alive"][node]:
            slots += fit
    return SMALL if containers * 1000 <= theta_milli * slots else LARGE


def pool(view, state, params, job):
    return small_or_large(view, job, params.theta, False)


def limit(view, state, params, pool, r):
    total = view.clock["total"][0, r]
    small = total * params.share // 1000
    return small if pool == SMALL else total - small


SHARED = Partition(name="shared", summary="one pool for all jobs")

SMALL_POOL = Partition(
    name="small-pool",
    summary="reserves a fixed share of the cluster for small jobs",
    pool=pool,
    limit=limit,
    parameters=(
        Parameter("share", 0.1, "share of the cluster reserved for small jobs", low=0, high=1),
        THETA,
    ),
    n_pools=2,
    may_deadlock=True,
)
