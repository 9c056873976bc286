"""The score of deadlock forecasts: what counts as told in time, and what as a false alarm."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.deadlock_forecasts import Told, alarms, tell
from benchmarks.deadlock_scenes import scene

from heddle.twin.cutting import Cutting
from heddle.twin.forecast import forecast
from heddle.twin.rollouts import Candidate


def told(family: str, alarmed: str, certain_s: int = 95, stuck_s: int = 150) -> Told:
    """`alarmed`: cycles from 30 s on, x: it alarmed."""
    cycles = tuple((30_000 * place, sign == "x") for place, sign in enumerate(alarmed, 1))
    return Told(family, 0, family, "fair", 60_000, 1000 * certain_s, 1000 * stuck_s, cycles)  # type: ignore[arg-type]


def test_a_ramp_is_told_in_time_if_alarms_last_from_a_minute_before_the_deadlock_on() -> None:
    assert [told("ramp", signs).in_time for signs in ("..xxx", "...xx", "..x.x", ".....")] == [
        True,
        False,
        False,
        False,
    ]
    assert told("ramp", "..xxx").alarmed_ms == 90_000


def test_a_sudden_storm_is_told_in_time_within_two_cycles_after_it_is_certain() -> None:
    late = {signs: told("sudden", signs, stuck_s=100).in_time for signs in ("...xx", "....x", ".....", "..x..")}
    assert late == {"...xx": True, "....x": True, ".....": False, "..x..": True}
    assert not told("sudden", ".....x", stuck_s=100).in_time


def test_alarms_before_a_storm_and_in_quiet_runs_are_false() -> None:
    assert told("ramp", "x.xxx").false_alarms == 1
    assert replace(told("quiet", "..x.x"), certain_ms=None, stuck_ms=None).false_alarms == 2


def test_a_run_is_told_of_as_a_forecast_tells() -> None:
    row = tell("sudden", 1, seed=1)
    assert row.certain_ms is not None
    assert row.stuck_ms is not None
    assert row.began_ms <= row.certain_ms <= row.stuck_ms + 10_000
    drawn = scene("sudden", 1, seed=1)
    snapshot = Cutting(drawn.ended, drawn.workload, drawn.cluster).at(row.cycles[-1][0])
    candidate = Candidate.of(drawn.policy, "native")
    found = forecast(snapshot, [candidate], 1_800_000, "here").deadlocks
    assert alarms(snapshot, candidate) == found[drawn.policy].alarms == row.cycles[-1][1] is True
