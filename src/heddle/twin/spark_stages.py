"""What a Spark application tells of its stages, asked of its driver through the ResourceManager's proxy.

Containers of Spark are executors; its tasks run inside them and no ResourceManager sees them. The driver's REST pages
(as Spark 3.1 and later serve them) list the stages of all jobs that it has submitted so far, not those of jobs to come.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Protocol
from urllib.parse import quote

from heddle.yarn.live.client import RmClient
from heddle.yarn.live.rm_answers import Reading, number, text, whole

SPARK: Final = "SPARK"
QUANTILES: Final = ",".join(f"{(place + 0.5) / 10:g}" for place in range(10))  # of how long finished tasks took
MOST_RUNNING: Final = 500  # tasks of a stage whose ages are asked for
MOST_STAGES: Final = 8  # that run at the same time and are asked for these
MOST_TASKS: Final = 2**31 - 1
_OVER: Final = ("COMPLETE", "SKIPPED", "FAILED")
_RUNNING, _WAITING, _SKIPPED = "ACTIVE", "PENDING", "SKIPPED"
_DRIVER: Final = "driver"
_DATE: Final = "%Y-%m-%dT%H:%M:%S.%fGMT"


@dataclass(frozen=True)
class SparkStage:
    """The latest attempt of one. `took_ms`: how long finished tasks took, evenly spaced quantiles of it or their mean.

    `running_at_ms`: when those tasks began that run, by the driver's clock.
    """

    id: int
    name: str
    tasks: int
    finished: int
    took_ms: tuple[int, ...]
    running_at_ms: tuple[int, ...]
    is_over: bool


@dataclass(frozen=True)
class SparkTold:
    """`slots`: tasks that one executor runs at the same time; `stages`: in order of their numbers."""

    slots: int
    stages: tuple[SparkStage, ...]

    @property
    def is_under_way(self) -> bool:
        """Whether any stage runs or waits; if not, the driver has submitted no job yet, or is between two."""
        return any(not stage.is_over for stage in self.stages)


class Budget(Protocol):
    """Calls that may still be made."""

    def take(self) -> None: ...


def ask_spark(client: RmClient, app: str, slots: int | None, budget: Budget) -> SparkTold | None:
    """What its driver tells now; None: no executor has registered yet. YarnError: it does not tell.

    `slots`: if known from before, since they do not change. `budget`: one call has been taken from it.
    """
    root = f"/proxy/{quote(app)}/api/v1/applications/{quote(app)}"

    if slots is None:
        with Reading(f"{client.address}{root}/executors"):
            slots = read_slots(client.get_list(f"{root}/executors"))
        if slots is None:
            return None
        budget.take()
    with Reading(f"{client.address}{root}/stages"):
        rows = _latest_attempts(client.get_list(f"{root}/stages", withSummaries="true", quantiles=QUANTILES))
        running = [row for row in rows if row["status"] == _RUNNING][:MOST_STAGES]
        began: dict[int, tuple[int, ...]] = {}
        for row in running:
            page = f"{root}/stages/{whole(row['stageId'])}/{whole(row['attemptId'])}/taskList"
            budget.take()
            tasks = client.get_list(page, status="running", length=str(MOST_RUNNING))
            began[whole(row["stageId"])] = read_running(tasks)
        return SparkTold(slots, tuple(_stage(row, began.get(whole(row["stageId"]), ())) for row in rows))


def read_slots(rows: Sequence[Any]) -> int | None:
    """Of the first executor; the driver, which is listed too, runs no tasks."""
    slots = [_count(row["maxTasks"]) for row in rows if text(row["id"]) != _DRIVER]
    return max(1, slots[0]) if slots else None


def read_running(rows: Sequence[Any]) -> tuple[int, ...]:
    """When tasks began that run now."""
    return tuple(_instant_ms(row["launchTime"]) for row in rows if row["status"] == "RUNNING")


def _latest_attempts(rows: Sequence[Any]) -> list[Any]:
    """Of each stage, unless it was skipped: what it would have made was there already."""
    latest: dict[int, Any] = {}
    for row in rows:
        stage = whole(row["stageId"])
        if stage not in latest or whole(row["attemptId"]) > whole(latest[stage]["attemptId"]):
            latest[stage] = row
    return [latest[stage] for stage in sorted(latest) if latest[stage]["status"] != _SKIPPED]


def _stage(row: Any, running_at_ms: tuple[int, ...]) -> SparkStage:
    status = text(row["status"])
    if status not in (*_OVER, _RUNNING, _WAITING):
        raise ValueError(f"{status!r:.80} is no state of a stage")
    finished = _count(row["numCompleteTasks"])
    return SparkStage(
        whole(row["stageId"]), text(row["name"]), _count(row["numTasks"]), finished, _took_ms(row, finished),
        running_at_ms[: max(0, _count(row["numTasks"]) - finished)], status in _OVER,
    )  # fmt: skip


def _took_ms(row: Any, finished: int) -> tuple[int, ...]:
    if not finished:
        return ()
    spread = row.get("taskMetricsDistributions") or {}
    # Not `duration`, which in Spark 4.1 is what a task had taken when the driver last heard of it running.
    values = spread.get("executorRunTime")
    if values is None:  # Spark 3.0 tells no spread
        return (max(1, whole(row["executorRunTime"]) // finished),)
    if not isinstance(values, list):
        raise TypeError(f"{values!r:.80} is no list of quantiles")
    return tuple(max(1, round(number(value))) for value in values)


def _count(value: Any) -> int:
    found = whole(value, MOST_TASKS)
    if found < 0:
        raise ValueError(f"{value!r:.80} is no count")
    return found


def _instant_ms(value: Any) -> int:
    return round(1000 * datetime.strptime(text(value), _DATE).replace(tzinfo=UTC).timestamp())
