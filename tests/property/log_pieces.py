"""The check of a log that comes in pieces, over jobs that come in blocks."""

from __future__ import annotations

from collections.abc import Sequence
from tempfile import TemporaryFile
from typing import Any

import numpy as np
import numpy.typing as npt

from heddle.analysis.soundness.invariants import Invariants
from heddle.model.cluster import Cluster
from heddle.model.workload import Workload
from heddle.traces.blocks import BlocksInMemory


def broken_in_pieces(
    log: npt.NDArray[Any],
    rows: int,
    tasks: int,
    workload: Workload,
    cluster: Cluster,
    counts: Sequence[bool],
    *,
    finished: bool,
) -> list[str]:
    """So many rows at a time, and blocks of about so many tasks."""
    blocks = list(BlocksInMemory(workload, tasks))
    first_jobs = np.cumsum([0, *(block.n_jobs for block in blocks)])[:-1].tolist()
    with TemporaryFile() as file:
        invariants = Invariants(workload.shapes, cluster, first_jobs, file)
        for first in range(0, len(log), rows):
            invariants.add(log[first : first + rows])
        follow = workload.n_jobs if len(workload.job_after) else 0
        return invariants.broken(blocks, counts, finished=finished, follow=follow)
