"""YARN's FifoScheduler has no knobs, and counts memory alone. Its runs worked out by hand: worked_fifo.py."""

from __future__ import annotations

import pytest

from heddle.model.errors import RunRefused
from heddle.policy.parse import parse_policy
from heddle.run import simulate
from heddle.stock_yarn.outside import refuse_without_knobs
from reference.worked_example import SEED
from reference.worked_fifo import memory_alone_counts


def test_no_knob_makes_yarn_a_fifo_scheduler() -> None:
    worked = memory_alone_counts()
    with pytest.raises(RunRefused, match=r"fifo\(yarn=true\) is a scheduler of its own"):
        refuse_without_knobs(parse_policy("fifo(yarn=true)"), worked.workload, worked.cluster)


def test_vcores_that_do_not_count_are_not_promised_twice() -> None:
    worked = memory_alone_counts()
    run = simulate(worked.workload, worked.cluster, "fifo(yarn=true)", seed=SEED, check=True)
    assert run.manifest["outcome"] == "finished"
