"""The columns of a CSV of tasks, declared once: what each holds, and what it becomes in the table of tasks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from heddle.traces.sizes import Kind


@dataclass(frozen=True)
class Column:
    """One column. What is not text is a number."""

    name: str
    becomes: str = ""  # the column of TaskTable; empty: dependencies are made of it
    required: bool = False
    is_text: bool = False
    is_ms: bool = False  # milliseconds have no fractions
    is_past: bool = False  # 0 or before
    factor: int = 1  # to heddle's units
    size: Kind | None = None  # MB, or with a unit (64GB), of what
    agrees_in: Literal["job", "stage", ""] = ""  # rows of one job or stage that give it give the same
    given_with: tuple[str, ...] = ()  # a row that gives it gives these, too


SEPARATORS: Final = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_MILLICORES: Final = 1000
_BYTES: Final = 1_000_000

COLUMNS: Final = (
    Column("job", "job", required=True, is_text=True),
    Column("submit_ms", "submit_at_ms", required=True, is_ms=True),
    Column("duration_ms", "duration_ms", required=True, is_ms=True),
    Column("vcores", "vcores_milli", required=True, factor=_MILLICORES),
    Column("memory_mb", "memory_mb", required=True, size="memory"),
    Column("stage", "stage", is_text=True),
    Column("after", is_text=True, agrees_in="stage"),
    Column("used_vcores", "used_vcores_milli", factor=_MILLICORES),
    Column("used_memory_mb", "used_memory_mb", size="memory"),
    Column("am_vcores", "am_vcores_milli", factor=_MILLICORES, agrees_in="job", given_with=("am_memory_mb",)),
    Column("am_memory_mb", "am_memory_mb", size="memory", agrees_in="job", given_with=("am_vcores",)),
    Column("queue", "queue", is_text=True, agrees_in="job"),
    Column("user", "user", is_text=True, agrees_in="job"),
    Column("reads_mb", factor=_BYTES, size="data"),
    Column("input_node", "prefers", is_text=True),
    Column("input_mb", "input_bytes", factor=_BYTES, size="data", given_with=("input_node",)),
    Column("node", "runs_on", is_text=True, given_with=("started_ms",)),
    Column("started_ms", "started_at_ms", is_ms=True, is_past=True, given_with=("node",)),
    Column("am_node", "am_runs_on", is_text=True, agrees_in="job", given_with=("am_started_ms", "am_vcores")),
    Column("am_started_ms", "am_started_at_ms", is_ms=True, is_past=True, agrees_in="job", given_with=("am_node",)),
)
NAMES: Final = tuple(column.name for column in COLUMNS)
REQUIRED: Final = tuple(column.name for column in COLUMNS if column.required)
