"""The AM deadlock before it happens, in storms that are simulated; and none where all is quiet."""

from __future__ import annotations

from functools import cache

import pytest

from cli.documents import document
from heddle.cli.main import run
from heddle.run import simulate
from heddle.traces.catalogue import make_workload, suggested_cluster
from heddle.twin.cutting import Cutting
from heddle.twin.forecast import Forecast, forecast
from heddle.twin.rollouts import Candidate

RAMP = "am-storm(jobs=90, window_s=300)"  # submissions over five minutes
POLICY = "fair+am-share(percent=1.0)"  # AMs may hold everything


@cache
def storm(spec: str, policy: str) -> tuple[Cutting, str]:
    workload, cluster = make_workload(spec), suggested_cluster(spec)
    ended = simulate(workload, cluster, policy, record=True)
    return Cutting(ended, workload, cluster), str(ended.manifest["reason"])


def told(spec: str, policy: str, at_ms: int) -> Forecast:
    cutting, _ = storm(spec, policy)
    return forecast(cutting.at(at_ms), [Candidate.of(policy, "native")], 300_000, "here", 3)


def test_a_storm_that_builds_up_is_told_a_minute_ahead_with_the_am_share_that_prevents_it() -> None:
    cutting, reason = storm(RAMP, POLICY)
    assert reason.startswith("am-deadlock")
    masters = [one.master_runs for one in cutting.at(cutting.last_ms).live if one.master_runs]
    certain_ms = cutting.last_ms - min(one.worked_ms for one in masters)  # the last AM that found room
    found = told(RAMP, POLICY, certain_ms - 60_000).deadlocks[POLICY]
    assert found.probability >= 0.5
    assert found.at_ms > 0
    assert found.share_permille is not None
    again, finished = storm(RAMP, f"fair+am-share(percent={found.share_permille / 1000})")
    assert (finished, None in again.ended_ms.values()) == ("None", False)


def test_one_that_is_certain_is_told_with_who_is_in_it() -> None:
    found = told("am-storm", "fifo", 30_000)
    assert found.deadlocks["fifo"].probability == 1
    assert len(found.deadlocks["fifo"].applications) == 32


@pytest.mark.parametrize("at_ms", [60_000, 200_000])
def test_where_am_shares_hold_nothing_is_told(at_ms: int) -> None:
    assert told(RAMP, "fair+am-share(percent=0.3)", at_ms).deadlocks == {}


def test_the_command_warns_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("twin", "am-storm", "--policy", "fifo", "--at", "4s", "--horizon", "5m", "--rollouts", "2")
    (policy,) = document(capsys, *arguments)["policies"]
    assert policy["deadlock"]["probability"] == 1
    assert run([*arguments]) == 0
    assert "application masters fill the cluster" in capsys.readouterr().out
