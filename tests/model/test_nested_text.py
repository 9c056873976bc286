"""Brackets without end are bad input, soon."""

import time
from pathlib import Path

import pytest

from heddle.experiments.sweep_file import read_sweep
from heddle.model.errors import BadInput
from heddle.model.nested_text import DEEPEST, from_json, from_toml, is_too_deep
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


@pytest.mark.parametrize(
    "text", ["a." * 100_000 + "b = 1", "[" + '"a,".' * 100_000 + "b]", "a = {" + "b." * 100_000 + "c = 1}"]
)
def test_toml_with_keys_of_more_parts_than_anybody_means(text: str) -> None:
    with pytest.raises(ValueError, match="more than 200 parts"):
        from_toml(text)


def test_toml_with_dots_elsewhere() -> None:
    many = "0.1, " * 1000
    text = f'a = [{many}]\nb = "{"." * 1000}"\n'
    assert from_toml(text) == {"a": [0.1] * 1000, "b": "." * 1000}


@pytest.mark.parametrize("quotes", ['\\"', "'\"", '"\\"'])
def test_quotes_without_end_are_soon_over(quotes: str) -> None:
    began_s = time.process_time()
    with pytest.raises(ValueError, match="line 1"):
        from_toml(quotes * 300_000)
    assert time.process_time() - began_s < 5


def test_a_number_that_python_does_not_read() -> None:
    with pytest.raises(ValueError, match="4300"):
        from_toml("a = " + "1" * 5000)
