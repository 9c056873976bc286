"""One executor, however it is asked for: Python, command line and sweep file compute the same run."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import heddle
from heddle.analysis.comparison.sweep_axes import scenarios
from heddle.cli.main import run
from heddle.experiments.sweep_file import read_sweep
from heddle.model.errors import BadInput

WORKLOAD, POLICY, SEED = "mix(jobs=24)", "capacity+usage-feedback", 1


def mean_of(document: dict[str, object]) -> float:
    found = document["jct_s"]
    assert isinstance(found, dict)
    return float(found["mean"])


def swept(folder: Path) -> pl.DataFrame:
    file = folder / "both.yaml"
    file.write_text(
        f"workloads: ['{WORKLOAD}']\npolicies: [{POLICY}]\nexecutors: [yarn-knobs, native]\nseeds: [{SEED}]\n"
    )
    assert run(["sweep", "run", str(file), "-o", str(folder / "out"), "--on", "local:1"]) == 0
    return pl.read_parquet(str(folder / "out" / "runs" / "*.parquet"))


def test_python_command_line_and_sweep_agree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = swept(tmp_path)
    capsys.readouterr()
    found = {}
    for executor in ("native", "yarn-knobs"):
        alone = heddle.simulate(WORKLOAD, POLICY, seed=SEED, executor=executor)
        assert alone.metrics["executor"] == executor
        assert alone.run.manifest["executor"] == executor
        options = ["--executor", executor, "--json"]
        assert run(["simulate", WORKLOAD, "-p", POLICY, "--seed", str(SEED), *options]) == 0
        typed = json.loads(capsys.readouterr().out)
        assert run(["compare", WORKLOAD, "-p", POLICY, "--seeds", "2", "--on", "local:1", *options]) == 0
        of_command = json.loads(capsys.readouterr().out)
        of_python = heddle.compare(WORKLOAD, [POLICY], seeds=2, record=False, executor=executor)
        assert {one["executor"] for one in of_command["runs"]} == {executor}
        assert of_command["configuration_hash"] == of_python.comparison.configuration_hash
        in_sweep = rows.filter(pl.col("executor") == executor)["jct_s_mean"].item()
        found[executor] = {
            mean_of(alone.metrics), mean_of(typed), mean_of(of_command["runs"][SEED]), in_sweep,
            mean_of(dict(of_python.comparison.runs[SEED].metrics)),
        }  # fmt: skip
        assert len(found[executor]) == 1
    assert found["native"] != found["yarn-knobs"]


def test_a_sweep_compares_within_one_executor(tmp_path: Path) -> None:
    names = [name for name, _ in scenarios(swept(tmp_path))]
    assert names == [f"{WORKLOAD} by native", f"{WORKLOAD} by yarn-knobs"]


def test_an_executor_that_is_not_known_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match='did you mean "yarn-knobs"'):
        heddle.simulate(WORKLOAD, executor="yarn-knob")  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="magic is not known; known: native, yarn-knobs, bridge"):
        heddle.compare(WORKLOAD, executor="magic")  # type: ignore[arg-type]
    file = tmp_path / "sweep.yaml"
    file.write_text(f"workloads: ['{WORKLOAD}']\npolicies: [fifo]\nexecutors: [nativ, 3]\n")
    with pytest.raises(BadInput, match="executors: must be a text"):
        read_sweep(file)
    file.write_text(f"workloads: ['{WORKLOAD}']\npolicies: [fifo]\nexecutors: nativ\n")
    with pytest.raises(BadInput, match='executors: nativ is not known, did you mean "native"'):
        read_sweep(file)


def test_a_sweep_says_at_once_which_policies_have_no_knobs(tmp_path: Path) -> None:
    file = tmp_path / "sweep.yaml"
    file.write_text(
        f"workloads: ['{WORKLOAD}', burst]\npolicies: [haste, dress, capacity]\nexecutors: [native, yarn-knobs]\n"
    )
    with pytest.raises(BadInput) as caught:
        read_sweep(file)
    said = [found.what for found in caught.value.problems]
    assert [what.partition(":")[0] for what in said] == ["yarn-knobs cannot run haste", "yarn-knobs cannot run dress"]
    assert "root.pool-0 and root.pool-1" in said[1]
