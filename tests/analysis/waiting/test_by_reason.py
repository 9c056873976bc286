"""What all jobs of a run waited for adds up from what each of them did."""

from __future__ import annotations

from collections import Counter

import pytest

from heddle.analysis.waiting.by_reason import waits_by_reason
from heddle.analysis.waiting.explain import explain
from heddle.model.errors import RunRefused
from heddle.run import simulate
from heddle.traces.catalogue import make_workload, suggested_cluster


def test_reasons_are_those_that_explain_gives() -> None:
    run = simulate(make_workload("am-storm(jobs=20)", 1), suggested_cluster("am-storm"), "capacity", record=True)
    waits = waits_by_reason(run)
    causes: Counter[str] = Counter()
    for job in range(20):
        causes.update(explain(run, job).causes_ms)
    waiting = {cause: ms for cause, ms in causes.items() if "waits" in cause}
    assert sum(waits.ms.values()) == sum(waiting.values()) > 0
    assert waits.ms["the queue's AM share is used up"] == sum(ms for why, ms in waiting.items() if "AM share" in why)
    behind = {why: ms for why, ms in waits.ms.items() if why.startswith("behind others:") or why == "others come first"}
    assert sum(behind.values()) == sum(ms for why, ms in waiting.items() if "others come first" in why)
    assert max(behind, key=lambda why: behind[why]) == "behind others: the queue's AM share is used up"
    assert waits.jobs == 20
    assert sum(waits.shares.values()) == pytest.approx(1.0)


def test_a_run_without_reasons_is_refused() -> None:
    run = simulate(make_workload("am-storm(jobs=2)", 1), suggested_cluster("am-storm"), "capacity")
    with pytest.raises(RunRefused, match="no wait reasons"):
        waits_by_reason(run)
