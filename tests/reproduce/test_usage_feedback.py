"""Paper 1: the stand-in for the authors' day meets what they published; the algebra; where curves bend."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from heddle.reproduce.constants import read_constants
from heddle.reproduce.lab import Lab
from heddle.reproduce.usage_feedback.damping import begins_there, first_failing, stops_falling
from heddle.reproduce.usage_feedback.day import ALL_AT_ONCE, Day, published_facts
from heddle.reproduce.usage_feedback.settings import Settings
from heddle.reproduce.usage_feedback.surface import Alike, expected_gain, expected_gain_forgetting
from heddle.reproduce.verdicts import Verdict


@pytest.fixture(scope="module")
def settings() -> Settings:
    return Settings(Lab(lambda *_: iter(()), Path()), read_constants("usage-feedback"))


def day(settings: Settings, **changed: object) -> Day:
    given: dict[str, object] = {"size": "medium", "load": ALL_AT_ONCE, "median_s": 35.0, "profile": "ramp"}
    return settings.day(**{**given, **changed})  # type: ignore[arg-type]


@pytest.mark.parametrize("profile", ["ramp", "plateau", "late", "spike"])
@pytest.mark.parametrize("size", ["small", "medium", "large"])
def test_every_stand_in_meets_the_published_facts(settings: Settings, size: str, profile: str) -> None:
    found = [published_facts(day(settings, size=size, profile=profile).columns(seed)) for seed in range(4)]
    mean = {fact: np.mean([one[fact] for one in found]) for fact in found[0]}
    assert mean["containers"] == pytest.approx(18_000, rel=0.03)
    assert mean["containers_per_job"] == pytest.approx(13.75, rel=0.03)
    assert mean["containers_p90"] == pytest.approx(0.50, abs=0.06)
    assert mean["jobs_p90"] == pytest.approx(0.24, abs=0.03)
    assert mean["users_below_35"] == pytest.approx(0.90)
    assert mean["am_most"] <= 0.35
    assert mean["cpu_below_1"] == pytest.approx(0.60, abs=0.01)
    assert 1.8 < mean["cpu_most"] <= 2.0
    assert mean["used_of_reserved"] == pytest.approx(0.50, abs=0.04)
    assert mean["from_10_to_100_s"] > 0.5
    assert mean["shortest_s"] >= 5
    assert mean["longest_s"] == pytest.approx(1000, rel=0.02)


def test_users_reserve_at_least_the_peak_and_a_fit_just_that(settings: Settings) -> None:
    users, fit = day(settings), day(settings, reservation="extreme-fit")
    columns = users.columns(1)
    assert (columns["peak_mb"] <= columns["reserved_mb"]).all()
    workload = fit.jobs(1)
    reserved = workload.shapes[workload.stages["shape"], 0]
    peak = workload.segments["use"][1::2, 0]  # two levels to a task, the second is the peak
    assert (reserved >= peak).all()
    assert (reserved - peak < settings.known["v_b.fit_step_mb"]).all()


def test_properties_have_streams_of_their_own(settings: Settings) -> None:
    one, other = day(settings).columns(3), day(settings, size="large", profile="plateau").columns(3)
    assert (one["duration_ms"] == other["duration_ms"]).all()
    assert (one["vcores_milli"] == other["vcores_milli"]).all()
    assert (one["reserved_mb"] != other["reserved_mb"]).any()
    assert one["duration_ms"][:50].tolist() != day(settings).columns(4)["duration_ms"][:50].tolist()


def test_load_is_what_arrives_over_what_is_allowed(settings: Settings) -> None:
    known = settings.known
    workload = day(settings, load=2.0).jobs(0)
    work = (workload.shapes[workload.stages["shape"], 0] * workload.tasks["duration_ms"]).sum()
    allowed = known["cluster_a.nodes"] * known["cluster_a.allowance_mb"]
    assert work / workload.jobs["submit_at_ms"].max() / allowed == pytest.approx(2.0, rel=0.02)


@pytest.mark.parametrize(
    ("over", "reports", "percent"), [(2, 10, -9), (2, 30, 24), (2, 60, 37), (3, 10, 8), (3, 30, 41), (3, 60, 53)]
)
def test_algebra_gives_the_numbers_of_the_papers_page(over: float, reports: int, percent: int) -> None:
    assert 100 * expected_gain(over, reports, 0.125) == pytest.approx(percent, abs=0.6)


@pytest.mark.parametrize(("reports", "percent"), [(10, 21), (30, 37), (60, 43)])
def test_forgetting_gives_the_numbers_of_the_papers_page(reports: int, percent: int) -> None:
    assert 100 * expected_gain_forgetting(2, reports, 0.125) == pytest.approx(percent, abs=0.6)


def test_equal_tasks_are_equal_but_for_their_durations() -> None:
    alike = Alike(30, 2.0, 0.8, 100, 10, 1024, 100, 0.1)
    workload = alike.jobs(0)
    assert (workload.segments["use"] == (512, 100)).all()
    assert abs(workload.tasks["duration_ms"] - 30_000).max() <= 3000
    assert (np.diff(workload.jobs["submit_at_ms"]) >= 0).all()
    assert workload.jobs["submit_at_ms"].max() > 0


def test_failures_begin_on_each_seed_where_some_task_fails_from_there_on() -> None:
    none, one, all_ = {0: 0.0, 1: 0.0}, {0: 0.0, 1: 0.1}, {0: 0.4, 1: 0.5}
    assert first_failing({0.0: none, 0.1: one, 0.2: all_, 0.3: all_}) == {0: 0.2, 1: 0.1}
    assert first_failing({0.0: none, 0.1: all_, 0.2: one, 0.3: all_}) == {0: 0.3, 1: 0.1}
    assert first_failing({0.0: none, 0.1: one}) == {1: 0.1}


def test_failures_that_begin_elsewhere_are_not_the_papers() -> None:
    fails, none = {0: 0.4, 1: 0.5}, {0: 0.0, 1: 0.0}
    grid = [0.0, 0.05, 0.1, 0.175, 0.3]

    def from_(first: float) -> dict[float, dict[int, float]]:
        return {damping: fails if damping >= first else none for damping in grid}

    assert begins_there(from_(0.1), 0.1).verdict is Verdict.REPRODUCED
    assert begins_there(from_(0.05), 0.175).verdict is Verdict.NOT_REPRODUCED
    assert begins_there(from_(0.3), 0.1).verdict is Verdict.NOT_REPRODUCED
    assert begins_there(from_(0.4), 0.1).verdict is Verdict.NOT_REPRODUCED  # never
    assert begins_there(from_(0.05), 0.1).verdict is Verdict.NOT_REPRODUCED  # within half and twice, or far below
    # Where the smallest damping that was tried is the paper's own, nothing else could have come out.
    assert begins_there({0.0: none, 0.1: fails, 0.175: fails}, 0.1).verdict is Verdict.NOT_JUDGED


def test_falling_stops_on_each_seed_where_nothing_later_is_three_percent_shorter() -> None:
    points = {0.0: {0: 150.0, 1: 100.0}, 0.1: {0: 102.0, 1: 101.0}, 0.3: {0: 110.0, 1: 99.0}, 1.0: {0: 100.0, 1: 94.0}}
    assert stops_falling(points) == {0: 0.1, 1: 1.0}
