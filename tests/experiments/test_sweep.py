"""Sweeps: read as a whole, expanded, kept run by run, taken up again after the worst."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from heddle.experiments.sweep_file import read_sweep
from heddle.experiments.sweep_run import RUN_SOURCES, run_row
from heddle.experiments.sweep_store import SweepStore, parameter_types
from heddle.model import own_sources
from heddle.model.errors import BadInput
from heddle.model.own_sources import PACKAGE

GOOD = """
name: small
workloads: ["burst(jobs={jobs})"]
policies: [fifo, "drf+n-sigma(n={n})"]
loads: [1, 2]
parameters: {jobs: [4, 6], n: [2, 3]}
seeds: 2
"""


def written(folder: Path, text: str, name: str = "sweep.yaml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_a_cross_product_of_what_each_text_uses(tmp_path: Path) -> None:
    sweep = read_sweep(written(tmp_path, GOOD))
    assert sweep.name == "small"
    assert len(sweep.runs) == 2 * 2 * (1 + 2) * 2  # workloads, loads, policies with their values, seeds
    assert len({one.key for one in sweep.runs}) == len(sweep.runs)
    assert {one.policy for one in sweep.runs} == {"fifo", "drf+n-sigma(n=2)", "drf+n-sigma(n=3)"}
    assert {one.source.load for one in sweep.runs} == {1.0, 2.0}


def test_toml_says_the_same(tmp_path: Path) -> None:
    toml = """
    workloads = ["burst(jobs={jobs})"]
    policies = ["fifo", "drf+n-sigma(n={n})"]
    loads = [1, 2]
    seeds = 2
    [parameters]
    jobs = [4, 6]
    n = [2, 3]
    """
    keys = [[one.key for one in read_sweep(written(tmp_path, *pair)).runs] for pair in ((GOOD,), (toml, "s.toml"))]
    assert keys[0] == keys[1]


def test_keys_change_with_what_a_run_depends_on(tmp_path: Path) -> None:
    trace = written(tmp_path, "job,submit_ms,duration_ms,vcores,memory_mb\na,0,1000,1,1024\n", "t.csv")
    lever = written(tmp_path, "from heddle.policy.lever import ordering\n\n\n@ordering()\ndef mine(view, state, params, stage):\n    return 0\n", "mine.py")  # fmt: skip  # noqa: E501
    text = f"workloads: [{trace}]\npolicies: ['{lever}:mine']\nclusters: [2x4096x4]\nseeds: [0]\n"
    first = read_sweep(written(tmp_path, text)).runs[0].key
    assert read_sweep(written(tmp_path, text)).runs[0].key == first
    assert read_sweep(written(tmp_path, text.replace("2x4096", "3x4096"))).runs[0].key != first
    assert read_sweep(written(tmp_path, text + "warm_up_s: 1\n")).runs[0].key != first


def test_runs_of_other_code_are_not_taken_over() -> None:
    """The key knows the sources: a version number stays the same while a rule of the simulator changes."""
    covered = {path for pattern in RUN_SOURCES for path in PACKAGE.glob(pattern)}
    loaded = subprocess.run(
        [sys.executable, "-c", _LOADED_BY_A_RUN], capture_output=True, text=True, check=True, timeout=120
    )
    needed = {Path(line) for line in loaded.stdout.split()}
    assert PACKAGE / "sim" / "engine.py" in needed
    assert {path for path in needed - covered if path.name != "__init__.py"} == set()


_LOADED_BY_A_RUN = """
import sys
import heddle.experiments.sweep_run
import heddle.policy.compile, heddle.sim.numba.compile, heddle.stock_yarn.outside  # where they are needed
for name, module in list(sys.modules.items()):
    if name.startswith("heddle."):
        print(module.__file__)
