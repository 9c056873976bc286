"""A trace that can be given away: hashed names, coarser times, nothing that says who or where."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import polars as pl

from heddle.model.workload import Workload

_DIGITS: Final = 12
_LETTERS: Final = str.maketrans("0123456789", "ghijklmnop")  # what recurs is found by names without their digits


def pseudonym(salt: bytes, kind: str, name: str) -> str:
    """A keyed hash: equal names stay equal, and without the salt nobody can try names out."""
    digest = hmac.new(salt, f"{kind}\0{name}".encode(), hashlib.sha256).hexdigest()
    return f"{kind}-{digest[:_DIGITS].translate(_LETTERS)}"


def anonymous_queue(salt: bytes, name: str) -> str:
    """Part by part, so that the tree stays one."""
    return ".".join(part if part == "root" else pseudonym(salt, "queue", part) for part in name.split("."))


def anonymised(workload: Workload, salt: bytes, round_ms: int = 0) -> tuple[Workload, dict[str, Any]]:
    """(the workload without identities, a manifest of what was done to it).

    Names are pseudonyms, but for those of resources, which are a cluster's: the manifest lists them. Submissions and
    durations are rounded to multiples of `round_ms` where it is not 0. Where the trace comes from is left out.
    """

    def hashed(kind: str, name: str) -> str:
        return pseudonym(salt, kind, name)

    def column(kind: str, names: pl.Series | None) -> pl.Series | None:
        if names is None:
            return None
        distinct = names.unique(maintain_order=True)
        return names.replace_strict(distinct, [hashed(kind, name) for name in distinct], return_dtype=pl.String)

    def each(kind: str, names: Sequence[str]) -> tuple[str, ...]:
        return tuple(hashed(kind, name) if name else name for name in names)

    jobs, tasks = workload.jobs.copy(), workload.tasks.copy()
    if round_ms:
        jobs["submit_at_ms"] = np.round(jobs["submit_at_ms"] / round_ms).astype(np.int64) * round_ms
        tasks["duration_ms"] = np.round(tasks["duration_ms"] / round_ms).astype(np.int64) * round_ms
    stage_names = workload.stage_names
    shared = replace(
        workload,
        name="shared",
        jobs=jobs,
        tasks=tasks,
        users=each("user", workload.users),
        queues=tuple(anonymous_queue(salt, name) for name in workload.queues),
        labels=each("label", workload.labels),
        hosts=each("host", workload.hosts),
        job_names=column("job", workload.job_names),
        stage_names=None if stage_names is None else column("stage", stage_names),
        about={"source": "shared"},
    )
    manifest = {
        "jobs": workload.n_jobs,
        "tasks": workload.n_tasks,
        "hashed": ["jobs", "stages", "users", "queues", "labels", "hosts"],
        "hash": f"HMAC-SHA256 with a secret salt, {_DIGITS} hexadecimal digits",
        "times_rounded_to_ms": round_ms or None,
        "removed": ["the trace's name", "where it comes from", "paths", "rows that were set aside"],
        "kept": ["reservations", "use", "durations", "order and structure of jobs", "names of resources"],
        "resources": list(workload.resources),
    }
    return shared, manifest
