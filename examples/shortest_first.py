"""An ordering of one's own: the job with the fewest tasks first.

    heddle compare mix --policy fifo --policy ./examples/shortest_first.py:shortest_first

The scheduler cannot know how long tasks will take; how many a job has is the best guess that it can make.
"""

from heddle.policy.lever import ordering


@ordering()
def shortest_first(view, state, params, stage):
    """jobs with fewer tasks first"""
    job = view.stage_spec["job"][stage]
    first = view.job_spec["first_stage"][job]
    tasks = 0
    for one in range(first, first + view.job_spec["n_stages"][job]):
        tasks += view.stage_spec["n_tasks"][one]
    return tasks
