"""What is brought to workers once, and what is left of a run."""

from __future__ import annotations

import os
import pickle
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from heddle.experiments.compare import PlannedRun, Source, run_one
from heddle.experiments.workers.luggage import Packer, unpacked
from heddle.experiments.workers.on_worker import forget, run_packed, unpack
from heddle.experiments.workers.versions import Version
from heddle.model.errors import RunRefused
from heddle.policy.endless import LIMIT
from heddle.reproduce.lab import call
from heddle.traces.clusters import load_cluster


def planned(policy: str = "fifo") -> PlannedRun:
    return PlannedRun(Source("trace.parquet"), load_cluster("10000x65536x24"), policy, 0)


def test_a_run_is_small_however_large_its_cluster() -> None:
    packer, one = Packer(), planned()
    luggage = packer.luggage_of([one, replace(one, seed=1)])
    assert len(luggage.clusters) == 1
    packed = packer.packed(run_one, one)
    assert len(packed) < 1000 < 100_000 < len(pickle.dumps(one))
    clusters = {digest: pickle.loads(content) for digest, content in luggage.clusters.items()}
    assert unpacked(packed, clusters) == (run_one, one)


def test_files_are_found_wherever_they_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also in the works of `reproduce`, which are functions of runs."""
    monkeypatch.chdir(tmp_path)
    Path("trace.parquet").write_text("jobs")
    Path("mine.py").write_text("levers")
    work = partial(run_one, planned("fifo+mine.py:keen(n=3)"))
    luggage = Packer().luggage_of([work])
    assert luggage.files == {"trace.parquet": b"jobs", "mine.py": b"levers"}
    Path("mine.py").write_text("other levers")
    assert Packer().luggage_of([work]).key != luggage.key


def test_a_worker_with_another_heddle_refuses_what_it_is_brought(tmp_path: Path) -> None:
    luggage = replace(Packer().luggage_of([]), version=Version("0123456789abcdef", "3.11"))
    with pytest.raises(RunRefused, match="the-worker has another heddle"):
        unpack(luggage, tmp_path, "the-worker")


def test_how_long_a_lever_may_take_travels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LIMIT, "7.5")
    packer = Packer()
    luggage = packer.luggage_of([])
    packed = packer.packed(call, partial(os.getenv, LIMIT))
    monkeypatch.setenv(LIMIT, "60")
    unpack(luggage, tmp_path, "here")
    try:
        assert run_packed(luggage.key, packed) == "7.5"
    finally:
        forget(luggage.key)
