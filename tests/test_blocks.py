"""Workloads that come in blocks: the same bytes as whole ones, from memory and from files; what is refused; repeats."""

from __future__ import annotations

import dataclasses
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from heddle.analysis.measures.metrics import run_metrics
from heddle.analysis.soundness.happenings import in_order
from heddle.cli.main import run as command
from heddle.model.errors import BadInput, CheckFailed, RunRefused
from heddle.model.workload import Workload
from heddle.record import parts
from heddle.record import run as record_run
from heddle.record.files import read_record
from heddle.run import simulate
from heddle.traces import parquet_blocks
from heddle.traces.blocks import BlocksInMemory
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build
from heddle.traces.catalogue import make_workload, suggested_cluster
from heddle.traces.identity import workload_hash
from heddle.traces.parquet import read_parquet, write_parquet
from heddle.traces.parquet_blocks import ParquetBlocks
from heddle.traces.tools.repeat import write_repeated

MIX = "mix(jobs=40)"
RUNS = (
    (MIX, "capacity+usage-feedback+admission-control"),
    (MIX, "fifo(yarn=true)"),  # requests are kept apart stage by stage
    (MIX, "weave"),
    (MIX, "haste"),
    ("am-storm", "fifo"),  # stalls
    ("network-dags", "fifo+network-aware"),
    ("phases", "dress"),
)
TOOK = ("wall_s", "simulate_s", "peak_rss_mb", "compile_s")


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "PART_ROWS", 64)
    monkeypatch.setattr(record_run, "PIECE_ROWS", 64)  # so that sums of fractions are rounded alike


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.parquet")}


@pytest.mark.parametrize(("name", "policy"), RUNS)
def test_the_record_has_the_same_bytes(name: str, policy: str, tmp_path: Path) -> None:
    workload, cluster = make_workload(name, 1), suggested_cluster(name)
    write_parquet(workload, tmp_path / "w.parquet")
    whole = simulate(workload, cluster, policy, seed=1, record=tmp_path / "whole")
    for source in (BlocksInMemory(workload, 30), ParquetBlocks(tmp_path / "w.parquet", 30)):
        run = simulate(source, cluster, policy, seed=1, record=tmp_path / "blocks")
        assert content(tmp_path / "blocks") == content(tmp_path / "whole")
        for key in whole.manifest.keys() - set(TOOK):
            assert run.manifest[key] == whole.manifest[key], key
        assert read_record(tmp_path / "blocks").jobs.equals(whole.jobs)
        assert {key: value for key, value in run_metrics(run).items() if key not in (*TOOK, "tasks_per_s")} == {
            key: value for key, value in run_metrics(whole).items() if key not in (*TOOK, "tasks_per_s")
        }


@pytest.mark.parametrize("most_shared", [0, 1 << 20])
def test_blocks_of_a_file_are_those_of_the_workload(
    most_shared: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet_blocks, "MOST_SHARED", most_shared)
    write_parquet(make_workload(MIX, 2), tmp_path / "w.parquet")
    workload, blocks = read_parquet(tmp_path / "w.parquet"), ParquetBlocks(tmp_path / "w.parquet", 50)
    assert blocks.hash() == workload_hash(workload)
    found = [workload_hash(block) for block in blocks]
    assert found == [workload_hash(block) for block in BlocksInMemory(workload, 50)]
    assert len(found) > 10


def test_use_that_is_neither_in_order_nor_short_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_blocks, "MOST_SHARED", 0)
    write_parquet(make_workload("am-storm", 1), tmp_path / "w.parquet")
    with pytest.raises(BadInput, match="not in their order"):
        list(ParquetBlocks(tmp_path / "w.parquet", 50))


def test_jobs_of_one_instant_are_in_one_block() -> None:
    blocks = list(BlocksInMemory(make_workload("am-storm", 1), 1))
    submits = [set(block.jobs["submit_at_ms"].tolist()) for block in blocks]
    assert all(not one & other for one, other in pairwise(submits))


@pytest.mark.parametrize("policy", ["sjf", "srpt", "tetris", "random-order", "network-aware(early=true)"])
def test_who_has_to_know_all_jobs_is_refused(policy: str, tmp_path: Path) -> None:
    with pytest.raises(RunRefused, match="has to know all jobs before the run"):
        simulate(BlocksInMemory(make_workload(MIX, 1)), suggested_cluster(MIX), policy, record=tmp_path / "r")


def chained(after_first: tuple[str, ...]) -> Workload:
    stage = StageSpec("s", (1024, 1000), [TaskSpec(1000)])
    return build(
        "x",
        [
            JobSpec("a", 0, [stage], after=after_first),
            *(JobSpec(f"n{i}", 2000 * i, [stage]) for i in range(1, 20)),
            JobSpec("b", 50_000, [stage], after=("a", "n3")),
        ],
    )


def test_a_job_hears_of_those_before_it_that_are_long_gone(tmp_path: Path) -> None:
    workload, cluster = chained(()), suggested_cluster(MIX)
    simulate(workload, cluster, "fifo", record=tmp_path / "whole")
    simulate(BlocksInMemory(workload, 1), cluster, "fifo", record=tmp_path / "blocks")
    assert content(tmp_path / "blocks") == content(tmp_path / "whole")


