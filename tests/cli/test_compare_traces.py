"""`heddle compare` on recorded traces, with queue configurations and without the edges."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from heddle.cli.main import run


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("trace") / "day.parquet"
    assert run(["workload", "make", "over-reserved-day(tasks=1500)", "-o", str(path)]) == 0
    return str(path)


def compared(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    capsys.readouterr()
    assert run(["compare", *arguments, "--json", "--on", "local:1"]) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def test_a_trace_is_resampled_in_time_blocks(trace: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = (trace, "-c", "2x65536x24", "-p", "fifo", "-p", "srpt", "--seeds", "4", "--block-s", "100")
    document = compared(capsys, *arguments)
    assert document["sampling"]["kind"] == "blocks"
    by_seed = {one["seed"]: one["workload_hash"] for one in document["runs"]}
    assert len(set(by_seed.values())) == 4
    assert len({(one["seed"], one["workload_hash"]) for one in document["runs"]}) == 4, "policies see the same jobs"
    row = next(one for one in document["summary"] if (one["policy"], one["metric"]) == ("srpt", "jct_s.mean"))
    itself = {one["policy"]: one["jct_s"]["mean"] for one in document["runs"] if one["seed"] == 0}
    assert row["mean"] == itself["srpt"]
    assert row["vs_baseline_pct"] == pytest.approx(100 * (itself["srpt"] / itself["fifo"] - 1))
    assert row["above_bound_pct"]["any"] >= row["above_bound_pct"]["reservations"] >= 0


def test_without_resampling_it_is_run_as_it_is(trace: str, capsys: pytest.CaptureFixture[str]) -> None:
    document = compared(capsys, trace, "-c", "2x65536x24", "-p", "fifo", "--seeds", "2", "--no-resample")
    assert document["sampling"] == {"kind": "chance"}
    assert len({one["workload_hash"] for one in document["runs"]}) == 1


def test_edges_are_left_out_and_it_says_so(trace: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["compare", trace, "-c", "2x65536x24", "-p", "fifo", "-p", "drf", "--seeds", "1", "--on", "local:1"]
    assert run([*arguments, "--warm-up", "60", "--cool-down", "30"]) == 0
    shown = capsys.readouterr()
    assert "first 60 s or the last 30 s" in shown.err
    assert "who got worse than under fifo" in shown.out


def test_queue_configurations_are_compared_with_each_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nodes = "nodes: [{count: 8, capacity: {memory_mb: 65536, vcores: 24}}]\n"
    for name, share in (("today", 20), ("proposed", 100)):
        (tmp_path / f"{name}.yaml").write_text(f"{nodes}queues: {{default: {{maximum_percent: {share}}}}}\n")
    files = [str(tmp_path / f"{name}.yaml") for name in ("today", "proposed")]
    arguments = ("burst(jobs=10)", "-p", "capacity", "--queues", files[0], "--queues", files[1], "--seeds", "2")
    document = compared(capsys, *arguments, "--baseline", "capacity with proposed")
    assert document["baseline"] == "capacity with proposed"
    row = next(one for one in document["summary"] if one["policy"] == "capacity with today")
    assert row["vs_baseline_pct"] > 0, "a fifth of the cluster is slower"
    assert {one["policy"] for one in document["who_got_worse"]} == {"capacity with today"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["burst", "--block-s", "5"], "there is no trace to resample"),
        (["TRACE", "-c", "2x65536x24", "--block-s", "100000"], "at least 5"),
        (["burst", "--queues", "nowhere.yaml"], "no such file"),
    ],
)
def test_bad_input(trace: str, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", *(trace if one == "TRACE" else one for one in arguments)]) == 2
    assert message in capsys.readouterr().err
