"""What the guide shows is what runs."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

import pytest

from heddle.cli.main import run
from heddle.policy.reference import page
from heddle.traces.clusters import load_cluster
from heddle.traces.load import load_workload

ROOT = Path(__file__).parents[1]


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / "docs" / page).read_text(), flags=re.DOTALL)


@pytest.mark.parametrize(
    ("example", "mark"), [("shortest_first", "@ordering()"), ("recent_peak", "@sizing("), ("two_pools", "@partition(")]
)
def test_a_lever_of_the_guide_is_the_example_that_a_test_runs(example: str, mark: str) -> None:
    (lever,) = [block for block in blocks("guide.md", "python") if mark in block]
    assert (ROOT / "examples" / f"{example}.py").read_text().endswith(lever)


def test_the_reference_of_levers_is_what_their_declarations_say() -> None:
    """If it is not: python -m heddle.policy.reference > docs/levers-reference.md"""
    assert (ROOT / "docs" / "levers-reference.md").read_text() == page()


@pytest.mark.parametrize("where", ["cli", "api"])
def test_the_references_of_commands_and_python_are_what_the_code_says(where: str) -> None:
    """If one is not: python -m heddle.cli.reference > docs/cli-reference.md; the same with api."""
    written = importlib.import_module(f"heddle.{where}.reference").page()
    assert (ROOT / "docs" / f"{where}-reference.md").read_text() == written


def test_the_reference_of_levers_leaves_nothing_unsaid() -> None:
    assert re.findall(r"\| `(\w+)` \|(?: `[^`]*` \|)?(?: per resource\.)? *\|$", page(), flags=re.MULTILINE) == []


def test_the_files_of_the_guide_can_be_read(tmp_path: Path) -> None:
    (tasks,) = blocks("guide.md", "csv")
    (cluster,) = blocks("guide.md", "yaml")
    (tmp_path / "tasks.csv").write_text(tasks)
    (tmp_path / "production.yaml").write_text(cluster)
    assert load_workload(str(tmp_path / "tasks.csv")).n_tasks == 3
    assert load_cluster(str(tmp_path / "production.yaml")).n_nodes == 20


def test_the_python_of_the_guide_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tasks.csv").write_text(blocks("guide.md", "csv")[0])
    monkeypatch.chdir(tmp_path)
    (code,) = [block for block in blocks("guide.md", "python") if "simulate(" in block]
    exec(code, {})
    assert capsys.readouterr().out.startswith("65.0\n")


def test_the_sweep_of_its_page_can_be_run_and_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (text,) = blocks("sweeps.md", "yaml")
    (tmp_path / "sizing.yaml").write_text(text.replace("seeds: 5 ", "seeds: 1 ").replace("[20]", "[5]"))
    monkeypatch.chdir(tmp_path)
    assert run(["sweep", "run", "sizing.yaml", "-o", "results", "--on", "local:1"]) == 0
    names: dict[str, Any] = {}
    (code,) = blocks("sweeps.md", "python")
    *before, last = code.strip().splitlines()
    exec("\n".join(before), names)
    assert eval(last, names).height == 3 * 3


def test_the_settings_of_the_guide_are_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (text,) = blocks("guide.md", "toml")
    (tmp_path / "heddle.toml").write_text(text)
    monkeypatch.chdir(tmp_path)
    assert run(["policies"]) == 0


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "CONTRIBUTING.md",
        "docs/guide.md",
        "docs/architecture.md",
        "docs/glossary.md",
        "docs/statistics.md",
        "docs/sweeps.md",
        "docs/effects.md",
        "docs/effects-in-detail.md",
        "docs/papers/network-aware.md",
    ],
)
def test_links_lead_somewhere(page: str) -> None:
    targets = re.findall(r"\]\(([^)#]+)", (ROOT / page).read_text())
    missing = [target for target in targets if not ((ROOT / page).parent / target).exists()]
    assert missing == []
