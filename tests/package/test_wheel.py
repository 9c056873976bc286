"""The wheel, built as the Containerfile builds it and tried in an environment that has nothing else.

Building it builds the docs' site, with warnings and dead links as errors.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from package.containerfile import ROOT, build, stages

pytestmark = pytest.mark.xdist_group("wheel")
Heddle = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def heddle(tmp_path_factory: pytest.TempPathFactory) -> Heddle:
    """Runs the installed command, in a folder far from the checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    asked = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder), "build"]
    if os.environ.get("CI") != "true" and subprocess.run(asked, capture_output=True).returncode:
        pytest.skip("no package index can be reached: heddle's dependencies cannot be installed anew")
    making, final = stages()
    places = {"/src": ROOT, "/wheel": folder / "dist", "/opt/heddle/compiled": folder / "compiled"}
    build(making, folder / "build", places)
    variables = build(final, folder / "bare", places)
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        program = folder / "bare" / "bin" / words[0]
        return subprocess.run(
            [program, *words[1:]], env=variables, cwd=elsewhere, capture_output=True, text=True, timeout=300
        )

    return run


def document(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_it_installs_no_tools_of_developers(heddle: Heddle) -> None:
    listed = {one["name"].lower() for one in json.loads(heddle("pip", "list", "--format", "json").stdout)}
    assert "heddle" in listed
    assert listed & {"mypy", "pytest", "ruff", "ortools", "hypothesis", "sphinx", "simpy", "build"} == set()


@pytest.mark.skipif(platform.machine() != "x86_64", reason="a wheel carries compiled code for x86-64-v3 only")
def test_it_finds_all_well_and_compiles_nothing(heddle: Heddle) -> None:
    findings = {one["what"]: one for one in document(heddle("heddle", "doctor", "--json"))["findings"]}
    assert "the engine is compiled" in findings["cache"]["detail"]
    done = heddle("heddle", "simulate", "mix", "--policy", "drf", "--json")
    assert document(done)["outcome"] == "finished"
    assert done.stderr == ""
    ask = "import sys; from heddle.cli.main import run; run(['-q', 'simulate', 'mix']); print('numba' in sys.modules)"
    assert heddle("python", "-c", ask).stdout.endswith("False\n")


def test_examples_and_docs_come_with_it(heddle: Heddle) -> None:
    found = document(heddle("heddle", "docs", "guide", "--json"))
    assert Path(found["file"]).is_file()
    assert {"index", "semantics", "papers/dress", "cli-reference"} <= set(found["pages"])
    assert heddle("heddle", "docs", "yarn", "--text").stdout.startswith("# A real YARN")
    assert heddle("heddle", "docs", "--examples", "mine").returncode == 0
    own = document(
        heddle("heddle", "simulate", "burst", "--policy", "./mine/shortest_first.py:shortest_first", "--json")
    )
    assert own["outcome"] == "finished"


def test_pages_load_nothing_from_elsewhere(heddle: Heddle) -> None:
    site = Path(document(heddle("heddle", "docs", "--json"))["file"]).parent
    assert (site / "searchindex.js").is_file()
    loaded = [
        line
        for page in site.rglob("*.html")
        for line in page.read_text().splitlines()
        if ("<script" in line or "<link" in line or "<img" in line) and ('="http' in line or '="//' in line)
    ]
    assert loaded == []


def test_what_is_no_python_is_there_too(heddle: Heddle) -> None:
    code = """
from importlib.resources import files
package = files("heddle")
for name in ("yarn/testbed/replay/ReplayMaster.java", "yarn/testbed/sls/SchedulerLoad.java", "py.typed",
             "reproduce/constants/dress.toml"):
    assert package.joinpath(name).is_file(), name
"""
    assert heddle("python", "-c", code).stderr == ""


def test_bench_says_what_it_needs(heddle: Heddle) -> None:
    refused = heddle("heddle", "bench", "--quick")
    assert refused.returncode == 2
    assert "source checkout" in refused.stderr
