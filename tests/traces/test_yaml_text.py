"""What YAML's parser lets pass and nobody means."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from heddle.experiments.sweep_file import read_sweep
from heddle.model.errors import BadInput
from heddle.traces.clusters import load_cluster
from heddle.traces.problems import Problems
from heddle.traces.yaml_text import LONGEST_NUMBER, MOST_VALUES, from_yaml
from heddle.yarn.testbed.mixture import load_real_jobs

READERS: tuple[Callable[[str], Any], ...] = (load_cluster, load_real_jobs, lambda text: read_sweep(Path(text)))


def aliases(line: str, levels: int, begin: str) -> str:
    above = (line.format(at=level, below=level - 1) for level in range(1, levels))
    return f"a0: &a0 {begin}\n" + "".join(f"a{level}: &a{level} {text}\n" for level, text in enumerate(above, 1))


MERGES = aliases("{{<<: [*a{below}, *a{below}]}}", 40, "{k: 1}")
LISTS = aliases("[*a{below}, *a{below}]", 40, "[1]")


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("content", [MERGES, LISTS], ids=["merges", "lists"])
def test_aliases_that_stand_for_billions_are_refused_by_every_reader(
    reader: Callable[[str], Any], content: str, tmp_path: Path
) -> None:
    file = tmp_path / "bomb.yaml"
    file.write_text(content)
    began_s = time.process_time()
    with pytest.raises(BadInput, match=r"bomb.yaml.*aliases stand for [\d,]+ values"):
        reader(str(file))
    assert time.process_time() - began_s < 5


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("a: &a [1, *a]", ":1: not YAML: an alias stands for something that it is part of"),
        (f"a: {'9' * LONGEST_NUMBER}\nb: {'9' * (LONGEST_NUMBER + 1)}", ":2: not YAML: a number of 101 characters"),
        ("a: 1" + ":59" * 300_000, ":1: not YAML: a number of 900,001 characters"),
        ("when: 2020-13-45", "not YAML: month must be in 1..12"),
        ("a: [1\nb: 2", ":2: not YAML"),
        ("a: !!python/name:os.system", ":1: not YAML: could not determine a constructor"),
        (aliases("[*a{below}]", 500, "1"), "more than 200 deep"),
        ("- " * 10_000, "more than 200 deep"),
        ("[" * 10_000, "brackets"),
    ],
    ids=["in itself", "digits", "sexagesimal", "date", "syntax", "tag", "deep aliases", "deep", "brackets"],
)
def test_what_cannot_be_read_says_where(content: str, says: str) -> None:
    with pytest.raises(BadInput) as refused:
        from_yaml(content, Problems("it.yaml"))
    assert str(refused.value).startswith("it.yaml")
    assert says in str(refused.value)


@pytest.mark.parametrize("reader", READERS)
def test_a_key_given_twice_is_bad_input_of_every_reader(reader: Callable[[str], Any], tmp_path: Path) -> None:
    file = tmp_path / "twice.yaml"
    file.write_text("jobs: [{kind: replay, workload: x.csv}]\nseeds: 1\nseeds: 2\n")
    with pytest.raises(BadInput, match=r"twice.yaml:3: seeds: the key is given twice"):
        reader(str(file))


def test_aliases_and_merges_that_are_meant_well() -> None:
    problems = Problems("it.yaml")
    assert from_yaml("base: &b {x: 1, y: 2}\nmine: {<<: *b, y: 3}\nall: [*b, *b]", problems) == {
        "base": {"x": 1, "y": 2}, "mine": {"x": 1, "y": 3}, "all": [{"x": 1, "y": 2}] * 2,
    }  # fmt: skip
    assert from_yaml("", problems) is None
    assert not problems.found
    shared = "a: &a [1, 2, 3]\nb:\n" + "- *a\n" * 1000
    assert len(from_yaml(shared, problems)["b"]) == 1000


def test_a_large_file_may_have_more_values_than_the_limit() -> None:
    """Only what aliases add is limited."""
    lines = "- [" + "1," * 100 + "]\n"
    assert len(from_yaml(lines * 120, Problems("it.yaml"))) == 120
    assert MOST_VALUES > 120 * 100
