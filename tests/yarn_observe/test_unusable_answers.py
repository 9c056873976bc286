"""Answers of daemons in which a field is not what it should be: an error that says so, nothing that is written down."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fuzz.served import BETWEEN, client_of
from heddle.yarn.live.bridge.leaves import bridged_leaves
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.rm_answers import read_nodes
from heddle.yarn.live.things_seen import AppSeen, NodeSeen
from heddle.yarn.live.wire import YarnError
from heddle.yarn.observe.history import History
from heddle.yarn.observe.journal import Journal, read_lines
from heddle.yarn.observe.node_containers import NodeContainers
from heddle.yarn.observe.outlines import finished, finished_mapreduce
from heddle.yarn.observe.past_jobs import read_past_job
from heddle.yarn.observe.remote_tracker import NAME, Worker, reports_of
from heddle.yarn.observe.seen import AppLife, Seen

APP = "application_1_0001"
NO_TEXT = ({"no": "such"}, ["no", "such"], None)
NO_NUMBER = ("many", {"no": "such"}, float("nan"), float("inf"), 10**30)

JOB = {"state": "SUCCEEDED"}
MASTER = {"id": 1, "containerId": "container_1_0001_01_000001", "nodeId": "a:1", "startTime": 5}
TASK = {"id": "task_1_0001_m_000000", "type": "MAP", "state": "SUCCEEDED", "startTime": 5, "finishTime": 9}
ATTEMPT = {
    "id": "attempt_1_0001_m_000000_0", "assignedContainerId": "container_1_0001_01_000002", "type": "MAP",
    "state": "SUCCEEDED", "nodeHttpAddress": "a:8042", "startTime": 5, "finishTime": 9, "diagnostics": "",
}  # fmt: skip
COUNTER = {"name": "CPU_MILLISECONDS", "totalCounterValue": 7, "mapCounterValue": 7, "reduceCounterValue": 0}
MEMORY = {"name": "mapreduce.map.memory.mb", "value": "1024"}
ROW = {
    "id": "job_1_0001", "name": "sort", "queue": "default", "user": "ann", "state": "SUCCEEDED", "submitTime": 1,
    "startTime": 2, "finishTime": 9, "mapsTotal": 1, "reducesTotal": 0,
}  # fmt: skip
ENDED = {
    "id": APP, "name": "sort", "queue": "default", "user": "ann", "applicationType": "MAPREDUCE", "startedTime": 1,
    "launchTime": 2, "finishedTime": 9, "finalStatus": "FAILED", "memorySeconds": 7, "vcoreSeconds": 7,
    "diagnostics": "it failed",
}  # fmt: skip
BEAN = {
    "name": f"{NAME}container_1_0001_01_000002", "PMemUsageMBsNumUsage": 3, "PMemUsageMBsAvgMBs": 100.0,
    "PCpuUsagePercentAvgPercents": 50.0, "FinishTime": 0,
}  # fmt: skip
CONTAINER = {
    "id": "container_1_0001_01_000002",
    "state": "RUNNING",
    "totalMemoryNeededMB": 1024,
    "totalVCoresNeeded": 1,
}
NODE = {
    "id": "a:1", "nodeHostName": "a", "state": "RUNNING", "usedMemoryMB": 0, "availMemoryMB": 1, "usedVirtualCores": 0,
    "availableVirtualCores": 1, "nodeLabels": ["fast"], "memUtilization": 5.0,
    "resourceUtilization": {"nodePhysicalMemoryMB": 1, "nodeCPUUsage": 0.5},
}  # fmt: skip


def answers(*some: dict[str, Any]) -> RmClient:
    return client_of(BETWEEN.join(json.dumps(one).encode() for one in some))


def counters_of(counter: dict[str, Any]) -> dict[str, Any]:
    return {"jobCounters": {"counterGroup": [{"counter": [counter]}]}}


def wrong(row: dict[str, Any], texts: str, numbers: str) -> list[Any]:
    """Every field of these, each with what it cannot be."""
    cases = [(key, value) for key in texts.split() for value in NO_TEXT if value is not None or key not in OPTIONAL]
    cases += [(key, value) for key in numbers.split() for value in NO_NUMBER]
    return [pytest.param({**row, key: value}, id=f"{key} is {str(value)[:20]}") for key, value in cases]


OPTIONAL = {"diagnostics", "nodeHttpAddress", "applicationType"}  # null is as good as none


def read_job(path: Any, master: Any = MASTER, attempt: Any = ATTEMPT, counter: Any = COUNTER, job: Any = JOB) -> None:
    """All of a job by the observer's reader; it keeps nothing of one that cannot be read."""
    seen = Seen()
    seen.apps[APP] = AppLife(APP, "sort", "MAPREDUCE", "default", "ann", 1, 2, 9, "SUCCEEDED", 7, 7)
    client = answers(
        {"job": job}, {"jobAttempts": {"jobAttempt": [master]}}, {"tasks": {"task": [TASK]}},
        {"taskAttempts": {"taskAttempt": [attempt]}}, counters_of(counter), {"conf": {"property": [MEMORY]}},
    )  # fmt: skip
    file = path / "journal"
    try:
        History(client, Journal(file), seen).poll()
    except YarnError:
        assert not file.exists() or not list(read_lines(file))
        raise
    assert APP in seen.histories


def test_a_whole_history_is_read(tmp_path: Any) -> None:
    read_job(tmp_path)


@pytest.mark.parametrize("row", wrong(ATTEMPT, "id assignedContainerId type state diagnostics", "startTime finishTime"))
def test_an_attempt(row: dict[str, Any], tmp_path: Any) -> None:
    with pytest.raises(YarnError, match="the answer cannot be read"):
        read_job(tmp_path, attempt=row)


