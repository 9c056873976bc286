"""One fluid machine in place of a cluster: what it can do at best, no cluster of the same size can beat."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from heddle.model.compilable import callable_too
from heddle.model.loops import Loop

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
    room = np.empty(len(order)), np.empty(len(order))
    return float(_serve_least_remaining(submit[order], work_ms[order], *room)) / len(submit)


def busy_mean(submit: Floats, path_end_ms: Floats, path_ms: Floats, work_ms: Floats, lag_ms: Floats) -> float:
    """The least mean completion of jobs that end `lag` after the middle of their work; those without work: their path.

    One machine that may interrupt serves, of the jobs that are there, the one with the least work in all.
    """
    arrival = path_end_ms - path_ms
    total = float(path_end_ms[work_ms <= 0].sum() + lag_ms[work_ms > 0].sum())
    order = np.argsort(arrival, kind="stable")
    order = order[work_ms[order] > 0]
    whole = work_ms[order].astype(np.float64)
    room = np.empty(len(order)), np.empty(len(order))
    total = float(_serve_least_in_all(total, arrival[order], whole, whole.copy(), *room))
    return (total - float(submit.sum())) / max(1, len(submit))


@callable_too
def _push(first: Floats, second: Floats, size: int, a: float, b: float) -> None:
    """Puts (a, b) into a heap of so many pairs, the smallest on top."""
    i = size
    while i > 0:
        above = (i - 1) >> 1
        if first[above] < a or (first[above] == a and second[above] <= b):
            break
        first[i], second[i] = first[above], second[above]
        i = above
    first[i], second[i] = a, b


@callable_too
def _drop_top(first: Floats, second: Floats, size: int) -> None:
    """Takes the smallest out of a heap of so many pairs."""
    a, b = first[size - 1], second[size - 1]
    i = 0
    while 2 * i + 1 < size - 1:
        child = 2 * i + 1
        other = child + 1
        if other < size - 1 and (
            first[other] < first[child] or (first[other] == first[child] and second[other] < second[child])
        ):
            child = other
        if a < first[child] or (a == first[child] and b <= second[child]):
            break
        first[i], second[i] = first[child], second[child]
        i = child
    first[i], second[i] = a, b


@Loop
def _serve_least_remaining(arrival: Floats, work: Floats, remaining: Floats, since: Floats) -> float:
    """The sum of completions. The last two are room for those that wait: (remaining work, arrival)."""
    now, total, following, waiting = 0.0, 0.0, 0, 0
    while waiting > 0 or following < len(arrival):
        if waiting == 0:
            now = max(now, arrival[following])
        while following < len(arrival) and arrival[following] <= now:
            _push(remaining, since, waiting, work[following], arrival[following])
            waiting += 1
            following += 1
        until = arrival[following] if following < len(arrival) else np.inf
        if now + remaining[0] <= until:
            now += remaining[0]
            total += now - since[0]
            _drop_top(remaining, since, waiting)
            waiting -= 1
        else:
            remaining[0] -= until - now  # less than before, so it stays on top
            now = until
    return total


@Loop
def _serve_least_in_all(
    total: float, arrival: Floats, whole: Floats, left: Floats, in_all: Floats, number: Floats
) -> float:
    """`total` and the middles of all work. The last two are room for those that wait: (work in all, number)."""
    now, following, waiting = 0.0, 0, 0
    while waiting > 0 or following < len(arrival):
        if waiting == 0:
            now = max(now, arrival[following])
        while following < len(arrival) and arrival[following] <= now:
            _push(in_all, number, waiting, whole[following], float(following))
            waiting += 1
            following += 1
        job = int(number[0])
        done = now + left[job]
        until = min(done, arrival[following]) if following < len(arrival) else done
        total += (until - now) * (until + now) / 2 / whole[job]
        if until >= done:
            _drop_top(in_all, number, waiting)
            waiting -= 1
        left[job] -= until - now
        now = until
    return total


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
