"""A run told in order: the lives of attempts taken apart and put among the rows of the log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from heddle.model.workload import INNER, Workload
from heddle.sim.codes import LOG_NAMES, NEVER
from heddle.sim.memory.tables import LOG_ROW
from heddle.sim.memory.window import Numbers

Rows = npt.NDArray[Any]
# Kinds beside those of the log.
ALLOCATED: Final = len(LOG_NAMES)
STARTED: Final = ALLOCATED + 1
FETCHED: Final = ALLOCATED + 2  # `value`: bytes
ENDED: Final = ALLOCATED + 3  # `code`: the outcome
_MOMENTS: Final = {ALLOCATED: "allocated", STARTED: "started", FETCHED: "fetched", ENDED: "ended"}

NO_SHAPE: Final = -1
_ADDED: Final = [
    ("task", np.int32),
    ("attempt", np.int16),
    ("shape", np.int32),  # what the attempt reserves; NO_SHAPE: nothing
    ("took_ms", np.int64),  # FETCHED: since it began to fetch
]
HAPPENED: Final = np.dtype([*((name, LOG_ROW[name]) for name in LOG_ROW.names or ()), *_ADDED])


def in_order(
    log: Sequence[Rows], attempts: Rows, workload: Workload, *, since: int = 0, numbers: Numbers | None = None
) -> Rows:
    """Everything that happened, in the order in which it did. Inner tasks of executors start, unallocated.

    `since`: what happened to attempts before this place has been told; `numbers`: of the jobs, where these are not all
    that there are.
    """
    parts = [_of_log(piece) for piece in log]
    parts += [_of_attempts(attempts, kind, word, workload, since) for kind, word in _MOMENTS.items()]
    told = np.concatenate(parts)
    told = told.take(np.argsort(told["place"], kind="stable"))
    if numbers is not None:
        for name, column in numbers.in_place_of(told["job"], stage=told["stage"], task=told["task"]).items():
            told[name] = column
    return told


def _of_log(piece: Rows) -> Rows:
    rows = np.zeros(len(piece), HAPPENED)
    for name in LOG_ROW.names or ():
        rows[name] = piece[name]
    rows["task"], rows["shape"] = -1, NO_SHAPE
    return rows


def _of_attempts(attempts: Rows, kind: int, word: str, workload: Workload, since: int) -> Rows:
    did = (attempts[f"{word}_at_ms"] != NEVER) & (attempts[f"{word}_place"] >= since)
    if kind == ALLOCATED:
        did &= workload.stages["kind"][attempts["stage"]] != INNER
    lived = attempts[did]
    rows = np.zeros(len(lived), HAPPENED)
    of_stage = workload.stages[lived["stage"]]
    rows["kind"], rows["place"], rows["at_ms"] = kind, lived[f"{word}_place"], lived[f"{word}_at_ms"]
    rows["job"], rows["shape"] = of_stage["job"], np.where(of_stage["kind"] == INNER, NO_SHAPE, of_stage["shape"])
    for name in ("stage", "node", "task", "attempt"):
        rows[name] = lived[name]
    if kind == FETCHED:
        rows["value"], rows["took_ms"] = lived["fetched_bytes"], lived["fetch_ms"]
    elif kind == ENDED:
        rows["code"] = lived["outcome"]
    return rows