@pytest.mark.parametrize("row", wrong(MASTER, "id containerId nodeId", "startTime"))
def test_an_attempt_of_the_am(row: dict[str, Any], tmp_path: Any) -> None:
    with pytest.raises(YarnError, match="the answer cannot be read"):
        read_job(tmp_path, master=row)


def test_a_job_and_a_counter(tmp_path: Any) -> None:
    with pytest.raises(YarnError, match="is not a text"):
        read_job(tmp_path, job={"state": ["SUCCEEDED"]})
    with pytest.raises(YarnError, match="beyond all bounds"):
        read_job(tmp_path, counter={**COUNTER, "totalCounterValue": 2**63})
    read_job(tmp_path, counter={**COUNTER, "totalCounterValue": 2**63 - 1})  # bytes may be as many


@pytest.mark.parametrize("row", wrong(COUNTER, "name", "mapCounterValue"))
def test_a_job_of_the_past(row: dict[str, Any]) -> None:
    conf = {"conf": {"property": [MEMORY]}}
    tasks = {"tasks": {"task": [TASK]}}
    assert read_past_job(answers(tasks, counters_of(COUNTER), conf), APP).counters["MAP"] == {"CPU_MILLISECONDS": 7}
    with pytest.raises(YarnError, match="the answer cannot be read"):
        read_past_job(answers(tasks, counters_of(row), conf), APP)


@pytest.mark.parametrize("row", wrong(ROW, "id name queue user", "startTime finishTime mapsTotal"))
def test_a_job_in_outline(row: dict[str, Any]) -> None:
    assert len(finished_mapreduce(answers({"jobs": {"job": [ROW]}}), 0, 1000, 1)) == 1
    with pytest.raises(YarnError, match="the answer cannot be read"):
        finished_mapreduce(answers({"jobs": {"job": [row]}}), 0, 1000, 1)


@pytest.mark.parametrize(
    "row", wrong(ENDED, "id name queue user applicationType diagnostics", "startedTime finishedTime memorySeconds")
)
def test_an_application_in_outline(row: dict[str, Any]) -> None:
    assert len(finished(answers({"apps": {"app": [ENDED]}}), 0, 1000, 1)) == 1
    with pytest.raises(YarnError, match="the answer cannot be read"):
        finished(answers({"apps": {"app": [row]}}), 0, 1000, 1)


@pytest.mark.parametrize("row", wrong(BEAN, "name", "PMemUsageMBsAvgMBs PCpuUsagePercentAvgPercents"))
def test_a_bean_of_a_nodemanager(row: dict[str, Any]) -> None:
    good, bad = Worker(answers({"beans": [BEAN]})), Worker(answers({"beans": [BEAN, row]}))
    assert len(reports_of(good)) == 1
    assert reports_of(bad) == []
    assert "the answer cannot be read" in bad.why_not


@pytest.mark.parametrize("row", wrong(CONTAINER, "id", "totalMemoryNeededMB totalVCoresNeeded"))
def test_a_container_of_a_nodemanager(row: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    node = NodeSeen("a:1", "a", "", "RUNNING", "", (8, 8), (1, 1), 0, 0, 0, 0, http="a:8042")
    app = AppSeen(APP, "default", "ann", True, 0, 1, True, "", ())
    rm = answers({})
    for rows, found in (([CONTAINER], 1), ([CONTAINER, row], 0)):
        monkeypatch.setattr(rm, "elsewhere", lambda *_, rows=rows: answers({"containers": {"container": rows}}))
        containers, silent = NodeContainers(rm).read([node], {APP: app})
        assert (len(containers), bool(silent)) == (found, not found)


@pytest.mark.parametrize("row", wrong(NODE, "id nodeHostName state", "usedMemoryMB availableVirtualCores"))
def test_a_node(row: dict[str, Any]) -> None:
    assert read_nodes({"nodes": {"node": [NODE]}}, "rm").keys() == {"a:1"}
    with pytest.raises(YarnError, match="the answer cannot be read"):
        read_nodes({"nodes": {"node": [row]}}, "rm")


def test_use_that_is_no_number_is_below_no_limit() -> None:
    """Of a machine of which YARN knows no size it says NaN: then nothing is known; anywhere else it is an error."""
    nan = float("nan")
    (node,) = read_nodes({"nodes": {"node": [{**NODE, "memUtilization": nan}]}}, "rm").values()
    assert node.memory_share is None
    with pytest.raises(YarnError, match="nan is no number that can be meant"):
        read_nodes({"nodes": {"node": [{**NODE, "resourceUtilization": {"nodeCPUUsage": nan}}]}}, "rm")
    with pytest.raises(YarnError, match="is not a text"):
        read_nodes({"nodes": {"node": [{**NODE, "nodeLabels": [{"no": "such"}]}]}}, "rm")


def test_queues_settings_and_what_changes_are_answered_with() -> None:
    scheduler = {"scheduler": {"schedulerInfo": {"type": "capacityScheduler", "queueName": {"no": "such"}}}}
    with pytest.raises(YarnError, match="is not a text"):
        bridged_leaves(scheduler, "rm")
    with pytest.raises(YarnError, match="is not a text"):
        answers({"property": [{"name": "a", "value": {"no": "such"}}]}).scheduler_settings()
    assert answers({"property": {"value": ["no", "such"]}}).setting("a") is None
    with pytest.raises(YarnError, match="no size in the answer"):
        answers({"resourceInfo": 5}).resize_node("a:1", 1024, 1)
    answers({"priority": {"no": "such"}}).set_priority(APP, 3)  # whatever it says then: it is read again
