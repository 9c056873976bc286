"""Whether a knob stands where it stood."""

from __future__ import annotations

from heddle.yarn.live.applying.standing import QUEUES, same


def test_settings_that_are_numbers_are_compared_as_numbers_and_others_as_texts() -> None:
    found = {"capacity": "50", "ordering-policy": "fifo", "user-limit-factor": None}
    assert same(QUEUES, found, {**found, "capacity": "50.0"})
    assert not same(QUEUES, found, {**found, "capacity": "51"})
    assert not same(QUEUES, found, {**found, "ordering-policy": "fair"})
    assert not same(QUEUES, found, {**found, "user-limit-factor": "1"})
