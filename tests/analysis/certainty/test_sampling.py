from __future__ import annotations

import math

import pytest

from heddle.analysis.certainty.sampling import Sampling


def test_more_seeds_narrow_the_interval_more_resamples_do_not() -> None:
    few = {0: 10.0} | {seed: 10.0 + (-1) ** seed for seed in range(1, 9)}
    many = {0: 10.0} | {seed: 10.0 + (-1) ** seed for seed in range(1, 401)}

    def width(sampling: Sampling, values: dict[int, float]) -> float:
        interval = sampling.estimate(values)[1]
        assert interval is not None
        return interval[1] - interval[0]

    seeds, blocks = Sampling("seeds"), Sampling("blocks", 20, 5.0)
    assert width(seeds, many) < width(seeds, few) / 5
    # 2.101: t of 18 degrees, since 400 resamples of 20 blocks are worth as much; 20 / 19 widens it once more.
    assert width(blocks, many) == pytest.approx(2 * 2.101 * math.sqrt(20 / 19), rel=0.01)
    assert width(blocks, few) > width(blocks, many)


def test_resamples_judge_the_trace_itself() -> None:
    values = {0: 100.0, 1: 90.0, 2: 96.0, 3: 93.0}
    mean, interval = Sampling("blocks", 20, 5.0).estimate(values)
    distance = math.sqrt((10**2 + 4**2 + 7**2) / 3 * 20 / 19)
    half = 3.182446 * distance  # 3 resamples and 20 blocks: 2.6 degrees of freedom
    assert mean == 100.0
    assert interval == pytest.approx((100 - half, 100 + half))
    assert Sampling("blocks", 20).estimate({1: 1.0, 2: 2.0, 3: 4.0}) == (None, None)
    assert Sampling("blocks", 20).estimate({0: 1.0, 1: 2.0}) == (1.0, None)
    assert Sampling("chance").estimate(values)[0] == pytest.approx(94.75)
    assert math.isclose(Sampling("seeds").estimate({7: 3.0})[0] or 0.0, 3.0)


def test_what_is_said_about_the_runs() -> None:
    assert Sampling("seeds").over(5) == "over 5 seeds"
    assert "9 resamples of its 20 time blocks" in Sampling("blocks", 20, 60.0).over(10)
    assert Sampling("seeds").caution == ""
    assert "nothing about other days" in Sampling("chance").caution
    assert Sampling("chance").over(5) == "on this one trace, over 5 seeds that vary only events on the cluster"


def test_blocks_without_their_number_are_no_sampling() -> None:
    """With 0 of them every interval would have no width, and everything would be sure."""
    for blocks in (0, 1):
        with pytest.raises(ValueError, match="no interval can be told"):
            Sampling("blocks", blocks, 60.0)
