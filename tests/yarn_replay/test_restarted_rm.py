"""Jobs of a ResourceManager that is restarted while they run."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from heddle.yarn.testbed import run_jobs as running
from heddle.yarn.testbed.replay.plan import ReplayJob
from heddle.yarn.testbed.run_jobs import PATIENCE_S, JobRun, Workplace, run_jobs

APP = {"id": "application_1_1", "startedTime": 1000, "launchTime": 2000, "state": "RUNNING"}
ENDED = APP | {
    "state": "FINISHED", "finalStatus": "SUCCEEDED", "finishedTime": 9000, "memorySeconds": 1, "vcoreSeconds": 1,
}  # fmt: skip


class Rm:
    """Answers what it is told to, one after the other, then always the last."""

    def __init__(self, answers: list[dict[str, Any] | None]) -> None:
        self._answers = answers

    def new_application(self) -> str:
        return "application_1_1"

    def submit(self, _: dict[str, Any]) -> None:
        pass

    def app(self, _: str) -> dict[str, Any] | None:
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        return None if answer is None else {"app": answer}


def run_of(answers: list[dict[str, Any] | None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> JobRun:
    """A minute passes between two looks."""
    now_s = [0.0]

    def sleep(_: float) -> None:
        now_s[0] += 60

    monkeypatch.setattr(running, "time", SimpleNamespace(monotonic=lambda: now_s[0], sleep=sleep))
    jar = tmp_path / "master.jar"
    jar.touch()
    job = ReplayJob("job", 0, "root.default", 0, (256, 1000), (), 1, ())
    (run,) = run_jobs([job], Workplace(Rm(answers), tmp_path / "staging", jar), lambda _: None)  # type: ignore[arg-type]
    return run


def test_a_job_that_a_restarted_rm_does_not_know_yet_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It answers while it still recovers its state: long after the submission, and no reason to give a job up."""
    looks = 1 + round(PATIENCE_S // 60)
    run = run_of([*[APP] * looks, None, None, *[APP] * looks, None, ENDED], tmp_path, monkeypatch)
    assert run.outcome == "SUCCEEDED"


def test_a_job_that_is_not_known_for_long_is_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run_of([APP, None], tmp_path, monkeypatch).outcome == "FORGOTTEN"
