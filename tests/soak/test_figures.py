"""The arithmetic of a soak, on figures that can be checked by hand."""

import math
from random import Random
from typing import Any

import pytest

from soak.figures import (
    AFTER_FAULT_S,
    beside_jobs,
    common_slope,
    is_lost_to_us,
    lives_of,
    node_minutes,
    percentile,
    steps_of,
    times_begun_anew,
)


def look(at_s: float, **more: Any) -> dict[str, Any]:
    return {"at_s": at_s, "nodes": None, "controller": None, "step": None, "record": None, "desk_bytes": 0, **more}


def nodes(*used_mb: int) -> dict[str, dict[str, int]]:
    return {f"node-{number}": {"used_mb": used} for number, used in enumerate(used_mb)}


def test_a_straight_line_has_its_slope_and_no_doubt() -> None:
    slope = common_slope([[(float(s), 100 + 2 * s / 3600) for s in range(3600)]])
    assert slope is not None
    assert slope.ci95 is not None
    assert slope.per_h == pytest.approx(2)
    assert list(slope.ci95) == pytest.approx([2, 2])
    assert slope.blocks == 12
    assert not slope.is_at_most(1)


def test_lives_have_a_slope_in_common_and_levels_of_their_own() -> None:
    """A later controller that begins larger is not growth."""
    lives = [[(float(s), level + s / 3600) for s in range(0, 1800, 10)] for level in (100, 500, 200)]
    slope = common_slope(lives)
    assert slope is not None
    assert slope.per_h == pytest.approx(1)
    assert slope.blocks == 18


def test_what_goes_along_with_something_else_is_no_growth() -> None:
    """A value of 2 for each thing that is there, and 3 more each hour; things come, and some of them go."""
    there = [min(s, 2400 - s / 2) / 100 for s in range(3600)]
    life = [(float(s), 100 + 2 * there[s] + 3 * s / 3600, there[s]) for s in range(3600)]
    alone, beside = common_slope([sample[:2] for sample in life] for life in [life]), common_slope([life])
    assert alone is not None
    assert beside is not None
    assert beside.per_h == pytest.approx(3)
    assert alone.per_h > 4


def test_how_many_jobs_were_there() -> None:
    jobs = [{"planned_at_s": begin, "ended_at_s": end} for begin, end in ((0.0, 10.0), (5.0, 20.0), (5.0, 6.0))]
    life = [(at_s, 1.0) for at_s in (0.0, 5.5, 10.0, 25.0)]
    assert beside_jobs(life, jobs) == [(0.0, 1.0, 1), (5.5, 1.0, 3), (10.0, 1.0, 1), (25.0, 1.0, 0)]


def test_the_interval_is_that_of_least_squares_through_means_of_blocks() -> None:
    """Against the textbook: the line is 0.5 + 1.5 x, and t of one degree of freedom at 95 % is 12.706."""
    life = [(0.0, 0.0), (1.0, 3.0), (2.0, 3.0)]
    slope = common_slope([life], block_s=1)
    assert slope is not None
    assert slope.ci95 is not None
    assert slope.per_h == pytest.approx(3600 * 1.5)
    squares = (0 - 0.5) ** 2 + (3 - 2) ** 2 + (3 - 3.5) ** 2
    half = 12.7062 * math.sqrt(squares / 1 / 2)
    assert slope.ci95[0] == pytest.approx(3600 * (1.5 - half), rel=1e-4)
    assert slope.is_at_most(0)


def test_samples_of_one_block_count_once() -> None:
    """Sampling ten times as often must not make the interval narrower."""
    random = Random(7)
    levels = [random.gauss(0, 1) for _ in range(10)]
    widths = []
    for each in (10, 100):
        life = [(300.0 * block + 300 * n / each, levels[block]) for block in range(10) for n in range(each)]
        slope = common_slope([life])
        assert slope is not None
        assert slope.ci95 is not None
        widths.append(slope.ci95[1] - slope.ci95[0])
    assert widths[1] == pytest.approx(widths[0], rel=0.01)


