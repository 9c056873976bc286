"""Advice on requests: only the past predicts, and misses cost."""

import pytest

from heddle.analysis.trace_contents.advice import Rule, advise_requests, wilson
from heddle.model.workload import Workload
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build, constant

SECOND = 1000


def runs(peaks: list[int | None], every_s: int = 100) -> Workload:
    """One job after the other, each one task of 4096 MB for 10 s with this peak; each ended before the next comes."""
    return build(
        "runs",
        [
            JobSpec(
                f"nightly-{n}",
                n * every_s * SECOND,
                [StageSpec("load", (4096, 1000), [TaskSpec(10 * SECOND, None if peak is None else constant(peak, 0))])],
            )
            for n, peak in enumerate(peaks)
        ],
    )


def test_a_steady_job_could_ask_for_its_peak_and_head_room() -> None:
    (one,), left = advise_requests(runs([1000] * 12), Rule(95, 0.1, 5))
    assert left == 0
    assert one.kind == "nightly-# / load"
    assert (one.reserved_mb, one.request_mb) == (4096, 1152)  # 1100, rounded up to 64 MB
    assert (one.predicted, one.missed) == (7, 0)
    assert one.saved == 7 * (4096 - 1152) * 10 * SECOND


def test_a_jump_is_missed_once_and_costs_the_lost_attempt() -> None:
    (one,), _ = advise_requests(runs([1000] * 10 + [3000] + [1000]), Rule(100, 0.1, 5))
    assert (one.predicted, one.missed) == (7, 1)
    after = -(-3300 // 64) * 64
    assert one.saved == (5 * (4096 - 1152) - 1152 + (4096 - after)) * 10 * SECOND
    assert one.request_mb == after


def test_tasks_that_have_not_ended_are_not_past() -> None:
    (one,), _ = advise_requests(runs([1000] * 12, every_s=0), Rule())
    assert one.predicted == 0
    assert (one.risk_low, one.risk_high) == (0.0, 1.0)


def test_rare_kinds_and_unrecorded_use_get_no_advice() -> None:
    found, left = advise_requests(runs([1000] * 4 + [None] * 3), Rule())
    assert found == []
    assert left == 7


def test_the_interval_of_a_risk() -> None:
    low, high = wilson(0, 100)
    assert low == 0.0
    assert high == pytest.approx(0.0370, abs=1e-3)
    low, high = wilson(5, 100)
    assert (low, high) == (pytest.approx(0.0215, abs=1e-3), pytest.approx(0.1118, abs=1e-3))