"""


def test_digests_change_with_any_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_sources, "PACKAGE", tmp_path)
    digests = []
    for name, text in (("a.py", "1"), ("a.py", "2"), ("b.py", "")):
        (tmp_path / name).write_text(text)
        own_sources.source_digest.cache_clear()
        digests.append(own_sources.source_digest("*.py"))
    own_sources.source_digest.cache_clear()
    assert len(set(digests)) == 3


def test_everything_wrong_is_said_at_once(tmp_path: Path) -> None:
    bad = """
    workload: [mix]
    workloads: ["burst(jobs={jobs})", 7]
    policies: []
    loads: [0]
    parameters: {n: [1], mixed: [1, a]}
    seeds: none
    """
    with pytest.raises(BadInput) as caught:
        read_sweep(written(tmp_path, bad))
    said = str(caught.value)
    for part in ('did you mean "workloads"', "list of texts", "policies: missing", "above 0", "all numbers", "seeds"):
        assert part in said
    with pytest.raises(BadInput) as caught:
        read_sweep(written(tmp_path, "workloads: [nix, 'mix(jobs=-1)']\npolicies: [fifo, nope]\nclusters: [1x2]\n"))
    assert [part in str(caught.value) for part in ("nix", "jobs", "nope", "1x2")] == [True] * 4
    with pytest.raises(BadInput, match="no node is large enough"):
        read_sweep(written(tmp_path, "workloads: [burst]\npolicies: [fifo]\nclusters: [1x16x1]\n"))
    with pytest.raises(BadInput, match="is used, but has no values"):
        read_sweep(written(tmp_path, "workloads: ['mix(jobs={jobs})']\npolicies: [fifo]\n"))


@pytest.mark.parametrize("word", ["{n:>999999999}", "{n.real}", "{n[0]}", "{n!r}", "{n}{}"])
def test_words_are_filled_in_as_they_are(word: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="without a format"):
        read_sweep(written(tmp_path, f"workloads: mix\npolicies: 'n-sigma(n={word})'\nparameters: {{n: [1]}}"))


@pytest.mark.parametrize(
    "more",
    [
        "parameters: {n: [%s], m: [%s]}" % (("1," * 999 + "2",) * 2),
        "parameters: {n: 1, m: 2}\nloads: [%s]" % ("1," * 12),
    ],
)
def test_too_many_runs_are_refused_before_any_is_made(more: str, tmp_path: Path) -> None:
    began_s = time.process_time()
    with pytest.raises(BadInput, match="runs are too many: at most 1,000,000"):
        read_sweep(written(tmp_path, f"workloads: mix\npolicies: 'n-sigma(n={{n}},m={{m}})'\nseeds: 100000\n{more}"))
    assert time.process_time() - began_s < 5


def test_loads_that_no_clock_can_count(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="loads: must be numbers above 0, up to 1,000,000"):
        read_sweep(written(tmp_path, "workloads: mix\npolicies: fifo\nloads: [1e-300]"))


def test_runs_are_kept_one_by_one_as_one_data_set(tmp_path: Path) -> None:
    path = written(tmp_path, GOOD)
    sweep = read_sweep(path)
    store = SweepStore(tmp_path / "out")
    store.open_for(sweep, path.read_text())
    types = parameter_types(sweep.runs)
    for one in sweep.runs[:5]:
        store.put(run_row(one), types)
    left = tmp_path / "out" / "runs" / ".x.parquet.1-1.partial"
    left.write_bytes(b"half")
    store.open_for(sweep, path.read_text())
    assert not left.exists()
    assert store.done() == {one.key for one in sweep.runs[:5]}
    assert store.plan() == ("small", [one.key for one in sweep.runs])
    whole = pl.read_parquet(str(tmp_path / "out" / "runs" / "*.parquet"))
    assert whole.height == 5
    assert whole["param_jobs"].to_list() == [4.0] * 5
    assert whole["jct_s_mean"].null_count() == 0
    assert store.table([one.key for one in sweep.runs]).height == 5


def test_other_folders_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    path = written(tmp_path, GOOD)
    with pytest.raises(BadInput, match="not a sweep's folder"):
        SweepStore(tmp_path / "mine").open_for(read_sweep(path), path.read_text())
    with pytest.raises(BadInput, match="not a sweep's folder"):
        SweepStore(tmp_path / "nowhere").plan()


def test_a_sweep_survives_being_killed(tmp_path: Path) -> None:
    path = written(tmp_path, GOOD)
    out = tmp_path / "out"
    command = [sys.executable, "-c", "from heddle.cli.main import main; main()", "sweep", "run", str(path)]
    command += ["-o", str(out), "--on", "local:1"]

    def done() -> int:
        return len(list((out / "runs").glob("*.parquet")))

    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    while done() < 3 and process.poll() is None:
        time.sleep(0.001)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    first = {file.name: file.stat().st_mtime_ns for file in (out / "runs").glob("*.parquet")}
    assert len(first) >= 3
    assert subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode == 0
    rows = pl.read_parquet(str(out / "runs" / "*.parquet"))
    assert rows.height == rows["key"].n_unique() == len(read_sweep(path).runs)
    assert rows.select("workload", "load", "policy", "seed").n_unique() == rows.height
    after = {file.name: file.stat().st_mtime_ns for file in (out / "runs").glob("*.parquet")}
    assert all(after[name] == time_ns for name, time_ns in first.items()), "what was done is not done again"
