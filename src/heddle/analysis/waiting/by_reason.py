"""What the jobs of a run waited for, all of them together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from heddle.analysis.waiting.explain import NOT_REACHED, Span, explain
from heddle.model.reasons import Reason
from heddle.record.run import Run

_FOR_AM: Final = "waits for its AM"
_WAITING: Final = (_FOR_AM, "waits", "partly waits")
BEHIND: Final = "behind others:"


@dataclass(frozen=True)
class Waits:
    """Time of jobs in which requests of theirs waited, by the reason that the scheduler gave."""

    jobs: int
    ms: dict[str, int]  # by reason, in words

    @property
    def shares(self) -> dict[str, float]:
        """Parts of 1, the largest first; empty where nobody waited."""
        total = sum(self.ms.values())
        return {why: ms / total for why, ms in sorted(self.ms.items(), key=lambda one: -one[1])} if total else {}

    @property
    def mean_s(self) -> float:
        """How long a job waited on average."""
        return sum(self.ms.values()) / 1000 / self.jobs if self.jobs else 0.0

    def seconds_for(self, why: str) -> float:
        """Of a job's waiting, on average."""
        return self.ms.get(why, 0) / 1000 / self.jobs if self.jobs else 0.0


def waits_by_reason(run: Run) -> Waits:
    """Over all jobs, the spans in which something of them waited (`explain`); the run must have been recorded.

    A scheduler says why it passes over the first request, and nothing of those behind. What others come first for is
    told apart by what requests of the same kind, AMs or others, were passed over for meanwhile.
    """
    waiting = [span for job in range(run.jobs.height) for span in explain(run, job).spans if span.state in _WAITING]
    total: Counter[str] = Counter()
    for for_am in (False, True):
        of_kind = [span for span in waiting if (span.state == _FOR_AM) is for_am]
        said = [span for span in of_kind if span.reason not in (Reason.NONE, Reason.BEHIND)]
        ahead = {reason: _Covered([span for span in said if span.reason is reason]) for reason in _reasons(said)}
        for span in of_kind:
            if span.reason is Reason.BEHIND:
                total.update(_behind(span, ahead))
            else:
                total[span.reason.phrase if span.reason is not Reason.NONE else NOT_REACHED] += span.length_ms
    return Waits(run.jobs.height, dict(total))


def _reasons(spans: Iterable[Span]) -> list[Reason]:
    return sorted({span.reason for span in spans})


class _Covered:
    """How long some spans lasted together, up to an instant."""

    def __init__(self, spans: list[Span]) -> None:
        begins = np.array([span.from_ms for span in spans], np.int64)
        ends = np.array([span.to_ms for span in spans], np.int64)
        self._at = np.unique(np.concatenate([begins, ends]))
        open_now = np.searchsorted(np.sort(begins), self._at, "right") - np.searchsorted(
            np.sort(ends), self._at, "right"
        )
        lasted = np.concatenate([[0], open_now[:-1] * np.diff(self._at)])
        self._until = np.cumsum(lasted)

    def within(self, span: Span) -> float:
        first, last = np.interp([span.from_ms, span.to_ms], self._at, self._until)
        return float(last - first)


def _behind(span: Span, ahead: Mapping[Reason, _Covered]) -> dict[str, int]:
    """The time of a silent wait, by what others were passed over for meanwhile."""
    weights = {reason: covered.within(span) for reason, covered in ahead.items()}
    whole = sum(weights.values())
    if not whole:
        return {Reason.BEHIND.phrase: span.length_ms}
    parts = {f"{BEHIND} {reason.phrase}": int(span.length_ms * weight / whole) for reason, weight in weights.items()}
    largest = max(parts, key=lambda why: parts[why])
    parts[largest] += span.length_ms - sum(parts.values())  # what rounding left over
    return parts


def together(several: Iterable[Waits]) -> Waits:
    """The waits of several runs."""
    jobs, total = 0, Counter[str]()
    for one in several:
        jobs += one.jobs
        total.update(one.ms)
    return Waits(jobs, dict(total))
