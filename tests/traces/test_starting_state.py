"""Containers that a workload begins with: read from CSV and Parquet, and everything wrong with them at once."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from heddle.model.cluster import Cluster, Node
from heddle.model.errors import BadInput
from heddle.model.workload import EXECUTORS, INNER, Workload
from heddle.run import simulate
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build
from heddle.traces.check import check_fits
from heddle.traces.clusters import load_cluster
from heddle.traces.csv_tasks.read import read_csv_tasks
from heddle.traces.identity import workload_hash
from heddle.traces.parquet import read_parquet, write_parquet
from heddle.traces.starting_state import running_problems

HEADER = "job,submit_ms,duration_ms,vcores,memory_mb,stage,after,am_vcores,am_memory_mb,node,started_ms,am_node,am_started_ms\n"  # noqa: E501
DOCUMENTED = """\
job,submit_ms,duration_ms,vcores,memory_mb,am_vcores,am_memory_mb,node,started_ms,am_node,am_started_ms
etl,0,30000,1,2048,1,1024,node-0,-12000,node-0,-20000
etl,0,45000,1,2048,1,1024,node-1,-3000,node-0,-20000
etl,0,45000,1,2048,1,1024,,,node-0,-20000
"""


def read(folder: Path, text: str) -> Workload:
    path = folder / "w.csv"
    path.write_text(text)
    return read_csv_tasks(path)


def problems_of(folder: Path, text: str) -> list[str]:
    with pytest.raises(BadInput) as caught:
        read(folder, text)
    return [str(problem).partition("w.csv:")[2].strip() for problem in caught.value.problems]


def test_documented_example_is_read_and_runs(tmp_path: Path) -> None:
    assert DOCUMENTED in (Path(__file__).parents[2] / "docs" / "formats.md").read_text()
    workload = read(tmp_path, DOCUMENTED)
    assert workload.hosts == ("node-0", "node-1")
    assert workload.running_on is not None
    assert workload.started_at_ms is not None
    assert workload.running_on.tolist() == [0, 0, 1, -1]
    assert workload.started_at_ms.tolist() == [-20000, -12000, -3000, 0]
    run = simulate(workload, load_cluster("2x8192x4"), "fair", record=True, check=True)
    attempts = run.attempts.sort("task").select("asked_at_ms", "allocated_at_ms", "started_at_ms", "ended_at_ms").rows()
    assert attempts == [
        (-20000, -20000, -20000, 45000),
        (-12000, -12000, -12000, 18000),
        (-3000, -3000, -3000, 42000),
        (0, 0, 0, 45000),
    ]
    assert run.jobs.select("am_started_at_ms", "started_at_ms", "ended_at_ms").rows() == [(0, 0, 45000)]
    assert run.manifest["totals"]["allocations"] == 1
    assert run.manifest["totals"]["reserved_ms"][0] == 1024 * 45000 + 2048 * (18000 + 42000 + 45000)
    short = simulate(workload, load_cluster("2x8192x4"), "fair")
    assert short.attempts.sort("task").select("started_at_ms", "ended_at_ms").rows() == [row[2:] for row in attempts]


def test_a_node_may_hold_more_than_its_allowance_until_it_does_not(tmp_path: Path) -> None:
    # Three containers of 400 MB on a node that promises 1000: nothing more fits until two of them have ended.
    rows = [f"j{i},0,{1000 * (i + 1)},0,400,node-0,0\n" for i in range(3)]
    text = "job,submit_ms,duration_ms,vcores,memory_mb,node,started_ms\n" + "".join(rows) + "late,0,1000,0,600,,\n"
    run = simulate(read(tmp_path, text), load_cluster("1x1000x1"), "fair", record=True, check=True)
    assert run.attempts.sort("task")["started_at_ms"].to_list() == [0, 0, 0, 2000]


def test_parquet_keeps_them_and_the_hash_tells(tmp_path: Path) -> None:
    workload = read(tmp_path, DOCUMENTED)
    write_parquet(workload, tmp_path / "w.parquet")
    back = read_parquet(tmp_path / "w.parquet")
    assert np.array_equal(back.running_on, workload.running_on)
    assert np.array_equal(back.started_at_ms, workload.started_at_ms)
    assert workload_hash(back) == workload_hash(workload)
    assert workload_hash(workload) != workload_hash(dataclasses.replace(workload, running_on=None, started_at_ms=None))


def test_parquet_with_bad_ones_is_refused(tmp_path: Path) -> None:
    workload = read(tmp_path, DOCUMENTED)
    assert workload.running_on is not None
    assert workload.started_at_ms is not None
    for changed, what in (
        (dataclasses.replace(workload, running_on=workload.running_on + 1), "task.running_on"),
        (dataclasses.replace(workload, started_at_ms=workload.started_at_ms + 12001), "task.started_at_ms"),
        (dataclasses.replace(workload, running_on=np.array([-1, 0, 1, -1], np.int32)), "the AM of its job does not"),
    ):
        write_parquet(changed, tmp_path / "bad.parquet")
        with pytest.raises(BadInput, match=what):
            read_parquet(tmp_path / "bad.parquet")


def test_wrong_values_in_a_csv_are_reported_at_once(tmp_path: Path) -> None:
    text = HEADER + "a,0,10,1,100,,,,,n,5,,\nb,0,10,1,100,,,,,n,-1.5,,\nc,0,10,1,100,,,,,n,soon,,\n"
    assert problems_of(tmp_path, text) == [
        "4: started_ms: not a number: soon",
        "2: started_ms: later than 0, when the run begins: 5",
        "3: started_ms: not a whole number of milliseconds: -1.5",
    ]


def test_values_that_belong_together(tmp_path: Path) -> None:
    text = HEADER + "a,0,10,1,100,,,,,n,,,\nb,0,10,1,100,,,,,,-5,,\nc,0,10,1,100,,,,,,,n,-5\nd,0,10,1,100,,,1,1,,,n,\n"
    assert problems_of(tmp_path, text) == [
        "2: node: given without started_ms",
        "3: started_ms: given without node",
        "5: am_node: given without am_started_ms",
        "4: am_node: given without am_vcores",
    ]


def test_what_cannot_run_at_the_beginning(tmp_path: Path) -> None:
    text = (
        HEADER
        + "later,1,10,1,100,,,,,n,-5,,\n"
        + "headless,0,10,1,100,,,1,100,n,-5,,\n"
        + "chain,0,10,1,100,a,,,,n,-5,,\n"
        + "chain,0,10,1,100,b,a,,,n,-5,,\n"
    )
    begins = "node: runs when the workload begins, but"
    assert problems_of(tmp_path, text) == [
        f"2: {begins} its job is submitted later",
        f"3: {begins} the AM of its job does not",
        f"5: {begins} comes after a stage with tasks (finished tasks are left out)",
    ]


def test_an_am_says_where_it_runs_in_any_row_of_its_job(tmp_path: Path) -> None:
    workload = read(tmp_path, HEADER + "a,0,10,1,100,,,1,100,,,,\na,0,10,1,100,,,1,100,,,n,-7\n")
    assert workload.running_on is not None
    assert workload.started_at_ms is not None
    assert (workload.running_on.tolist(), workload.started_at_ms.tolist()) == ([0, -1, -1], [-7, 0, 0])


def running(stages: list[StageSpec], running_on: list[int], hosts: tuple[str, ...] = ("n0",)) -> Workload:
    workload = build("w", [JobSpec("j", 0, stages)], ("memory_mb", "vcores_milli", "gpu"))
    since = np.zeros(len(running_on), np.int64)
    return dataclasses.replace(workload, running_on=np.array(running_on, np.int32), started_at_ms=since, hosts=hosts)


def test_first_ones_of_executors_and_early_stages_and_no_inner_tasks() -> None:
    executors = StageSpec("executors", (1, 0, 0), [TaskSpec(0)] * 3, kind=EXECUTORS)
    inner = StageSpec("inner", (0, 0, 0), [TaskSpec(1)], kind=INNER)
    found = {
        what: np.flatnonzero(wrong).tolist()
        for wrong, what in running_problems(running([executors, inner], [0, -1, 0, 0]))
    }
    assert [tasks for what, tasks in found.items() if "the first ones run" in what] == [[2]]
    assert [tasks for what, tasks in found.items() if "inner task" in what] == [[3]]
    maps = StageSpec("map", (1, 0, 0), [TaskSpec(1)])
    reduces = StageSpec("reduce", (1, 0, 0), [TaskSpec(1)] * 2, after=("map",), slow_start_permille=0)
    assert not any(wrong.any() for wrong, _ in running_problems(running([maps, reduces], [-1, 0, -1])))
    assert any(wrong.any() for wrong, _ in running_problems(running([maps, reduces], [-1, -1, 0])))


def test_nodes_labels_and_exclusive_resources_of_the_cluster() -> None:
    resources = ("memory_mb", "vcores_milli", "gpu")
    cluster = Cluster((Node("n0", (100, 0, 1), (100, 0, 1)),), resources, ("gpu",))
    plain, labelled = (
        [StageSpec("s", (90, 0, 1), [TaskSpec(1)] * 2)],
        [StageSpec("s", (1, 0, 0), [TaskSpec(1)], label="x")],
    )
    assert not check_fits(running(plain, [0, -1]), cluster)
    assert [problem.what for problem in check_fits(running(plain, [0, 0]), cluster)] == [
        "containers on node n0 hold 2 of its 1 gpu"
    ]
    gone = check_fits(running(plain, [1, 1], ("n0", "n9")), cluster)
    assert [problem.what for problem in gone] == [
        'a container runs on node "n9", which the cluster does not have (job j, stage s, and 1 more)'
    ]
    assert 'a container that wants label "x" runs on node n0 (job j, stage s)' in [
        problem.what for problem in check_fits(running(labelled, [0]), cluster)
    ]
