from heddle.policy.lever import Parameter, partition


def limit(view, state, params, pool, r):
    kept = view.clock["total"][0, r] * params.share // 1000
    return kept if pool == 1 else view.clock["total"][0, r] - kept


@partition(
    parameters=(
        Parameter("share", 0.3, "part of the cluster that is kept for small jobs", low=0, high=1),
        Parameter("tasks", 20, "a job of at most this many tasks is small", low=0),
    ),
    limit=limit,
    n_pools=2,
    may_deadlock=True,
)
def two_pools(view, state, params, job):
    """jobs of few tasks have a pool of their own"""
    first = view.job_spec["first_stage"][job]
    tasks = 0
    for one in range(first, first + view.job_spec["n_stages"][job]):
        tasks += view.stage_spec["n_tasks"][one]
    return 1 if tasks * 1000 <= params.tasks else 0
