"""A run told in order: the lives of attempts taken apart and put among the rows of the log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from heddle.model.workload import INNER, Workload
from heddle.sim.codes import LOG_NAMES, NEVER
from heddle.sim.memory.tables import LOG_ROW

Rows = npt.NDArray[Any]
# Kinds beside those of the log.
ALLOCATED: Final = len(LOG_NAMES)
STARTED: Final = ALLOCATED + 1
FETCHED: Final = ALLOCATED + 2  # `value`: bytes
ENDED: Final = ALLOCATED + 3  # `code`: the outcome
_MOMENTS: Final = {ALLOCATED: "allocated", STARTED: "started", FETCHED: "fetched", ENDED: "ended"}

_ADDED: Final = [
    ("task", np.int32),
    ("attempt", np.int16),
    ("took_ms", np.int64),  # FETCHED: since it began to fetch
]
HAPPENED: Final = np.dtype([*((name, LOG_ROW[name]) for name in LOG_ROW.names or ()), *_ADDED])


def in_order(log: Sequence[Rows], attempts: Rows, workload: Workload) -> Rows:
    """Everything that happened, in the order in which it did. Inner tasks of executors start, unallocated."""
    parts = [_of_log(piece) for piece in log]
    parts += [_of_attempts(attempts, kind, word, workload) for kind, word in _MOMENTS.items()]
    told = np.concatenate(parts)
    return told.take(np.argsort(told["place"], kind="stable"))


def _of_log(piece: Rows) -> Rows:
    rows = np.zeros(len(piece), HAPPENED)
    for name in LOG_ROW.names or ():
        rows[name] = piece[name]
    rows["task"] = -1
    return rows


def _of_attempts(attempts: Rows, kind: int, word: str, workload: Workload) -> Rows:
    did = attempts[f"{word}_at_ms"] != NEVER
    if kind == ALLOCATED:
        did &= workload.stages["kind"][attempts["stage"]] != INNER
    lived = attempts[did]
    rows = np.zeros(len(lived), HAPPENED)
    rows["kind"], rows["place"], rows["at_ms"] = kind, lived[f"{word}_place"], lived[f"{word}_at_ms"]
    rows["job"] = workload.stages["job"][lived["stage"]]
    for name in ("stage", "node", "task", "attempt"):
        rows[name] = lived[name]
    if kind == FETCHED:
        rows["value"], rows["took_ms"] = lived["fetched_bytes"], lived["fetch_ms"]
    elif kind == ENDED:
        rows["code"] = lived["outcome"]
    return rows
