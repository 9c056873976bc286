"""What happens once in an interval; or at every node, each at its own phase: heartbeats and usage reports."""

from __future__ import annotations

from heddle.model.compiled import compiled


@compiled
def next_multiple(now, interval):
    """The first multiple of the interval after now."""
    return now - now % interval + interval


@compiled
def first_after(order, phase_ms, at):
    """The position of the first node in `order` whose phase is greater than `at`."""
    low, high = 0, order.shape[0]
    while low < high:
        middle = (low + high) >> 1
        if phase_ms[order[middle]] > at:
            high = middle
        else:
            low = middle + 1
    return low


@compiled
def next_in_cycle(order, phase_ms, interval, now):
    """The first instant after now at which some node's turn in the cycle comes."""
    i = first_after(order, phase_ms, now % interval)
    start = now - now % interval
    if i == order.shape[0]:
        return start + interval + phase_ms[order[0]]
    return start + phase_ms[order[i]]
