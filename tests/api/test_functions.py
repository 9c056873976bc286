"""`import heddle`: the public names, and that they do what the commands do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import heddle
from heddle.traces.parquet import write_parquet

SMALL = "mix(jobs=8)"


def test_public_names_are_these_and_load_lazily() -> None:
    assert sorted(heddle.__all__) == dir(heddle)
    for name in heddle.__all__:
        assert getattr(heddle, name).__doc__
    with pytest.raises(AttributeError, match="nothing"):
        _ = heddle.nothing
    code = "import sys, heddle; print([name for name in ('numba', 'polars', 'numpy') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_one_run_as_frames_and_back_from_disk(tmp_path: Path) -> None:
    result = heddle.simulate(SMALL, "capacity", seed=2, record=True)
    assert result.outcome == "finished"
    assert result.jobs.height == 8
    assert result.jobs["completion_s"].mean() == pytest.approx(result.metrics["jct_s"]["mean"])
    assert result.jobs["wait_s"].mean() == pytest.approx(result.metrics["wait_s"]["mean"])
    assert set(result.tasks["kind"].unique()) <= {"tasks", "am", "executors", "inner"}
    assert result.tasks["node_name"].null_count() == 0
    result.save(tmp_path / "record")
    again = heddle.read_record(tmp_path / "record")
    assert again.jobs.equals(result.jobs)
    why = again.explain(result.jobs["name"][0])
    assert sum(why.causes_s.values()) == pytest.approx(result.jobs["completion_s"][0])
    assert why.spans["from_s"][0] == 0.0


def test_comparison_as_frames() -> None:
    found = heddle.compare(SMALL, ["fifo", "drf"], seeds=3, baseline="drf")
    assert found.comparison.baseline == "drf"
    assert found.runs.height == 6
    row = found.summary.row(by_predicate=(pl.col("policy") == "fifo") & (pl.col("metric") == "jct_s.mean"), named=True)
    mine = found.runs.filter(pl.col("policy") == "fifo")["jct_s.mean"]
    assert row["mean"] == pytest.approx(mine.mean())
    assert row["change_low"] <= row["change_pct"] <= row["change_high"]
    assert set(found.worse["who"].unique()) == {"queue", "user"}
    assert "drf" in found.verdict
    assert "</html>" in found.html()


def test_a_workload_in_memory_is_a_trace() -> None:
    jobs = heddle.workload("over-reserved-day(tasks=400)", seed=1)
    found = heddle.compare(jobs, ["fifo", "srpt"], "2x65536x24", seeds=3, block_s=20)
    assert found.comparison.sampling.kind == "blocks"
    assert found.runs.filter(pl.col("seed") == 0).height == 2
    with pytest.raises(heddle.BadInput, match="suggests no cluster"):
        heddle.compare(jobs, ["fifo"])
    with pytest.raises(heddle.BadInput, match="suggests no cluster"):
        heddle.simulate(jobs)


def test_bounds_and_errors() -> None:
    frame = heddle.bound(SMALL, seed=3)
    assert frame["schedulers"].to_list() == ["reservations", "any"]
    makespan = heddle.simulate(SMALL, "srpt", seed=3).metrics["makespan_s"]
    assert frame["makespan_s"].max() <= makespan  # type: ignore[operator]
    with pytest.raises(heddle.BadInput, match="did you mean"):
        heddle.simulate(SMALL, "fifoo")
    assert issubclass(heddle.BadInput, heddle.HeddleError)


def test_html_for_notebooks_is_escaped() -> None:
    result = heddle.simulate(SMALL, "drf", record=True)
    assert "<table>" in result._repr_html_()
    result.run.manifest["workload"]["name"] = "<script>"
    assert "<script>" not in heddle.Result(result.run)._repr_html_()
    assert "finished, 8 jobs" in repr(result)
    assert "<table>" in result.explain(0)._repr_html_()
    found = heddle.compare(SMALL, ["fifo", "drf"], seeds=2)
    assert found.verdict in found._repr_html_().replace("&#x27;", "'")
    assert found.verdict in repr(found)


def test_a_workload_in_blocks(tmp_path: Path) -> None:
    file = tmp_path / "w.parquet"
    write_parquet(heddle.workload(SMALL), file)
    whole = heddle.simulate(str(file), "capacity", SMALL, record=tmp_path / "whole")
    blocks = heddle.simulate(str(file), "capacity", SMALL, record=str(tmp_path / "blocks"), blocks=True)
    assert blocks.metrics["jct_s"] == whole.metrics["jct_s"]
    assert blocks.jobs.equals(whole.jobs)
    assert blocks.tasks.equals(whole.tasks)
    name = whole.jobs["name"][0]
    assert blocks.explain(name).causes_s == whole.explain(name).causes_s
    for given in (SMALL, heddle.workload(SMALL)):
        with pytest.raises(heddle.HeddleError, match="parquet"):
            heddle.simulate(given, cluster=SMALL, record=tmp_path / "other", blocks=True)
    with pytest.raises(heddle.HeddleError, match="folder for the record"):
        heddle.simulate(str(file), cluster=SMALL, blocks=True)
