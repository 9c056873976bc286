"""Who will come: at a pace that has risen for a while, but not for ever; a burst sets none."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from heddle.twin.arrivals import Arrivals
from heddle.twin.known import Application

WATCHED_MS, HORIZON_MS = 1_200_000, 1_800_000
EVENLY = range(-1_190_000, 0, 60_000)  # one a minute


def came(*times: Iterable[int]) -> Arrivals:
    at_ms = [at_ms for some in times for at_ms in some]
    apps = [Application(str(number), f"etl-{number}", "root.a", "ann", ms) for number, ms in enumerate(at_ms)]
    return Arrivals(apps, WATCHED_MS, HORIZON_MS)


def test_where_the_pace_has_not_changed_there_is_none_of_its_own() -> None:
    assert came(EVENLY).pace is None
    assert came().pace is None


def test_a_pace_that_has_risen_is_found_with_its_age_and_goes_on_for_as_long_in_half_of_the_futures() -> None:
    arrivals = came(EVENLY, range(-120_000, 0, 4000))
    assert arrivals.pace is not None
    assert arrivals.pace.age_ms == pytest.approx(120_000, abs=15_000)
    assert 1000 * arrivals.pace.per_ms == pytest.approx(0.25, rel=0.2)
    futures = [arrivals.draw(np.random.default_rng(seed)) for seed in range(200)]
    soon = [sum(one.at_ms <= 30_000 for one in future) for future in futures]
    assert np.mean([count >= 3 for count in soon]) > 0.7  # P(it lasts for another 30 s) = 120 / 150
    later = [sum(90_000 < one.at_ms <= 120_000 for one in future) for future in futures]
    assert 0.35 < np.mean([count >= 3 for count in later]) < 0.75
    assert all(one.at_ms > 0 for future in futures for one in future)


@pytest.mark.parametrize("ago_ms", [1000, 30_000, 90_000, 240_000])
def test_a_burst_sets_no_pace(ago_ms: int) -> None:
    pace = came(EVENLY, range(-ago_ms - 8000, -ago_ms, 200)).pace  # 40 in 8 s
    assert pace is None or 1000 * pace.per_ms < 0.1


def test_what_happened_once_in_a_short_watch_is_not_expected_all_the_time() -> None:
    """A burst in the one block that was watched comes in one of six blocks on average, and the usual in the others."""
    at_ms = [*range(-350_000, 1, 50_000), *range(-200_000, -196_000, 100)]
    apps = [Application(str(number), f"etl-{number}", "root.a", "ann", ms) for number, ms in enumerate(at_ms)]
    arrivals = Arrivals(apps, 360_000, HORIZON_MS)
    counts = [len(arrivals.draw(np.random.default_rng(seed))) for seed in range(300)]
    assert 60 < np.mean(counts) < 100  # 40 of one burst on average, and 36 of the usual
    assert np.mean([count < 50 for count in counts]) > 0.2  # no burst at all: (5 / 6)^6
