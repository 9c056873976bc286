"""The ablation: 128 different policies, on workloads that were split before, and what each can show."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from cli.schemas import valid
from heddle.cli import ablation as command
from heddle.cli.main import run
from heddle.experiments.ablation.factors import (
    FACTORS,
    PAPERS,
    PLACEMENT,
    SIZING,
    all_combinations,
    policy_of,
    shown_by,
)
from heddle.experiments.ablation.plan import STOCK, Extent, acting_executor, plan_ablation
from heddle.experiments.ablation.scenes import CHOOSING, NAMES, SCORING, scene_of
from heddle.experiments.effects.scenes import built_in
from heddle.policy.parse import parse_policy
from heddle.traces.load import load_workload
from traces.formats.importing import SHARED, here_or_skip


def test_every_combination_is_a_policy_of_its_own() -> None:
    policies = {str(parse_policy(policy_of(chosen))) for chosen in all_combinations()}
    assert len(policies) == 2 ** len(FACTORS)
    assert policy_of(frozenset()) == "capacity"
    assert policy_of(PAPERS["HaSTE"]) == "capacity+haste"
    assert policy_of(PAPERS["HaSTE-A"]) == "capacity+haste-a"


def test_what_can_be_acted_on() -> None:
    by = {chosen: acting_executor(policy_of(chosen)) for chosen in all_combinations()}
    assert {chosen for chosen, executor in by.items() if executor is None} == {
        chosen for chosen in by if PLACEMENT.name in chosen
    }
    assert {chosen for chosen, executor in by.items() if executor == "yarn-knobs"} == {
        chosen for chosen in by if chosen <= {"admission", "sizing", "share"}
    }


def test_choosing_and_scoring_share_no_workload() -> None:
    assert set(CHOOSING) | set(SCORING) == set(NAMES)
    assert not set(CHOOSING) & set(SCORING)


def test_what_workloads_can_show(tmp_path: Path) -> None:
    for folder in ("ksegments_eager", "sizey_nextflow", "wfinstances", "coflow_fb2010"):
        here_or_skip(folder)
    shown = {}
    for name in NAMES:
        scene = scene_of(name, SHARED, tmp_path)
        assert not isinstance(scene, str), scene
        shown[name] = shown_by(load_workload(scene.workload, 0), scene.cluster)
    recorded = ("ksegments-eager", "nextflow-rnaseq", "nextflow-chipseq", "workflows", "coflows")
    assert [SIZING.name in shown[name] for name in recorded] == [True, True, True, False, False]
    assert [PLACEMENT.name in shown[name] for name in recorded] == [False, False, False, True, True]


def test_a_scene_without_its_trace_is_left_out(tmp_path: Path) -> None:
    assert "left out" in str(scene_of("coflows", tmp_path, tmp_path))


def test_the_plan() -> None:
    plan = plan_ablation(Extent((built_in("am-storm"),), loads=(0.7, 1.0), seeds=3, acting_seeds=2))
    native = [one for one in plan.runs if one.executor == "native"]
    assert len(native) == (128 + len(STOCK)) * 2 * 3
    acting = [one for one in plan.runs if one.executor != "native"]
    assert {one.source.load for one in acting} == {1.0}
    assert len({one.key for one in plan.runs}) == len(plan.runs)


def test_the_command_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "QUICK", ("am-storm",))
    given = ["reproduce", "weave", "--quick", "-o", str(tmp_path / "runs"), "--on", "local:1"]
    assert run([*given, "--json"]) == 0
    said = capsys.readouterr()
    document = valid("reproduce weave", json.loads(said.out))
    # An AM storm is what admission control is for.
    assert document["main_effects"]["admission"]["change_pct"] < -20
    assert {frozenset(one["parts"]) for one in document["combinations"]} == set(all_combinations())
    assert run([*given, "--markdown", str(tmp_path)]) == 0
    went_on = capsys.readouterr().err
    assert sum(map(int, re.findall(r"(\d+) are done", went_on))) == document["runs"], (
        "of the factorial and of all forms"
    )
    page = (tmp_path / "weave-ablation.md").read_text()
    assert "cannot show: records no bytes" in page
    assert "times the lower bound" in page


def test_options_that_weave_has_not() -> None:
    assert run(["reproduce", "weave", "--report", "x.html"]) == 2
    assert run(["reproduce", "haste", "--output", "x"]) == 2
