"""Forecasts of a recorded run: what they may know, what they say, and what they refuse."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from heddle.model.cluster import Cluster
from heddle.model.errors import BadInput
from heddle.model.workload import Workload
from heddle.record.run import Run
from heddle.run import simulate
from heddle.traces.catalogue import make_workload, suggested_cluster
from heddle.twin.backtest import backtest, instants
from heddle.twin.cutting import Cutting
from heddle.twin.forecast import NOT_COUNTED, NOTHING_FINISHED, Forecast, forecast
from heddle.twin.known import Application, Running, Snapshot, Stage
from heddle.twin.rollouts import Candidate
from heddle.twin.scoring import scores

MIX = "mix(jobs=24)"
AT_MS = 200_000
HORIZON_MS = 1_800_000


@pytest.fixture(scope="module")
def mix() -> tuple[Run, Workload, Cluster]:
    workload, cluster = make_workload(MIX), suggested_cluster(MIX)
    return simulate(workload, cluster, "capacity", record=True), workload, cluster


def told(snapshot: Snapshot, n_draws: int = 4) -> Forecast:
    return forecast(snapshot, [Candidate.of("capacity", "native")], HORIZON_MS, "here", n_draws)


def etas(found: Forecast) -> list[tuple[str, object]]:
    return [(one.app.id, one.etas) for one in found.applications]


def test_changing_the_truth_of_what_has_not_finished_changes_no_forecast(mix: tuple[Run, Workload, Cluster]) -> None:
    """Whatever lies after the instant, in the record and in the workload, is made up: the forecast is the same."""
    run, workload, cluster = mix
    random = np.random.default_rng(3)
    ended = pl.col("ended_at_ms")
    other_end = AT_MS + 1 + pl.Series(random.integers(1, 10**6, run.attempts.height))
    attempts = run.attempts.with_columns(
        pl.when(ended > AT_MS).then(other_end).otherwise(ended).alias("ended_at_ms")
    ).filter(pl.col("allocated_at_ms") <= AT_MS)
    assert run.events is not None
    jobs = run.jobs.with_columns(
        pl.when(ended > AT_MS).then(ended + 77_777).otherwise(ended).alias("ended_at_ms"), alone_ms=pl.lit(1, pl.Int64)
    )
    tasks = workload.tasks.copy()
    tasks["duration_ms"] = random.integers(1, 10**6, len(tasks))
    later = replace(run, attempts=attempts, jobs=jobs, events=run.events.filter(pl.col("at_ms") <= AT_MS))
    real = told(Cutting(run, workload, cluster).at(AT_MS))
    assert etas(told(Cutting(later, replace(workload, tasks=tasks), cluster).at(AT_MS))) == etas(real)
    assert sum(bool(one.etas) for one in real.applications) >= 5


def test_a_cut_has_what_ran_and_waited_then(mix: tuple[Run, Workload, Cluster]) -> None:
    run, workload, cluster = mix
    snapshot = Cutting(run, workload, cluster).at(AT_MS)
    attempts = run.attempts.filter(pl.col("kind") != 3)
    running = attempts.filter((pl.col("allocated_at_ms") <= AT_MS) & (pl.col("ended_at_ms") > AT_MS)).height
    held = sum(len(stage.running) for app in snapshot.live for stage in app.stages if stage.kind != 3)
    assert held + sum(app.master_runs is not None for app in snapshot.live) == running > 20
    here = run.jobs.filter((pl.col("submit_at_ms") <= AT_MS) & (pl.col("ended_at_ms") > AT_MS))
    assert sorted(app.id for app in snapshot.live) == sorted(map(str, here["job"]))


def test_an_application_that_waits_to_start_is_judged_by_its_name_alone(mix: tuple[Run, Workload, Cluster]) -> None:
    snapshot = Cutting(*mix).at(AT_MS)
    waiting = Application(
        "w", "map-reduce-99", "root.dev", snapshot.ended[0].user, -1000, master=(1024, 1000), counted=False
    )
    kin = next(app for app in snapshot.ended if app.name.startswith("map-reduce"))
    known, strange = replace(waiting, user=kin.user), replace(waiting, id="s", name="never seen")
    found = told(replace(snapshot, applications=(*snapshot.applications, known, strange)))
    by_id = {one.app.id: one for one in found.applications}
    assert by_id["w"].etas
    assert by_id["w"].basis == "name"
    assert (by_id["s"].etas, by_id["s"].why_not) == ({}, NOT_COUNTED)


def test_without_a_finished_task_nothing_is_pretended(mix: tuple[Run, Workload, Cluster]) -> None:
    cluster = mix[2]
    stage = Stage("map", 0, (1024, 1000), running=(Running(cluster.nodes[0].name, 500),), left=3)
    app = Application("a", "etl", "root.dev", "ann", -1000, stages=(stage,))
    found = told(Snapshot(cluster, "capacity", 1000, (app,)))
    assert [(one.etas, one.why_not) for one in found.applications] == [({}, NOTHING_FINISHED)]


def test_a_snapshot_that_contradicts_itself_is_refused_with_everything_that_is_wrong(
    mix: tuple[Run, Workload, Cluster],
) -> None:
    cluster = mix[2]
    stage = Stage("map", 0, (1024, 1000), running=(Running("nowhere", 500),))
    app = Application("a", "etl", "root.gone", "ann", 5, master=(1, 1), stages=(stage,))
    with pytest.raises(BadInput) as caught:
        told(Snapshot(cluster, "capacity", 1000, (app,)))
    said = [problem.what for problem in caught.value.problems]
    for word in ("after the instant", "root.gone", "its AM does not run", "nowhere"):
        assert any(word in one for one in said), word


def test_an_empty_cluster_has_nothing_to_forecast(mix: tuple[Run, Workload, Cluster]) -> None:
    with pytest.raises(BadInput, match="nothing to forecast"):
        told(Snapshot(mix[2], "capacity", 1000, ()))


def test_forecasts_of_the_mix_are_better_than_naive_ones(mix: tuple[Run, Workload, Cluster]) -> None:
    cutting = Cutting(*mix)
    made = backtest(cutting, "mix", instants(cutting, 6), HORIZON_MS, 10)
    together = scores(made.cases)[0]
    assert together.cases >= 25
    assert together.error_s < 0.7 * together.naive_error_s
    assert together.pinball_s < together.naive_pinball_s
    assert together.coverage > 0.6
