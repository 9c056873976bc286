"""Jobs as heddle wants them: unique names, leaf queues, times that begin at 0."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from heddle.traces.build import JobSpec


def queue_name(text: str) -> str:
    """`root.a.b` for `a.b` and `root.a.b`; `root.default` for nothing."""
    parts = [part for part in re.split(r"[.\s]+", text) if part and part != "root"]
    return ".".join(("root", *(parts or ("default",))))


def leaf_queues(jobs: Sequence[JobSpec]) -> list[JobSpec]:
    """Jobs in queues that are all leaves: one that is also another's parent gets a leaf `default` of its own."""
    queues = {job.queue for job in jobs}
    parents = {other[:end] for other in queues for end in range(len(other)) if other[end] == "."}
    return [replace(job, queue=f"{job.queue}.default") if job.queue in parents else job for job in jobs]


def from_zero(jobs: Sequence[JobSpec]) -> list[JobSpec]:
    """Jobs whose first is submitted at 0."""
    first = min((job.submit_at_ms for job in jobs), default=0)
    return [replace(job, submit_at_ms=job.submit_at_ms - first) for job in jobs]


class Unique:
    """Gives each name once; the second of the same name is called `name~2`."""

    def __init__(self) -> None:
        self._used: dict[str, int] = {}

    def __call__(self, name: str) -> str:
        count = self._used.get(name, 0) + 1
        self._used[name] = count
        return name if count == 1 else self(f"{name}~{count}")
