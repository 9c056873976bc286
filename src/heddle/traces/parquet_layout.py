"""Which arrays of a workload a heddle Parquet file holds, and which follow from the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from heddle.model.workload import JOB, STAGE, TASK, Workload, segment_dtype

Array = npt.NDArray[Any]

SECTIONS: Final = ("job", "stage", "task", "segment", "stage_after", "job_after")  # in the order of the file
# Counts tell where everything begins, since the stages of a job and the tasks of a stage follow each other.
DERIVED: Final = ("job.first_stage", "job.first_after", "stage.job", "stage.first_task", "stage.first_after")
# Kept as columns even where all values are equal, so that jobs and tasks always have rows in the file.
ALWAYS_COLUMNS: Final = ("job.submit_at_ms", "task.duration_ms")


@dataclass
class Arrays:
    """The large arrays of a workload."""

    jobs: Array
    stages: Array
    tasks: Array
    segments: Array
    stage_after: Array
    job_after: Array
    prefers: Array | None
    running_on: Array | None
    started_at_ms: Array | None
    edge_bytes: Array | None
    input_bytes: Array | None

    @classmethod
    def of(cls, workload: Workload) -> Arrays:
        return cls(
            workload.jobs,
            workload.stages,
            workload.tasks,
            workload.segments,
            workload.stage_after,
            workload.job_after,
            workload.prefers,
            workload.running_on,
            workload.started_at_ms,
            workload.edge_bytes,
            workload.input_bytes,
        )

    @classmethod
    def empty(
        cls,
        lengths: dict[str, int],
        n_resources: int,
        *,
        with_prefers: bool,
        with_running: bool,
        with_edge_bytes: bool,
        with_input_bytes: bool,
    ) -> Arrays:
        return cls(
            np.zeros(lengths["job"], JOB),
            np.zeros(lengths["stage"], STAGE),
            np.zeros(lengths["task"], TASK),
            np.zeros(lengths["segment"], segment_dtype(n_resources)),
            np.zeros(lengths["stage_after"], np.int32),
            np.zeros(lengths["job_after"], np.int32),
            np.zeros(lengths["task"], np.int32) if with_prefers else None,
            np.zeros(lengths["task"], np.int32) if with_running else None,
            np.zeros(lengths["task"], np.int64) if with_running else None,
            np.zeros(lengths["stage_after"], np.int64) if with_edge_bytes else None,
            np.zeros(lengths["task"], np.int64) if with_input_bytes else None,
        )

    def lengths(self) -> dict[str, int]:
        """The number of rows of each section, in the order of the file."""
        rows = (self.jobs, self.stages, self.tasks, self.segments, self.stage_after, self.job_after)
        return dict(zip(SECTIONS, map(len, rows), strict=True))

    def columns(self, resources: Sequence[str]) -> dict[str, dict[str, Array]]:
        """By section, views of what is stored; writing into them fills the arrays."""
        found: dict[str, dict[str, Array]] = {}
        for section, table in (("job", self.jobs), ("stage", self.stages), ("task", self.tasks)):
            fields = {f"{section}.{field}": table[field] for field in table.dtype.names or ()}
            found[section] = {name: column for name, column in fields.items() if name not in DERIVED}
        if self.prefers is not None:
            found["task"]["task.prefers"] = self.prefers
        if self.running_on is not None and self.started_at_ms is not None:
            found["task"] |= {"task.running_on": self.running_on, "task.started_at_ms": self.started_at_ms}
        if self.input_bytes is not None:
            found["task"]["task.input_bytes"] = self.input_bytes
        found["segment"] = {f"segment.{field}": self.segments[field] for field in ("until_permyriad", "last")}
        for number, resource in enumerate(resources):
            found["segment"][f"segment.use.{resource}"] = self.segments["use"][:, number]
        found["stage_after"] = {"stage_after": self.stage_after}
        if self.edge_bytes is not None:
            found["stage_after"]["stage_after.bytes"] = self.edge_bytes
        found["job_after"] = {"job_after": self.job_after}
        return found

    def derive(self) -> None:
        """Fill what is not stored; ValueError where the counts do not add up."""
        _fill_starts(self.jobs["first_stage"], self.jobs["n_stages"], len(self.stages))
        _fill_starts(self.jobs["first_after"], self.jobs["n_after"], len(self.job_after))
        _fill_starts(self.stages["first_task"], self.stages["n_tasks"], len(self.tasks))
        _fill_starts(self.stages["first_after"], self.stages["n_after"], len(self.stage_after))
        self.stages["job"] = np.repeat(np.arange(len(self.jobs), dtype=np.int32), self.jobs["n_stages"])


def _fill_starts(starts: Array, counts: Array, total: int) -> None:
    if int(counts.sum(dtype=np.int64)) != total:
        raise ValueError("the lengths of its parts do not add up")
    if total:  # else all begin at 0, as the array has it
        np.cumsum(counts[:-1], out=starts[1:])
