"""The same random runs over blocks of a few tasks: to the byte what they are with all jobs in memory."""

from __future__ import annotations

import pytest

from heddle.model.errors import RunRefused
from heddle.policy.parse import parse_policy
from in_blocks import compared, in_order

from .runs import CLASS_A, CLASS_B, golden_run
from .test_golden import some


@pytest.mark.parametrize("numbers", [*some(CLASS_A), *some(CLASS_B)], ids=str)
def test_blocks_change_nothing(numbers: range) -> None:
    several = 0  # runs in which rows moved
    for run in map(golden_run, numbers):
        if run.executor != "native" or run.workload.running_on is not None or not in_order(run.workload):
            continue
        try:
            policy, tasks = parse_policy(run.policy), 1 + run.number % 9
            told = compared(run.workload, run.cluster, policy, run.seed, tasks, run.until_ms)
        except RunRefused:
            continue
        except AssertionError as error:
            raise AssertionError(f"run {run.number}: {run.policy}, blocks of {tasks}") from error
        several += len(told.windows) > 1
    assert several > 2
