"""Which requests would have been enough: for each kind of task that recurs, with the risk measured on the trace itself.

The rule is a percentile of the peaks seen so far, with head room. Its risk is measured by forward chaining: every task
is predicted from tasks of its kind that had ended before it was submitted, and is a miss if its peak was higher.
"""

from __future__ import annotations

import bisect
import math
import re
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from heddle.model.profiles import profile_begins
from heddle.model.resources import MEMORY
from heddle.model.workload import NO_SEGMENTS, TASKS, Workload

_STEP_MB: Final = 64  # requests are rounded up to this
_Z: Final = 1.959964  # of a 95 % interval

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Rule:
    """Percentile of past peaks, times 1 + head room; needs some past."""

    percentile: float = 95.0
    head_room: float = 0.1
    least_past: int = 5

    def request(self, sorted_peaks: list[int]) -> int:
        """Nearest rank: the smallest peak that so many per cent of the past do not exceed."""
        rank = max(1, math.ceil(self.percentile / 100 * len(sorted_peaks)))
        wanted = math.ceil(round(sorted_peaks[rank - 1] * (1 + self.head_room), 6))
        return max(_STEP_MB, -(-wanted // _STEP_MB) * _STEP_MB)


@dataclass(frozen=True)
class Advice:
    """For one kind of task. Amounts in MB x ms, over the tasks that could be predicted."""

    kind: str
    tasks: int  # with recorded use
    reserved_mb: int  # the most that any of them reserved
    request_mb: int  # what the rule says after the whole trace
    predicted: int  # tasks that had enough past
    missed: int  # whose peak was above the prediction
    risk_low: float  # 95 % interval of the chance of a miss (Wilson)
    risk_high: float
    reserved: int
    saved: int  # by the predictions, after misses are run again with what they had reserved


def advise_requests(workload: Workload, rule: Rule) -> tuple[list[Advice], int]:
    """(advice for each kind, most saved first; tasks of kinds with too few tasks or without recorded use)."""
    stage = np.repeat(np.arange(len(workload.stages)), workload.stages["n_tasks"])
    plain = workload.stages["kind"][stage] == TASKS
    known = plain & (workload.tasks["first_segment"] != NO_SEGMENTS)
    peaks = _peaks(workload)
    kinds: dict[str, list[int]] = {}
    names = [_kind(workload, int(number)) for number in range(len(workload.stages))]
    for task in np.flatnonzero(known).tolist():
        kinds.setdefault(names[stage[task]], []).append(task)
    found = []
    left = int(plain.sum() - known.sum())
    for kind, members in kinds.items():
        if len(members) < 2 * rule.least_past:
            left += len(members)
            continue
        tasks = np.array(members)
        found.append(_advise(kind, workload, tasks, stage[tasks], peaks[workload.tasks["first_segment"][tasks]], rule))
    return sorted(found, key=lambda one: (-one.saved, one.kind)), left


def _kind(workload: Workload, stage: int) -> str:
    """Tasks recur if their jobs have the same name but for numbers, and their stages too."""
    job = re.sub(r"\d+", "#", workload.job_name(int(workload.stages["job"][stage])))
    return f"{job} / {re.sub(r'[0-9]+', '#', workload.stage_name(stage))}"


def _peaks(workload: Workload) -> Ints:
    """For the first segment of each profile, its highest memory."""
    segments = workload.segments
    peaks = np.zeros(len(segments), np.int64)
    if len(segments):
        begins = np.flatnonzero(profile_begins(segments))
        peaks[begins] = np.maximum.reduceat(segments["use"][:, MEMORY], begins)
    return peaks


def _advise(kind: str, workload: Workload, tasks: Ints, stage: Ints, peaks: Ints, rule: Rule) -> Advice:
    submit = workload.jobs["submit_at_ms"][workload.stages["job"][stage]]
    duration = workload.tasks["duration_ms"][tasks]
    reserved = workload.shapes[workload.stages["shape"][stage], MEMORY]
    by_submission = np.lexsort((tasks, submit))
    ends = submit + duration
    by_end = np.argsort(ends, kind="stable")
    past: list[int] = []
    next_end = predicted = missed = 0
    area = saved = 0
    for place in by_submission.tolist():
        while next_end < len(by_end) and ends[by_end[next_end]] <= submit[place]:
            bisect.insort(past, int(peaks[by_end[next_end]]))
            next_end += 1
        if len(past) < rule.least_past:
            continue
        request = rule.request(past)
        predicted += 1
        area += int(reserved[place]) * int(duration[place])
        if peaks[place] > request:
            missed += 1  # the whole attempt is lost, and the task runs again with what it had
            saved -= request * int(duration[place])
        else:
            saved += (int(reserved[place]) - request) * int(duration[place])
    low, high = wilson(missed, predicted)
    everything = sorted(int(peak) for peak in peaks)
    return Advice(
        kind, len(tasks), int(reserved.max()), rule.request(everything), predicted, missed, low, high, area, saved
    )


def wilson(successes: int, n: int) -> tuple[float, float]:
    """The 95 % interval of a probability; everything is possible where nothing was seen."""
    if n == 0:
        return 0.0, 1.0
    share = successes / n
    middle = share + _Z**2 / (2 * n)
    half = _Z * math.sqrt(share * (1 - share) / n + _Z**2 / (4 * n * n))
    scale = 1 + _Z**2 / n
    return max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale)


def document(found: list[Advice], left: int, rule: Rule) -> dict[str, Any]:
    """For JSON."""
    return {"rule": vars(rule), "kinds": [vars(one) for one in found], "tasks_without_advice": left}
