"""An id that is none of YARN's is a malformed answer: ids become parts of addresses, of files' names and of tables."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from heddle.yarn.live.bridge.listening import _new
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.ids import application_id, application_of_job, attempt_id, container_name, node_id, task_id
from heddle.yarn.live.polling import take_snapshot
from heddle.yarn.live.rm_answers import read_container_starts, read_nodes, rows_under
from heddle.yarn.live.wire import YarnError
from heddle.yarn.observe.outlines import outline_of

from .fake_rm import FakeRm

APPLICATION = "application_1700000000000_0001"
STRANGE = ("../../etc", "{}/../../x", "{}\n", "{} ", "{}?x=1", "{}#", "{}%2f", "{}\x1b[2J", "", "{}_x", "x{}", None, 7)
KINDS = [
    (application_id, APPLICATION),
    (attempt_id, "appattempt_1700000000000_0001_000001"),
    (container_name, "container_e17_1700000000000_0001_01_000001"),
    (container_name, "container_1700000000000_0001_01_1000001"),
    (task_id, "task_1700000000000_0001_m_000000"),
    (node_id, "worker7.rack-1.example:8041"),
    (node_id, "worker_1:45454"),
    (node_id, "10.0.0.7:8041"),
    (node_id, "[fe80::1]:8041"),
]


@pytest.mark.parametrize(("read", "like"), KINDS)
def test_only_what_looks_like_one_is_an_id(read: Callable[[Any], Any], like: str) -> None:
    found = read(like)
    assert (found if isinstance(found, str) else found[0]) == like
    for strange in STRANGE:
        if read is node_id and strange == "x{}":
            continue
        with pytest.raises(ValueError, match=r" id$"):
            read(strange.format(like) if isinstance(strange, str) else strange)
    with pytest.raises(ValueError, match=r" id$"):
        read(like.replace("1", "١"))  # a digit, but none of YARN's
    with pytest.raises(ValueError, match=r" id$"):
        read(re.sub(r"\d", "", like))


def test_a_job_is_its_application() -> None:
    assert application_of_job("job_1700000000000_0001") == APPLICATION
    with pytest.raises(ValueError, match="no job id"):
        application_of_job("job_1_1/../..")


def test_strange_ids_make_an_answer_unreadable(rm: FakeRm, client: RmClient) -> None:
    rm.add_node("a:1", 8192, 8)
    app = rm.add_app()
    rm.start_am(app, "a:1", 512, 1)
    seen = take_snapshot(client, 0)
    rows = {path: getattr(client, path)() for path in ("nodes", "apps")}
    containers = client.containers(app.id, app.attempt_id)
    assert containers is not None

    (row,) = rows_under(rows["nodes"], "nodes", "node")
    with pytest.raises(YarnError, match=r"nodes: the answer cannot be read .* is no node id"):
        read_nodes({"nodes": {"node": [row | {"id": "a/../b:1"}]}}, "rm")
    (whole,) = rows_under(containers, "container")
    with pytest.raises(YarnError, match="is no container id"):
        read_container_starts({"container": [whole | {"containerId": "../x"}]}, seen.apps[app.id], "rm")
    (row,) = rows_under(rows["apps"], "apps", "app")
    for field, strange in (("id", "../../x"), ("currentAppAttemptId", "x/../y")):
        rm.instead["/apps"] = 200, json.dumps({"apps": {"app": [row | {field: strange}]}})
        with pytest.raises(YarnError, match="apps: the answer cannot be read"):
            take_snapshot(client, 0)
    del rm.instead["/apps"]
    path = f"/apps/{app.id}/appattempts/{app.attempt_id}/containers"
    rm.instead[path] = 200, json.dumps({"container": [whole | {"assignedNodeId": "a:1\nb"}]})
    with pytest.raises(YarnError, match="is no node id"):
        take_snapshot(client, 0)


def test_an_application_that_is_to_be_submitted(client: RmClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "_call", lambda *_: {"application-id": "../x"})
    with pytest.raises(YarnError, match=r"new-application: the answer cannot be read .* is no application id"):
        client.new_application()


def test_ids_of_the_bridge_and_of_applications_that_have_ended() -> None:
    asked = {"app": "x\ny", "priority": 0, "memory_mb": 1, "millicores": 1, "allocation": 0, "containers": 1}
    with pytest.raises(ValueError, match="no application id"):
        _new(asked)
    assert _new(asked | {"app": APPLICATION}).app == APPLICATION
    with pytest.raises(ValueError, match="no application id"):
        outline_of({"id": "../x"})
