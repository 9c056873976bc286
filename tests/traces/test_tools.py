"""Cutting, scaling, exporting and sharing traces."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from heddle.model.errors import BadInput
from heddle.model.workload import NO_SEGMENTS, Workload
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build, constant
from heddle.traces.catalogue import make_workload
from heddle.traces.check import check_structure
from heddle.traces.csv_tasks.read import read_csv_tasks
from heddle.traces.formats.sls import write_sls
from heddle.traces.identity import workload_hash
from heddle.traces.imports.importing import import_trace
from heddle.traces.load import load_workload
from heddle.traces.parquet import read_parquet, write_parquet
from heddle.traces.tools.export_csv import write_csv
from heddle.traces.tools.scale import Factors, scaled
from heddle.traces.tools.select import select_jobs
from heddle.traces.tools.share import anonymised

from .random_workloads import workloads

SLOW = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@SLOW
@given(workloads())
def test_selecting_everything_changes_nothing_but_the_start(workload: Workload) -> None:
    chosen, dropped = select_jobs(workload, np.ones(workload.n_jobs, bool))
    assert dropped == 0
    first = workload.jobs["submit_at_ms"].min()
    assert (chosen.jobs["submit_at_ms"] == workload.jobs["submit_at_ms"] - first).all()
    for field in ("stages", "stage_after", "job_after"):
        assert (getattr(chosen, field) == getattr(workload, field)).all()


@SLOW
@given(workloads(), st.data())
def test_any_selection_is_a_workload_with_the_same_jobs(workload: Workload, data: st.DataObject) -> None:
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=workload.n_jobs, max_size=workload.n_jobs)))
    if not mask.any():
        with pytest.raises(BadInput, match="no job is left"):
            select_jobs(workload, mask)
        return
    chosen, dropped = select_jobs(workload, mask)
    assert not check_structure(chosen, "chosen").found
    assert chosen.job_names is not None
    assert chosen.job_names.to_list() == [workload.job_name(int(job)) for job in np.flatnonzero(mask)]
    assert len(chosen.job_after) + dropped == int(workload.jobs["n_after"][mask].sum())
    kept = np.repeat(mask[workload.stages["job"]], workload.stages["n_tasks"])
    for before, after in zip(workload.tasks[kept], chosen.tasks, strict=True):
        assert before["duration_ms"] == after["duration_ms"]
        if before["first_segment"] == NO_SEGMENTS:
            assert after["first_segment"] == NO_SEGMENTS
        else:
            assert workload.segments[before["first_segment"]] == chosen.segments[after["first_segment"]]


def test_scaling_multiplies_what_it_says_and_keeps_masters() -> None:
    job = JobSpec("a", 10_000, [StageSpec("s", (1000, 1000), [TaskSpec(60_000, constant(500, 400))])], am=(1000, 1000))
    made = scaled(build("w", [job]), Factors(load=2, duration=0.5, memory=1.5, vcores=3))
    assert made.jobs["submit_at_ms"].tolist() == [5000]
    assert made.tasks["duration_ms"].tolist() == [0, 30_000]
    assert made.shapes[made.stages["shape"]].tolist() == [[1000, 1000], [1500, 3000]]
    assert made.segments["use"].tolist() == [[750, 1200]]
    assert not check_structure(made, "made").found


@SLOW
@given(workloads())
def test_parquet_brings_every_workload_back(tmp_path_factory: pytest.TempPathFactory, workload: Workload) -> None:
    path = tmp_path_factory.mktemp("w") / "w.parquet"
    write_parquet(workload, path)
    assert workload_hash(read_parquet(path)) == workload_hash(workload)


def simple_jobs() -> st.SearchStrategy[list[JobSpec]]:
    """What a CSV and, without use and order, SLS can hold."""
    amounts = st.tuples(st.integers(1, 10**6), st.integers(1, 64).map(lambda vcores: 1000 * vcores))
    tasks = st.lists(st.builds(TaskSpec, st.integers(1, 10**9)), min_size=1, max_size=3)
    stage = st.builds(StageSpec, st.just("map"), amounts, tasks)
    return st.lists(
        st.builds(
            JobSpec,
            st.just(""),
            st.integers(0, 10**9),
            st.lists(stage, min_size=1, max_size=1),
            am=amounts,
            queue=st.sampled_from(["root.a", "root.b"]),
            user=st.sampled_from(["ann", "bob"]),
        ),
        min_size=1,
        max_size=5,
    ).map(lambda jobs: [JobSpec(**{**vars(job), "name": f"job {n}"}) for n, job in enumerate(jobs)])


@SLOW
@given(simple_jobs())
def test_csv_and_sls_bring_back_what_they_can_hold(
    tmp_path_factory: pytest.TempPathFactory, jobs: list[JobSpec]
) -> None:
    folder = tmp_path_factory.mktemp("w")
    workload = build("w", jobs)
    text, lost = write_csv(workload)
    assert lost == []
    (folder / "w.csv").write_text(text, encoding="utf-8")
    assert workload_hash(read_csv_tasks(folder / "w.csv")) == workload_hash(workload)
    assert workload_hash(import_trace([str(folder / "w.csv")]).imported.workload) == workload_hash(workload)
    text, lost = write_sls(workload)
    assert lost == []
    (folder / "w.json").write_text(text, encoding="utf-8")
    assert workload_hash(import_trace([str(folder / "w.json")]).imported.workload) == workload_hash(workload)


def test_csv_brings_back_data_sizes(tmp_path: Path) -> None:
    reader = StageSpec("r", (5, 1000), [TaskSpec(7)] * 2, after=("w",), after_bytes=(3_000_000,))
    writer = StageSpec("w", (5, 1000), [TaskSpec(7, None, "node-3", 1_500_000), TaskSpec(7)])
    workload = build("w", [JobSpec("a", 0, [writer, reader])])
    text, lost = write_csv(workload)
    assert lost == []
    (tmp_path / "w.csv").write_text(text)
    assert workload_hash(read_csv_tasks(tmp_path / "w.csv")) == workload_hash(workload)
    wide = StageSpec("z", (5, 1000), [TaskSpec(7)], after=("w", "r"), after_bytes=(1, 2))
    _, lost = write_csv(build("w", [JobSpec("a", 0, [writer, reader, wide])]))
    assert [what.partition(":")[0] for what in lost] == ["how much a stage reads from each of several others"]


def test_exports_say_what_they_cannot_hold() -> None:
    job = JobSpec(
        "a", 0, [StageSpec("s", (1, 1000, 1), [TaskSpec(1, ((5000, (1, 1, 0)), (10_000, (2, 1, 0))))])], priority=2
    )
    workload = build("w", [job], ("memory_mb", "vcores_milli", "gpu"))
    _, lost = write_csv(workload)
    assert {what.partition(":")[0] for what in lost} == {
        "resources beyond memory and vcores",
        "use over time",
        "priorities",
    }
    with pytest.raises(BadInput, match="executors"):
        write_csv(make_workload("mix", 0))


def test_shared_traces_hide_names_and_keep_structure() -> None:
    workload = make_workload("mix", 0)
    shared, manifest = anonymised(workload, b"a secret salt", 5000)
    again, _ = anonymised(workload, b"a secret salt", 5000)
    other, _ = anonymised(workload, b"another salt", 5000)
    assert workload_hash(shared) == workload_hash(again) != workload_hash(other)
    said = repr((shared.users, shared.queues, shared.name, shared.about, shared.job_names, shared.stage_names))
    for name in (*workload.users, *(queue.removeprefix("root.") for queue in workload.queues), "map", "mix"):
        assert f"'{name}'" not in said
        assert f'"{name}"' not in said
    assert (shared.jobs["submit_at_ms"] % 5000 == 0).all()
    assert not check_structure(shared, "shared").found
    assert len(shared.users) == len(workload.users)
    assert manifest["times_rounded_to_ms"] == 5000


def test_a_shared_trace_lists_the_names_it_keeps() -> None:
    job = JobSpec("a", 0, [StageSpec("s", (1, 1000, 1), [TaskSpec(1)])])
    shared, manifest = anonymised(build("w", [job], ("memory_mb", "vcores_milli", "fpga")), b"a secret salt")
    assert "names of resources" in manifest["kept"]
    assert manifest["resources"] == list(shared.resources) == ["memory_mb", "vcores_milli", "fpga"]


def test_names_that_spreadsheets_would_calculate_survive_a_csv(tmp_path: Path) -> None:
    """A CSV of tasks is read again, by heddle and others: nothing is put before a name."""
    names = ["=1+1", "+1", "-1", "@SUM(A1)", "'=1"]
    jobs = [JobSpec(name, at, [StageSpec("s", (1, 1000), [TaskSpec(1)])]) for at, name in enumerate(names)]
    text, _ = write_csv(build("w", jobs))
    (tmp_path / "w.csv").write_text(text, encoding="utf-8")
    again = load_workload(str(tmp_path / "w.csv"))
    assert [again.job_name(number) for number in range(again.n_jobs)] == names


def test_the_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    workload = make_workload("burst", 0)
    text, _ = write_csv(workload)
    outputs = []
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "in.csv").write_text(text, encoding="utf-8")
        write_parquet(
            import_trace([str(tmp_path / folder / "in.csv")]).imported.workload, tmp_path / folder / "out.parquet"
        )
        outputs.append((tmp_path / folder / "out.parquet").read_bytes())
    assert outputs[0] == outputs[1]
