"""Brackets without end are bad input, soon."""

from pathlib import Path

import pytest

from heddle.experiments.sweep_file import read_sweep
from heddle.model.errors import BadInput
from heddle.model.nested_text import DEEPEST, from_json, is_too_deep
from heddle.model.suggestion import LONGEST, did_you_mean
from heddle.traces.clusters import load_cluster


def test_json_that_is_too_deep_is_no_json() -> None:
    assert from_json('{"a": [1]}') == {"a": [1]}
    with pytest.raises(ValueError, match="brackets"):
        from_json("[" * 100_000)


def test_depth_is_what_stays_open() -> None:
    assert not is_too_deep("[]{}" * 10_000)
    assert not is_too_deep("[" * DEEPEST)
    assert is_too_deep("[{" * DEEPEST)


@pytest.mark.parametrize("name", ["cluster.yaml", "cluster.json"])
def test_a_cluster_of_brackets(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("[" * 100_000)
    with pytest.raises(BadInput, match="brackets"):
        load_cluster(str(tmp_path / name))


@pytest.mark.parametrize("name", ["sweep.yaml", "sweep.toml"])
def test_a_sweep_of_brackets(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("a = " + "[" * 100_000)
    with pytest.raises(BadInput, match="brackets"):
        read_sweep(tmp_path / name)


def test_no_suggestion_for_what_nobody_typed() -> None:
    assert did_you_mean("fiffo", ["fifo"])
    assert not did_you_mean("fifo" * LONGEST, ["fifo" * LONGEST])
