"""From rows of the engine's log to rows of the record's long tables, piece by piece: attempts and events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from heddle.model.reasons import JobOutcome
from heddle.model.view import JOB_FINISHED
from heddle.model.workload import NO_SEGMENTS, Workload
from heddle.record.columns import columns_of
from heddle.record.schema import Table, event_kinds, tables
from heddle.sim import codes
from heddle.sim.memory.declaring import dtype_of
from heddle.sim.memory.log_tables import Attempt
from heddle.sim.memory.tables import LOG_ROW
from heddle.sim.memory.window import Numbers

Column = npt.NDArray[Any]
FETCH_COLUMNS: Final = ("fetched_at_ms", "fetch_ms", "fetched_bytes", "cross_rack_bytes")

# Rows of the engine's log as events; the kinds of sizes follow one by one, in the order of resources.
_EVENT_OF_LOG: Final = {
    codes.LOG_ARRIVED: "job_arrived",
    codes.LOG_JOB_ENDED: "job_ended",
    codes.LOG_ADMITTED: "admitted",
    codes.LOG_WAIT: "wait",
    codes.LOG_NODE_LOST: "node_lost",
    codes.LOG_NODE_RETURNED: "node_returned",
    codes.LOG_MOVED: "moved",
    codes.LOG_PRIORITY: "priority",
    codes.LOG_QUEUE_GUARANTEE: "queue_guarantee",
    codes.LOG_QUEUE_MAXIMUM: "queue_maximum",
    codes.LOG_QUEUE_AM_SHARE: "queue_am_share",
}
_OF_QUEUES: Final = (
    codes.LOG_MOVED,
    codes.LOG_QUEUE_GUARANTEE,
    codes.LOG_QUEUE_MAXIMUM,
    codes.LOG_QUEUE_AM_SHARE,
)
_WITH_VALUE: Final = (codes.LOG_RESIZED, codes.LOG_PRIORITY, *_OF_QUEUES)


class LogTables:
    """What rows of the log mean in one run. It reads nothing that a run writes."""

    def __init__(self, workload: Workload, queues: tuple[str, ...], numbers: Numbers | None = None) -> None:
        """`queues`: their names, by number; `numbers`: of the jobs, where these are not all that there are."""
        self._workload, self._queues, self._numbers = workload, queues, numbers
        schema = tables(workload.resources)
        self._attempts, self._events = schema["attempts"], schema["events"]
        self._of_stage = {name: np.ascontiguousarray(workload.stages[name]) for name in ("job", "kind", "shape")}
        has_use = workload.tasks["first_segment"] != NO_SEGMENTS
        self._has_use = None if has_use.all() else has_use  # None: every task has
        kinds = list(event_kinds(workload.resources))
        names = _EVENT_OF_LOG | {codes.LOG_RESIZED: f"size_{workload.resources[0]}"}
        self._first_kind = np.array([kinds.index(names[logged]) for logged in range(len(codes.LOG_NAMES))], np.uint8)
        self._kinds = pl.Series(kinds, dtype=pl.Enum(kinds))

    def attempts(self, pieces: Sequence[Column]) -> pl.DataFrame:
        """Rows of the table of attempts. Inner tasks get their slot in the instant in which they start."""
        rows = columns_of(pieces, dtype_of(Attempt, len(self._workload.resources)))
        task, stage = rows["task"], rows["stage"]
        over = rows["ended_at_ms"] != codes.NEVER
        fetched = rows["fetched_at_ms"] != codes.NEVER
        used = over if self._has_use is None else self._has_use[task] & over
        columns: dict[str, Any] = {"task": task, "stage": stage}
        columns |= {name: of_stage.take(stage) for name, of_stage in self._of_stage.items()}
        columns |= {name: rows[name] for name in ("attempt", "node", "asked_at_ms", "allocated_at_ms", "outcome")}
        columns |= {name: known(rows[name], fetched) for name in FETCH_COLUMNS}
        for r, name in enumerate(self._workload.resources):
            columns[f"used_{name}_ms"] = known(rows["used_ms"][r], used)
        if self._numbers is not None:
            columns |= self._numbers.in_place_of(columns["job"], stage=stage, task=task)
        columns["allocation"] = rows["allocated_place"]
        columns["ended_at_ms"] = known(rows["ended_at_ms"], over)
        columns["started_at_ms"] = known(rows["started_at_ms"], rows["started_at_ms"] != codes.NEVER)
        return frame_of(self._attempts, columns)

    def events(self, pieces: Sequence[Column]) -> pl.DataFrame:
        """Rows of the table of events."""
        rows = columns_of(pieces, LOG_ROW)
        kind, code, value, node = rows["kind"], rows["code"], rows["value"], rows["node"]
        number = self._first_kind.take(kind)
        number += code.view(np.uint8) * (kind == codes.LOG_RESIZED)
        value *= _is_one_of(_WITH_VALUE, kind)
        arrived, ended = np.flatnonzero(kind == codes.LOG_ARRIVED), np.flatnonzero(kind == codes.LOG_JOB_ENDED)
        value[arrived] = self._workload.jobs["submit_at_ms"][rows["job"][arrived]]
        value[ended] = np.where(code[ended] == JOB_FINISHED, int(JobOutcome.FINISHED), int(JobOutcome.FAILED))
        of_queue = np.flatnonzero(_is_one_of(_OF_QUEUES, kind))  # these have a queue's number in place of a node's
        queue = _queues_of(of_queue, node, self._queues)
        node[of_queue] = -1
        columns = {
            "at_ms": rows["at_ms"],
            "job": rows["job"],
            "stage": rows["stage"],
            "node": node,
            "queue": queue,
            "kind": self._kinds.gather(number),
            "reason": np.where(kind == codes.LOG_WAIT, code, 0),
            "value": value,
        }
        if self._numbers is not None:
            columns |= self._numbers.in_place_of(rows["job"], stage=rows["stage"])
        return frame_of(self._events, columns)


def frame_of(table: Table, columns: Mapping[str, Any]) -> pl.DataFrame:
    """The columns as the table has them: its order, its types."""
    return pl.DataFrame([_series(column.name, column.dtype, columns[column.name]) for column in table.columns])


def _series(name: str, dtype: pl.DataType, values: Any) -> pl.Series:
    series = pl.Series(name, values)
    return series if series.dtype == dtype else series.cast(dtype)


def known(values: Column, valid: npt.NDArray[np.bool_]) -> pl.Series:
    """Null where not valid."""
    if valid.all():
        return pl.Series(np.ascontiguousarray(values))
    if not valid.any():
        return pl.repeat(None, len(values), dtype=pl.Int64, eager=True)
    return pl.Series(pa.array(values, mask=~valid))


def _is_one_of(wanted: Iterable[int], kind: Column) -> npt.NDArray[np.bool_]:
    """Like np.isin, but by a table: the log of a million tasks has ten million rows."""
    table = np.zeros(len(codes.LOG_NAMES), bool)
    table[list(wanted)] = True
    return table.take(kind)


def _queues_of(rows: Column, numbers: Column, queues: tuple[str, ...]) -> pl.Series:
    """Names of the queues whose numbers stand in these rows; null elsewhere, which without knobs is everywhere."""
    if not len(rows):
        return pl.repeat(None, len(numbers), dtype=pl.String, eager=True)
    names = np.full(len(numbers), len(queues))
    names[rows] = numbers[rows]
    return pl.Series([*queues, None], dtype=pl.String).gather(names)
