"""`heddle effects`: the small matrix that CI runs, and how runs are kept and taken up again."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from cli.schemas import valid
from heddle.cli.main import run
from heddle.experiments.effects.plan import Extent, plan_effects, policies_of
from heddle.experiments.effects.scenes import LONGEST_S, RECORDED, WINDOW_S, Scene, built_in, recorded
from heddle.traces.load import load_workload

SHARED = Path(__file__).resolve().parents[3] / "shared" / "traces"
FEEDBACK, ADMISSION = "capacity+usage-feedback", "capacity+admission-control"


def test_all_combinations_are_joined_and_those_with_knobs_run_by_both_executors() -> None:
    assert len(policies_of("fair", only_with_knobs=False)) == 32
    with_knobs = policies_of("capacity", only_with_knobs=True)
    assert len(with_knobs) == 8
    assert with_knobs[0] == "capacity"
    plan = plan_effects(Extent((built_in("mix(jobs=4)"),), ("capacity", "fair"), seeds=2, only_with_knobs=False))
    natively = [one for one in plan.runs if one.executor == "native"]
    assert len(natively) == 2 * 32 * 2
    by_knobs = {one.policy for one in plan.runs if one.executor == "yarn-knobs"}
    assert {one for one in by_knobs if one.startswith("capacity")} == set(with_knobs)
    assert {one for one in by_knobs if one.startswith("fair")} == {"fair", "fair+usage-feedback"}  # no others are live
    assert built_in("mix(jobs=4)").about.endswith("in three queues. Here with jobs=4.")
    assert len({one.key for one in plan.runs}) == len(plan.runs) == 2 * (64 + 8 + 2)


def test_the_quick_matrix(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Eight policies, capacity, two workloads, one seed."""
    page, folder = tmp_path / "effects.md", tmp_path / "runs"
    command = ["effects", "--quick", "--on", "local:1", "-o", str(folder), "--markdown", str(page)]
    assert run([*command, "--json"]) == 0
    found = valid("effects", json.loads(capsys.readouterr().out))
    assert list(found["workloads"]) == ["mix", "am-storm"]
    assert len(found["cells"]) == len(found["native_and_knobs"]) == 2 * 8
    cells = {(one["workload"], one["policy"]): one for one in found["cells"]}
    assert cells["mix", FEEDBACK]["change_pct"] < -20
    assert cells["am-storm", ADMISSION]["change_pct"] < -40
    beside = {(one["workload"], one["policy"]): one for one in found["native_and_knobs"]}
    apart = [policy for (_, policy), one in beside.items() if one["agree"] == "no" and not one["yarn_lacks"]]
    assert all("dress" in policy for policy in apart)  # nobody outside knows a job's demand before its AM asks
    assert beside["am-storm", "capacity+dress"]["agree"] == "yes"
    text = page.read_text()
    assert "Written by `heddle effects --quick`" in text
    assert all(f"| {policy} | mix |" in text for policy in policies_of("capacity", only_with_knobs=True))
    assert "Nothing is recommended: one seed" in text
    assert "| `am-storm`: 4 nodes of 16 GB and 16 vcores |" in text
    details = tmp_path / "effects-in-detail.md"
    assert f"]({details.name})" in text
    assert f"]({page.name})" in details.read_text()

    assert run(command) == 0  # nothing runs again
    shown = capsys.readouterr()
    assert "32 runs, 32 are done" in shown.err
    assert "once more" not in shown.err
    assert "DAU" in shown.out
    assert page.read_text() == text


@pytest.mark.parametrize("arguments", [["-w", "nix"], ["--queues", "drf"], ["--traces", "nowhere"]])
def test_what_is_not_of_the_matrix_is_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["effects", *arguments]) == 2
    assert arguments[1] in capsys.readouterr().err


def test_traces_that_are_not_here_are_left_out_with_a_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["effects", "-w", RECORDED[0].name, "--traces", str(tmp_path)]) == 2
    assert f"{RECORDED[0].name} is left out: there is no {RECORDED[0].path}" in capsys.readouterr().err


@pytest.mark.parametrize("one", RECORDED, ids=lambda one: one.name)
def test_an_hour_of_a_recorded_trace_can_be_resampled_and_knows_its_use(one: object, tmp_path: Path) -> None:
    if not SHARED.is_dir():
        reason = "no ../shared/traces here"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    (hour,) = [known for known in RECORDED if known is one]
    scene = recorded(hour, SHARED, tmp_path)
    assert isinstance(scene, Scene)
    assert f"heddle effects -w {hour.name} --traces" in scene.about
    assert hour.path in scene.about
    jobs = load_workload(scene.workload)
    assert jobs.has_use
    assert jobs.n_jobs > 200
    assert jobs.jobs["submit_at_ms"].max() < 1000 * WINDOW_S
    assert jobs.tasks["duration_ms"].max() <= 1000 * LONGEST_S
    plan = plan_effects(Extent((scene,), ("capacity",), seeds=3, only_with_knobs=True))
    assert {run.sampling.kind for run in plan.runs} == {"blocks"}
