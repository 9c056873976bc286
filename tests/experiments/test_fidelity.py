"""A recorded run, simulated again: with records of simulated runs the right answer is known."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from cli.schemas import valid
from heddle.cli.main import run as command
from heddle.experiments.fidelity import fidelity
from heddle.experiments.replaying import Overheads, overheads_of
from heddle.model.cluster import YARN, Cluster, Timing
from heddle.model.errors import BadInput
from heddle.record.files import write_record
from heddle.record.run import Run
from heddle.record_workload import workload_of
from heddle.run import simulate
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build, constant
from heddle.traces.clusters import uniform_cluster

TIMING = replace(YARN, launch_ms=0, am_start_ms=3000)
CLUSTER = replace(uniform_cluster(2, 4096, 4), timing=TIMING)


def recorded(policy: str = "capacity", cluster: Cluster = CLUSTER, seconds: int = 10) -> Run:
    """Jobs of two stages, one after the other, as if observed."""
    jobs = [
        JobSpec(
            f"job-{number}",
            2000 * number,
            [
                StageSpec("first", (512, 500), [TaskSpec(1000 * seconds, constant(300, 100))] * (3 + number % 4)),
                StageSpec("second", (1024, 500), [TaskSpec(3000 * (1 + number % 3))] * 2, after=("first",)),
            ],
            am=(256, 0),
            am_use=(100, 0),
        )
        for number in range(12)
    ]
    run = simulate(build("two stages", jobs), cluster, policy, record=True, seed=3)
    return replace(run, manifest=run.manifest | {"policy": "stock" if policy == "capacity" else policy})


def test_the_workload_of_a_record_has_its_jobs_stages_and_order() -> None:
    workload = workload_of(recorded())
    assert workload.n_jobs == 12
    assert len(workload.stages) == 36
    first = workload.jobs["first_stage"][3]
    assert workload.stages["n_after"][first : first + 3].tolist() == [0, 0, 1]
    assert workload.stage_after[workload.stages["first_after"][first + 2]] == first + 1


def test_what_masters_used_is_taken_over() -> None:
    """Usage feedback goes by it: counted as they reserve, AMs would leave too little room."""
    workload = workload_of(recorded())
    master = workload.stages["first_task"][workload.jobs["first_stage"][3]]
    use = workload.segments["use"][workload.tasks["first_segment"][master]]
    assert use.tolist() == [pytest.approx(100, abs=2), 0]


def test_whether_vcores_count_is_the_clusters_to_say() -> None:
    scarce = replace(uniform_cluster(2, 65_536, 4), timing=TIMING)
    by_both, by_memory = (
        fidelity(recorded(cluster=scarce), overheads_of(recorded()), replace(scarce, calculator=calculator))
        for calculator in ("dominant", "memory")
    )
    assert by_memory.predicted_makespan_s < by_both.predicted_makespan_s


def test_overheads_are_read_from_a_record() -> None:
    assert overheads_of(recorded()).am_start_ms == pytest.approx(3500, abs=600)  # and the AM's next heartbeat
    assert overheads_of(recorded()).ending_ms == 0


def test_a_run_that_was_simulated_is_predicted() -> None:
    # When in a second heartbeats come is not known: a part of a second here and there.
    found = fidelity(recorded(), overheads_of(recorded(seconds=7)), CLUSTER)
    assert abs(found.makespan_error) < 0.03
    assert found.jct_error < 0.03
    assert found.spearman is not None
    assert found.spearman > 0.95
    assert found.jobs == 12


def test_a_wrong_calibration_shows() -> None:
    found = fidelity(recorded(), Overheads(am_start_ms=30_000, ending_ms=0), CLUSTER)
    assert found.jct_error > 0.3


def test_a_steered_run_is_simulated_by_knobs() -> None:
    wide = replace(CLUSTER, timing=Timing(1000, 1000, 1000, 0, 3000))
    stock = fidelity(recorded(), overheads_of(recorded()), wide)
    steered = fidelity(recorded(), overheads_of(recorded()), wide, "usage-feedback(damping=1)")
    assert steered.predicted_makespan_s < stock.predicted_makespan_s  # half of what the first stages reserve is free


def test_a_record_without_attempts_is_refused() -> None:
    run = recorded()
    with pytest.raises(BadInput, match="every attempt"):
        workload_of(replace(run, manifest=run.manifest | {"complete_attempts": False}))


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_record(recorded(), tmp_path / "monday")
    write_record(recorded(seconds=7), tmp_path / "sunday")
    arguments = ["yarn", "fidelity", str(tmp_path / "monday"), "--calibrate", str(tmp_path / "sunday")]
    assert command([*arguments, "--json"]) == 0
    answer = valid("yarn fidelity", json.loads(capsys.readouterr().out))
    assert answer["jobs"] == 12
    assert answer["overheads"]["ending_ms"] == 0
    assert command(arguments) == 0
    assert "Spearman" in capsys.readouterr().out
