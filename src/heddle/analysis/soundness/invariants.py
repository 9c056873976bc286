"""What must hold in every run, looked up in all that happened (happenings.py): the `--check` of the command line.

A run is looked at piece by piece, while it goes on: what is about nodes and the clock at once (node_books.py), what is
about jobs when the run is over, one block of jobs after another (job_rules.py). Until then rows lie in a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from io import BytesIO
from typing import IO, Any, Final

import numpy as np
import numpy.typing as npt

from heddle.analysis.soundness.findings import Findings
from heddle.analysis.soundness.job_rules import ROW, JobRules, rows_about_jobs
from heddle.analysis.soundness.node_books import NodeBooks
from heddle.analysis.soundness.rows_by_block import RowsByBlock
from heddle.model.cluster import Cluster
from heddle.model.view import View
from heddle.model.workload import Workload

Rows = npt.NDArray[Any]
_AT_ONCE: Final = 1 << 18  # rows


class Invariants:
    """Of one run: `add` all that happened, then ask what was `broken`."""

    def __init__(self, shapes: Rows, cluster: Cluster, first_jobs: Sequence[int], file: IO[bytes]) -> None:
        """`shapes` are in the cluster's resources; `first_jobs`: the number of the first job of each block; `file`:
        an empty one, for rows about jobs."""
        self._cluster, self._found, self._n_rows = cluster, Findings(), 0
        self._books = NodeBooks(shapes, cluster, self._found)
        self._about_jobs = RowsByBlock(file, first_jobs, ROW)

    def add(self, happened: Rows) -> None:
        """What happened next, in order, in the numbers of the whole workload."""
        for first in range(0, len(happened), _AT_ONCE):
            rows = happened[first : first + _AT_ONCE].copy()
            rows["place"] = self._n_rows + np.arange(len(rows))
            self._n_rows += len(rows)
            self._books.look_at(rows)
            self._about_jobs.add(rows_about_jobs(rows))

    def broken(
        self, blocks: Iterable[Workload], counts: Sequence[bool], *, finished: bool, follow: int = 0
    ) -> list[str]:
        """Everything that happened and cannot be; empty for a good run.

        `blocks`: the workload once more, in the cluster's resources; `counts`: the resources that the scheduler looked
        at; `follow`: how many jobs there are if some come after others, else 0.
        """
        self._books.close(counts, finished=finished)
        rules = JobRules(self._cluster, self._found, finished=finished, follow=follow)
        for number, block in enumerate(blocks):
            rules.look_at(self._about_jobs.of_block(number), block)
        return self._found.texts()


def broken_invariants(
    log: Rows, workload: Workload, cluster: Cluster, counts: Sequence[bool], *, finished: bool
) -> list[str]:
    """The same of a run that is in memory. The workload is in the cluster's resources."""
    invariants = Invariants(workload.shapes, cluster, [0], BytesIO())
    invariants.add(log)
    follow = workload.n_jobs if len(workload.job_after) else 0
    return invariants.broken([workload], counts, finished=finished, follow=follow)


def sums_left(view: View, gone: Sequence[tuple[int, list[int]]] = ()) -> list[str]:
    """After a finished run nothing may be allocated any more, in no account.

    `gone`: jobs that left memory before, with what they still counted, as far as that was anything.
    """
    found = []
    for name in ("node", "queue", "member", "pool", "job"):
        left = getattr(view, name)["allocated"]
        numbers = view.job["number"] if name == "job" else np.arange(len(left))
        still = [(int(numbers[row]), left[row].tolist()) for row in np.flatnonzero(left.any(axis=1))[:1]]
        if still := sorted([*still, *(gone if name == "job" else ())])[:1]:
            found.append(f"after the run {name} {still[0][0]} still counts {still[0][1]} as allocated")
    if view.clock["am_allocated"].any():
        found.append(f"after the run application masters still hold {view.clock['am_allocated'][0].tolist()}")
    return found
