"""The fluid machines, compiled, against the same written plainly with heapq: equal to the bit."""

from __future__ import annotations

import heapq
import math

import numpy as np
import numpy.typing as npt
import pytest

from heddle.analysis.best_possible.relaxations import busy_mean, fluid_mean

Floats = npt.NDArray[np.float64]


def plain_fluid_mean(submit: Floats, work_ms: Floats) -> float:
    order = np.argsort(submit, kind="stable")
    arrivals, work = submit[order].tolist(), work_ms[order].tolist()
    waiting: list[tuple[float, float]] = []  # remaining work, submission
    now, total, following = 0.0, 0.0, 0
    while waiting or following < len(arrivals):
        if not waiting:
            now = max(now, arrivals[following])
        while following < len(arrivals) and arrivals[following] <= now:
            heapq.heappush(waiting, (work[following], arrivals[following]))
            following += 1
        remaining, since = heapq.heappop(waiting)
        until = arrivals[following] if following < len(arrivals) else math.inf
        if now + remaining <= until:
            now += remaining
            total += now - since
        else:
            heapq.heappush(waiting, (remaining - (until - now), since))
            now = until
    return total / len(submit)


def plain_busy_mean(submit: Floats, path_end_ms: Floats, path_ms: Floats, work_ms: Floats, lag_ms: Floats) -> float:
    arrival = path_end_ms - path_ms
    total = float(path_end_ms[work_ms <= 0].sum() + lag_ms[work_ms > 0].sum())
    order = [int(job) for job in np.argsort(arrival, kind="stable") if work_ms[job] > 0]
    arrivals, left = arrival[order].tolist(), work_ms[order].tolist()
    whole = list(left)
    waiting: list[tuple[float, int]] = []  # work in all, job
    now, following = 0.0, 0
    while waiting or following < len(order):
        if not waiting:
            now = max(now, arrivals[following])
        while following < len(order) and arrivals[following] <= now:
            heapq.heappush(waiting, (whole[following], following))
            following += 1
        job = waiting[0][1]
        until = min(now + left[job], arrivals[following] if following < len(order) else math.inf)
        total += (until - now) * (until + now) / 2 / whole[job]
        if until >= now + left[job]:
            heapq.heappop(waiting)
        left[job] -= until - now
        now = until
    return (total - float(submit.sum())) / max(1, len(submit))


@pytest.mark.parametrize("seed", range(20))
def test_compiled_equals_plain(seed: int) -> None:
    random = np.random.default_rng(seed)
    n = int(random.integers(1, 400))
    submit = random.integers(0, 40 * n, n).astype(np.float64)  # sometimes idle, sometimes many wait; some together
    work = random.choice([0.0, 7.0, 12.5, 40.0, 300.0], n) * random.choice([1.0, random.random()], n)
    path = random.integers(1, 500, n).astype(np.float64)
    lag = random.random(n) * 100
    assert fluid_mean(submit, work) == plain_fluid_mean(submit, work)
    assert busy_mean(submit, submit + path, path, work, lag) == plain_busy_mean(submit, submit + path, path, work, lag)