def test_a_job_after_a_later_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunRefused, match="submitted later"):
        simulate(BlocksInMemory(chained(("n5",)), 1), suggested_cluster(MIX), "fifo", record=tmp_path / "r")


def test_blocks_need_a_record() -> None:
    with pytest.raises(RunRefused, match="need a folder"):
        simulate(BlocksInMemory(make_workload(MIX, 1)), suggested_cluster(MIX), "fifo")


def test_the_command_reads_blocks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "w.parquet"
    write_parquet(make_workload(MIX, 1), file)
    asked = ["simulate", str(file), "-c", "20x65536x24", "-p", "capacity", "--json"]
    assert command([*asked, "--record", str(tmp_path / "whole")]) == 0
    whole = json.loads(capsys.readouterr().out)
    assert command([*asked, "--record", str(tmp_path / "blocks"), "--blocks"]) == 0
    blocks = json.loads(capsys.readouterr().out)
    assert blocks["jct_s"] == whole["jct_s"]
    assert content(tmp_path / "blocks") == content(tmp_path / "whole")
    assert command([*asked[:-1], "--record", str(tmp_path / "checked"), "--blocks", "--check"]) == 0
    assert "check: all invariants hold" in capsys.readouterr().err
    assert content(tmp_path / "checked") == content(tmp_path / "whole")
    assert command([*asked, "--blocks"]) == 2
    assert "--record" in capsys.readouterr().err
    assert command(["simulate", "mix", "--blocks", "--record", str(tmp_path / "other")]) == 2


def test_a_run_that_breaks_a_rule_is_found_out_and_leaves_no_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All containers are said to have run on node 0: the same is found whole, whole while recorded, and in blocks."""

    def on_node_0(*given: Any, **options: Any) -> Any:
        told = in_order(*given, **options)
        told["node"] = 0
        return told

    workload, cluster = make_workload(MIX, 1), suggested_cluster(MIX)
    monkeypatch.setattr("heddle.run_check.in_order", on_node_0)
    found = []
    for jobs, record in ((workload, False), (workload, tmp_path / "r"), (BlocksInMemory(workload, 50), tmp_path / "r")):
        with pytest.raises(CheckFailed) as caught:
            simulate(jobs, cluster, "fifo", record=record, check=True)
        found.append(caught.value.found)
    assert found[0][0].startswith("memory_mb promised twice")
    assert found[0] == found[1] == found[2]
    assert not any(tmp_path.iterdir())


def repeated_in_memory(workload: Workload, times: int, every_ms: int) -> Workload:
    """The same by hand, row by row."""
    jobs = []
    for time in range(times):
        for job in range(workload.n_jobs):
            row = workload.jobs[job]
            stages = []
            for stage in workload.stages[row["first_stage"] : row["first_stage"] + row["n_stages"]]:
                tasks = workload.tasks[stage["first_task"] : stage["first_task"] + stage["n_tasks"]]
                shape = tuple(workload.shapes[stage["shape"]].tolist())
                stages.append(StageSpec("s", shape, [TaskSpec(int(task["duration_ms"])) for task in tasks]))
            name = workload.job_name(job) + (f"~{time + 1}" if time else "")
            jobs.append(JobSpec(name, int(row["submit_at_ms"]) + time * every_ms, stages))
    return build("x", jobs)


def test_a_trace_comes_again_and_again(tmp_path: Path) -> None:
    stage = StageSpec("s", (1024, 1000), [TaskSpec(1000), TaskSpec(2000)])
    once = build("x", [JobSpec("a", 0, [stage]), JobSpec("b", 7000, [stage, stage])])
    write_repeated(once, 3, 10_000, tmp_path / "three.parquet")
    found, wanted = read_parquet(tmp_path / "three.parquet"), repeated_in_memory(once, 3, 10_000)
    assert workload_hash(found) == workload_hash(wanted)
    assert found.job_name(5) == "b~3"
    write_parquet(dataclasses.replace(found, about=once.about), tmp_path / "again.parquet")
    assert (tmp_path / "again.parquet").read_bytes() == (tmp_path / "three.parquet").read_bytes()


def test_a_repeated_trace_keeps_its_dependencies_and_its_use(tmp_path: Path) -> None:
    once = make_workload("network-dags", 1)
    submit = once.jobs["submit_at_ms"]
    write_repeated(once, 2, int(submit[-1]) + 1, tmp_path / "twice.parquet")
    twice, stages = read_parquet(tmp_path / "twice.parquet"), len(once.stages)
    assert np.array_equal(twice.stage_after[len(once.stage_after) :], once.stage_after + stages)
    assert np.array_equal(twice.segments, once.segments)
    assert np.array_equal(twice.tasks["first_segment"][len(once.tasks) :], once.tasks["first_segment"])


def test_the_command_repeats(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "year.parquet")
    assert command(["traces", "repeat", MIX, "--times", "4", "-o", out, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["jobs"] == 160
    assert command(["traces", "repeat", MIX, "--times", "2", "--every", "1", "-o", out]) == 2
    assert "cannot come again" in capsys.readouterr().err
