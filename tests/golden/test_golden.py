"""Random runs: those of class A do what they did when digests.json was written, to the byte; those of class B, which
are meant to change, do what the reference simulator does. digests.json keeps what class B did too, to see what changes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from engine_trace import differences, trace_of
from heddle.model.workload import NOT_RUNNING
from heddle.policy.lever import Question
from heddle.policy.parse import parse_policy
from reference import Observation, Policy, Running, simulate

from .deeds import digest, done, ended
from .record import DIGESTS
from .runs import CLASS_A, CLASS_B, GoldenRun, golden_run

AT_ONCE = 20  # runs in one test
HOW_TO_LOOK = "python -m tests.golden.record --show NUMBER, here and at an older commit; compare the two with diff"


def some(numbers: range) -> list[range]:
    return [numbers[first : first + AT_ONCE] for first in range(0, len(numbers), AT_ONCE)]


@pytest.mark.parametrize("numbers", some(CLASS_A), ids=str)
def test_class_a_does_what_it_did(numbers: range) -> None:
    recorded = json.loads(DIGESTS.read_text())["A"]
    changed = []
    for run in map(golden_run, numbers):
        was = recorded[str(run.number)]
        assert was["policy"] == run.policy, "runs.py has changed: the records are of other runs"
        if digest(*done(run)) != was["digest"]:
            changed.append(f"run {run.number} does something else: {run.policy}, seed {run.seed}")
    assert not changed, "\n".join([*changed, HOW_TO_LOOK])


@pytest.mark.parametrize("numbers", some(CLASS_B), ids=str)
def test_class_b_does_what_the_reference_does(numbers: range) -> None:
    for run in map(golden_run, numbers):
        found = differences(trace_of(ended(run)), reference_trace(run, for_the_reference(run.policy)))
        assert not found, "\n".join([f"run {run.number}: {run.policy}", *found[:12], HOW_TO_LOOK])


def for_the_reference(text: str) -> Policy:
    """The levers that the string stands for. Presets and who overrides whom are the grammar's, not the reference's."""
    levers = parse_policy(text).by_question
    return Policy(**{q.name.lower(): (levers[q].name, _plain(levers[q].values)) for q in Question})


def _plain(values: Mapping[str, object]) -> dict[str, object]:
    """Whole numbers as such: the reference counts with them."""
    return {k: int(v) if isinstance(v, float) and v == int(v) else v for k, v in values.items()}


def reference_trace(run: GoldenRun, policy: Policy):  # type: ignore[no-untyped-def]
    seen = run.cluster.observation
    return simulate(
        run.workload,
        run.cluster,
        policy,
        run.seed,
        until_ms=run.until_ms,
        running=_running(run),
        observation=Observation(seen.poll_ms, seen.lag_ms, seen.loss_permyriad, seen.latency_ms),
        executor=run.executor,
    )


def _running(run: GoldenRun) -> dict[int, Running]:
    """The containers that it begins with."""
    workload = run.workload
    if workload.running_on is None:
        return {}
    number = {node.name: n for n, node in enumerate(run.cluster.nodes)}
    return {
        task: Running(number[workload.hosts[host]], int(workload.started_at_ms[task]))
        for task, host in enumerate(workload.running_on)
        if host != NOT_RUNNING
    }
