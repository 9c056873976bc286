"""Workloads that begin with running containers: the engine against runs worked out by hand."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest

from engine_trace import engine_trace
from heddle.model.workload import Workload
from reference.worked_example import SEED, Example
from reference.worked_starting_state import EXAMPLES


def beginning_with_its_containers(worked: Example) -> Workload:
    workload = worked.workload
    running_on, started_at_ms = np.full(len(workload.tasks), -1, np.int32), np.zeros(len(workload.tasks), np.int64)
    for task, running in worked.running.items():
        running_on[task], started_at_ms[task] = running.node, running.started_at_ms
    hosts = tuple(node.name for node in worked.cluster.nodes)
    return dataclasses.replace(workload, running_on=running_on, started_at_ms=started_at_ms, hosts=hosts)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda make: make.__name__)
def test_engine(example: Callable[[], Example]) -> None:
    worked = example()
    workload = beginning_with_its_containers(worked)
    worked.check(engine_trace(workload, worked.cluster, worked.policy, SEED, worked.until_ms))
