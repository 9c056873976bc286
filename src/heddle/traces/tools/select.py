"""Some jobs of a workload as a workload of their own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from heddle.model.errors import BadInput
from heddle.model.some_jobs import GONE, some_jobs
from heddle.model.workload import Workload

Mask = npt.NDArray[np.bool_]


def select_jobs(workload: Workload, chosen: Mask) -> tuple[Workload, int]:
    """(the workload of these jobs, dependencies on jobs that are not among them and were dropped).

    Submissions begin at 0 again. Queues, users, shapes and hosts keep their numbers, used or not.
    """
    if not chosen.any():
        raise BadInput.of(workload.name, "no job is left")
    found = some_jobs(workload, chosen)
    jobs, kept = found.jobs, found.job_after != GONE
    waiting = np.repeat(np.arange(len(jobs)), jobs["n_after"])
    jobs["n_after"] = np.bincount(waiting[kept], minlength=len(jobs))
    jobs["first_after"] = np.cumsum(jobs["n_after"]) - jobs["n_after"]
    jobs["submit_at_ms"] -= jobs["submit_at_ms"].min()
    of_stage = pl.Series(chosen[workload.stages["job"]])
    return replace(
        found,
        job_after=found.job_after[kept],
        job_names=_names(workload.job_names, chosen, workload.job_name),
        stage_names=None if workload.stage_names is None else workload.stage_names.filter(of_stage),
    ), int((~kept).sum())


def _names(names: pl.Series | None, chosen: Mask, name_of: Any) -> pl.Series:
    """Numbers would change their meaning: a job without a name keeps the one it went by."""
    if names is not None:
        return names.filter(pl.Series(chosen))
    return pl.Series("job", [name_of(int(job)) for job in np.flatnonzero(chosen)], dtype=pl.String)
