"""One fluid machine in place of a cluster: what it can do at best, no cluster of the same size can beat."""

from __future__ import annotations

import heapq
from typing import Final

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
_STEPS: Final = 64  # thresholds tried for heads and for tails; each gives a true bound


def released(release: Floats, work_ms: Floats) -> float:
    """When a machine that does one ms of work per ms, and none before its release, can be done at the earliest."""
    order = np.argsort(-release, kind="stable")
    return float((release[order] + np.cumsum(work_ms[order])).max())


def fluid_mean(submit: Floats, work_ms: Floats) -> float:
    """The least mean completion on one machine that may interrupt: least remaining work first is optimal."""
    if len(submit) == 0:
        return 0.0
    order = np.argsort(submit, kind="stable")
    waiting: list[tuple[float, float]] = []  # remaining work, submission
    now, total, nxt = 0.0, 0.0, 0
    arrivals, work = submit[order].tolist(), work_ms[order].tolist()
    while waiting or nxt < len(arrivals):
        if not waiting:
            now = max(now, arrivals[nxt])
        while nxt < len(arrivals) and arrivals[nxt] <= now:
            heapq.heappush(waiting, (work[nxt], arrivals[nxt]))
            nxt += 1
        remaining, since = heapq.heappop(waiting)
        until = arrivals[nxt] if nxt < len(arrivals) else np.inf
        if now + remaining <= until:
            now += remaining
            total += now - since
        else:
            heapq.heappush(waiting, (remaining - (until - now), since))
            now = until
    return total / len(submit)


def busy_mean(submit: Floats, path_end_ms: Floats, path_ms: Floats, work_ms: Floats, lag_ms: Floats) -> float:
    """The least mean completion of jobs that end `lag` after the middle of their work; those without work: their path.

    One machine that may interrupt serves, of the jobs that are there, the one with the least work in all.
    """
    arrival = path_end_ms - path_ms
    total = float(path_end_ms[work_ms <= 0].sum() + lag_ms[work_ms > 0].sum())
    order = [int(job) for job in np.argsort(arrival, kind="stable") if work_ms[job] > 0]
    arrivals, left = arrival[order].tolist(), work_ms[order].tolist()
    whole = list(left)
    waiting: list[tuple[float, int]] = []  # work in all, job
    now, nxt = 0.0, 0
    while waiting or nxt < len(order):
        if not waiting:
            now = max(now, arrivals[nxt])
        while nxt < len(order) and arrivals[nxt] <= now:
            heapq.heappush(waiting, (whole[nxt], nxt))
            nxt += 1
        job = waiting[0][1]
        until = min(now + left[job], arrivals[nxt] if nxt < len(order) else np.inf)
        total += (until - now) * (until + now) / 2 / whole[job]
        if until >= now + left[job]:
            heapq.heappop(waiting)
        left[job] -= until - now
        now = until
    return (total - float(submit.sum())) / max(1, len(submit))


def between(head_ms: Floats, tail_ms: Floats, work_ms: Floats) -> float:
    """max over t, q of t + (work whose head >= t and whose tail >= q) + q, over a grid of thresholds."""
    if not work_ms.any():
        return 0.0
    heads = np.unique(np.quantile(head_ms, np.linspace(0, 1, _STEPS), method="lower"))
    tails = np.unique(np.quantile(tail_ms, np.linspace(0, 1, _STEPS), method="lower"))
    table = np.zeros((len(heads), len(tails)))
    rows = np.searchsorted(heads, head_ms, side="right") - 1
    columns = np.searchsorted(tails, tail_ms, side="right") - 1
    np.add.at(table, (rows, columns), work_ms)
    at_least = table[::-1, ::-1].cumsum(axis=0).cumsum(axis=1)[::-1, ::-1]
    total = np.where(at_least > 0, heads[:, None] + at_least + tails[None, :], 0.0)
    return float(total.max())
