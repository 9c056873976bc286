"""Paper 3: equations beside hand-worked numbers, and bursts that can always be run one job at a time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from heddle.reproduce.admission_control.deficit import reserve
from heddle.reproduce.admission_control.optimum import best_reserve, equation_1
from heddle.reproduce.admission_control.rounds import Terasort, batch
from heddle.reproduce.admission_control.settings import Rounds
from heddle.reproduce.admission_control.storm import burst
from heddle.reproduce.constants import Constants, read_constants
from heddle.reproduce.lab import Lab, Scores
from heddle.run import simulate


@pytest.fixture(scope="module")
def known() -> Constants:
    return read_constants("admission-control")


def test_equation_1_on_the_papers_cluster() -> None:
    assert equation_1(64, 1, 1) == 32
    assert equation_1(64, 1, 3) == 48
    assert equation_1(64, 4, 1) == pytest.approx(12.8)


def test_reserve_is_scaled_once_where_ams_hold_more_than_is_left() -> None:
    assert reserve(64, ams=8, n_ams=8, tasks=24, n_tasks=24) == 32  # (2): 64 * 1/2
    assert reserve(64, ams=48, n_ams=48, tasks=16, n_tasks=16) == pytest.approx(32 * 80 / 64)  # (3): 32 + 48 > 64
    assert reserve(64, ams=10, n_ams=10, tasks=0, n_tasks=0) == 0


def test_a_round_has_equal_jobs(known: Constants) -> None:
    workload = batch(known, 3, 2, Terasort(1, 10.0, 10.0)).jobs(0)
    assert workload.n_jobs == 72
    assert sorted(workload.shapes[:, 1].tolist()) == [2000, 3000]
    assert workload.n_tasks == 144


def test_static_reserves_are_numbers_of_jobs(known: Constants) -> None:
    rounds = Rounds(Lab(lambda *_: iter(()), Path()), known, 8)
    assert rounds.static(4)[32] == "fair+max-running(jobs=8)"  # 32 of 64 vcores for AMs of 4
    assert rounds.static(4)[60] == "fair+max-running(jobs=1)"
    assert rounds.static(1)[4] == "fair+max-running(jobs=60)"


def test_the_best_static_reserve_never_stalls(known: Constants) -> None:
    rounds = Rounds(Lab(lambda *_: iter(()), Path(), quick=True), known, 8)
    name = ("short", (4, 4))
    spans = {16: 90.0, 24: 100.0, 32: 95.0, 40: 95.0, 48: 120.0}
    runs = {
        (name, policy, 0): {"outcome": "stalled" if reserve == 16 else "finished", "makespan_s": spans[int(reserve)]}
        for reserve, policy in rounds.static(4).items()
    }
    assert best_reserve(rounds, Scores(runs), name) == 40  # 16 is shortest but stalls; of equals the larger


def test_members_are_each_kind_of_job_with_each_start_of_ams(known: Constants) -> None:
    rounds = Rounds(Lab(lambda *_: iter(()), Path()), known, 8)
    assert len(rounds.members) == 9
    assert rounds.first_start == ["short, AM 3 s", "medium, AM 3 s", "two_maps, AM 3 s"]
    assert {rounds.cluster(member).timing.am_start_ms for member in rounds.members} == {3000, 6000, 10_000}
    assert len(rounds.batches) == 9 * 17


def test_spaced_jobs_come_one_after_the_other(known: Constants) -> None:
    jobs = replace(batch(known, 1, 1, Terasort(1, 10.0, 10.0)), interval_ms=5000).jobs(0)
    assert jobs.jobs["submit_at_ms"].tolist()[:3] == [0, 5000, 10_000]


@pytest.mark.parametrize("seed", range(5))
def test_bursts_can_run_one_job_at_a_time(known: Constants, seed: int) -> None:
    workload, cluster = burst(known, seed)
    assert simulate(workload, cluster, "fifo+max-running(jobs=1)", seed=seed).manifest["outcome"] == "finished"
