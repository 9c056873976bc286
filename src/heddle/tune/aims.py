"""What `tune` is after: one number to bring down or up, and numbers that must stay within limits.

Crashes are limited even if nobody says so: the more nodes promise, the sooner jobs complete and the more tasks run out
of memory, and a goal alone would always buy the one with the other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from heddle.analysis.comparison.compare import COMPARED, metric_value
from heddle.analysis.measures.metrics import run_metrics
from heddle.model.errors import BadInput, Problem
from heddle.model.suggestion import did_you_mean
from heddle.record.run import Run

_OF_A_QUEUE: Final = ("jct_s.mean", "jct_s.p50", "jct_s.p95", "jct_s.p99", "wait_s.mean", "wait_s.p95")
_WHOLE: Final = {one.name: one for one in COMPARED if one.better}
CRASHED_PCT: Final = "crashed_pct"  # crashes in percent of all tasks
_KEEP: Final = re.compile(
    r"^(?:(?P<queue>\S+)\s+)?(?P<metric>\S+)\s*(?P<sign><=|>=)\s*(?P<limit>[+-]?[0-9.]+)\s*(?P<pct>%)?$"
)


@dataclass(frozen=True)
class Measure:
    """A number of a run: of all jobs, or of those of one queue and the queues below it."""

    metric: str
    queue: str = ""

    def __str__(self) -> str:
        return f"{self.queue} {self.metric}".strip()

    @property
    def higher_is_better(self) -> bool:
        return self.metric in _WHOLE and _WHOLE[self.metric].better == "higher"

    def of(self, run: Run) -> float | None:
        """None where it is not known: a run that stalled, a queue without finished jobs."""
        if not self.queue:
            metrics = run_metrics(run)
            if self.metric == CRASHED_PCT:
                return 100.0 * float(metrics["crashed_tasks"]) / max(1.0, float(metrics["tasks"]))
            return metric_value(metrics, self.metric)
        inside = (pl.col("queue") == self.queue) | pl.col("queue").str.starts_with(f"{self.queue}.")
        kind, _, statistic = self.metric.partition(".")
        until = "ended_at_ms" if kind == "jct_s" else "started_at_ms"
        jobs = run.jobs.filter(inside & (pl.col("outcome") == "finished"))
        spans = jobs.select(pl.col(until) - pl.col("submit_at_ms")).to_series().drop_nulls().to_numpy()
        if len(spans) == 0:
            return None
        value = spans.mean() if statistic == "mean" else np.percentile(spans, float(statistic[1:]))
        return float(value) / 1000


@dataclass(frozen=True)
class Keep:
    """A limit on a number: relative to the present policy on the same jobs, or absolute."""

    measure: Measure
    limit: float  # percent of change where relative
    relative: bool
    at_least: bool

    def __str__(self) -> str:
        limit = f"{self.limit:+g}%" if self.relative else f"{self.limit:g}"
        return f"{self.measure} {'>=' if self.at_least else '<='} {limit}"


FEW_CRASHES: Final = Keep(Measure(CRASHED_PCT), 0.1, relative=False, at_least=False)  # unless another is asked for


@dataclass(frozen=True)
class Aims:
    """The goal, and what must be kept."""

    goal: Measure
    keeps: tuple[Keep, ...] = ()

    @property
    def measures(self) -> tuple[Measure, ...]:
        """All that must be known of a run, the goal first."""
        return tuple(dict.fromkeys((self.goal, *(keep.measure for keep in self.keeps))))


def read_aims(goal: str, keeps: Sequence[str], queues: Sequence[str]) -> Aims:
    """From the command line; `queues` are those of the cluster. BadInput with everything that is wrong."""
    problems: list[Problem] = []
    found = _metric(goal, "", "--goal", problems)
    kept = [one for text in keeps if (one := _keep(text, queues, problems)) is not None]
    if not any(one.measure.metric in ("crashed_tasks", CRASHED_PCT) for one in kept):
        kept.append(FEW_CRASHES)
    if problems:
        raise BadInput(problems)
    return Aims(Measure(found), tuple(kept))


def _keep(text: str, queues: Sequence[str], problems: list[Problem]) -> Keep | None:
    read = _KEEP.match(text.strip())
    if read is None:
        what = f'{text}: say it as in "root.prod jct.p95 <= +5%" or "crashed_pct <= 1"'
        problems.append(Problem("--keep", what))
        return None
    queue = read["queue"] or ""
    if queue and queue not in queues:
        hint = did_you_mean(queue, queues) or f"; known: {', '.join(queues)}"
        problems.append(Problem("--keep", f"{text}: the cluster has no queue {queue}{hint}"))
    before = len(problems)
    metric = _metric(read["metric"], queue, "--keep", problems)
    try:
        limit = float(read["limit"])
    except ValueError:
        problems.append(Problem("--keep", f"{text}: {read['limit']} is not a number"))
    if len(problems) > before:
        return None
    return Keep(Measure(metric, queue), limit, read["pct"] is not None, read["sign"] == ">=")


def _metric(text: str, queue: str, where: str, problems: list[Problem]) -> str:
    """The name as heddle's JSON has it; `jct.p95` and `makespan` are short for it."""
    known = _OF_A_QUEUE if queue else (*_WHOLE, *((CRASHED_PCT,) if where == "--keep" else ()))
    head, dot, rest = text.partition(".")
    for name in (text, f"{head}_s{dot}{rest}"):
        if name in known:
            return name
    whose = "of a queue" if queue else "of a run"
    hint = did_you_mean(text, known) or f"; known {whose}: {', '.join(known)}"
    problems.append(Problem(where, f"{text}: no such number {whose}{hint}"))
    return text