def test_the_interval_holds_the_true_slope_as_often_as_it_says() -> None:
    random = Random(1)
    held = 0
    for _ in range(400):
        lives = [[(300.0 * n, 2 * n / 12 + random.gauss(0, 1)) for n in range(8)] for _ in range(3)]
        slope = common_slope(lives)
        assert slope is not None
        assert slope.ci95 is not None
        held += slope.ci95[0] <= 2 <= slope.ci95[1]
    assert 0.92 <= held / 400 <= 0.98


def test_without_two_blocks_there_is_no_slope_and_with_two_no_interval() -> None:
    assert common_slope([]) is None
    assert common_slope([[(0.0, 1.0), (299.0, 2.0)]]) is None
    slope = common_slope([[(0.0, 1.0), (300.0, 2.0)]])
    assert slope is not None
    assert slope.per_h == pytest.approx(12)
    assert slope.ci95 is None
    assert not slope.is_at_most(1)


def test_a_life_counts_from_its_own_warm_up() -> None:
    at = [(0, 1), (100, 1), (200, 2), (250, None), (300, 2), (400, 2)]
    looks = [look(s, controller=pid and {"pid": pid, "rss_mb": s}) for s, pid in at]
    assert lives_of(looks, "rss_mb", 100) == [[(100, 100)], [(300, 300), (400, 400)]]
    assert lives_of(looks, "rss_mb", 150) == [[(400, 400)]]


def test_node_minutes_are_those_that_were_seen() -> None:
    looks = [
        look(0, nodes=nodes(100, 4097)),  # 1 s of two nodes, of one above
        look(1, nodes=nodes(4096, 0)),  # 2 s of two
        look(3),  # nobody answered for a second
        look(4, nodes=nodes(5000)),  # 60 s until the next: not seen
        look(64, nodes=nodes(5000, 5000, 5000)),  # nothing follows
    ]
    assert list(node_minutes(looks, 4096)) == pytest.approx([6 / 60, 1 / 60])
    assert node_minutes([], 4096) == (0, 0)


def test_percentiles_are_values_that_occurred() -> None:
    assert percentile(range(1, 201), 99) == 198
    assert percentile([3.0, 1.0, 2.0], 50) == 2
    assert percentile([3.0, 1.0, 2.0], 99) == 3
    assert percentile([math.inf, 1.0], 99) == math.inf
    assert percentile([], 50) is None


def test_a_step_that_two_looks_saw_counts_once() -> None:
    steps = [{"session": session, "steps": n, "act_ms": 1} for session, n in (("a", 1), ("a", 1), ("a", 2), ("b", 1))]
    assert len(steps_of([look(0), *(look(1, step=step) for step in steps)])) == 3


def test_a_record_that_is_another_file_was_begun_anew() -> None:
    looks = [look(0), *(look(1, record={"inode": inode}) for inode in (5, 5, 6, 5)), look(2)]
    assert times_begun_anew(looks) == 2


@pytest.mark.parametrize(
    ("outcome", "kills", "from_s", "until_s", "ours"),
    [
        ("SUCCEEDED", False, 0, 0, False),
        ("FAILED", True, 150, 160, False),
        ("FAILED", False, 150, 160, True),
        ("FAILED", True, 201, 210, True),
        ("FAILED", True, 10, 99 - AFTER_FAULT_S, True),
        ("FAILED", True, 10, 100 - AFTER_FAULT_S, False),
        ("KILLED", True, 201, 210, True),
        ("GAVE_UP", True, 150, 160, True),
    ],
)
def test_who_a_job_was_lost_to(outcome: str, kills: bool, from_s: float, until_s: float, ours: bool) -> None:
    job = {"outcome": outcome, "planned_at_s": 100, "ended_at_s": 200}
    fault = {"kills_containers": kills, "from_s": from_s, "until_s": until_s}
    assert is_lost_to_us(job, [fault]) == ours
