"""A check that is given away has no name in it, wherever the cluster, its answers and its files hold one."""

from __future__ import annotations

import getpass
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from check.fake_past import add_past
from cli.schemas import valid
from heddle.check import policies
from heddle.check.anonymous import Pseudonyms
from heddle.check.present import Present
from heddle.cli.main import run
from heddle.model.cluster import Cluster, LabelShare, Node, Queue
from heddle.traces.build import JobSpec, StageSpec, TaskSpec
from heddle.traces.cluster_import.imported import Left
from yarn_live.fake_rm import FakeRm

SECRET = "zebra"  # in every name; in nothing that heddle says by itself
CAPACITY = "capacity-scheduler.xml"
FAIR = "fair-scheduler.xml"


@pytest.fixture(autouse=True)
def one_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each policy: nothing here depends on intervals."""
    monkeypatch.setattr(policies, "SEEDS", {})
    monkeypatch.setattr(policies, "FEW", 1)


@pytest.fixture
def rm() -> Iterator[FakeRm]:
    """Everything in it has a name; of its settings it tells nothing but who was refused what."""
    with FakeRm() as fake:
        fake.leaves = {"default": (50.0, 100.0), "batch": (25.0, 50.0), f"{SECRET}-queue": (25.0, 50.0)}
        for number in range(6):
            fake.add_node(f"{SECRET}{number}:1", 16384, 16)
            fake.nodes[f"{SECRET}{number}:1"].containers_memory_mb = 2300
        fake.add_node(f"{SECRET}-gone:1", 16384, 16)
        fake.nodes[f"{SECRET}-gone:1"].state = "LOST"
        for number, app in enumerate(add_past(fake, 40, minutes=100)):
            app.name, app.user, app.queue = f"{SECRET}-job-{number % 4} {number}", f"{SECRET}-user", f"{SECRET}-queue"
            if number % 4 == 0:
                app.final_status, app.diagnostics = "FAILED", f"user {SECRET} is unknown on {SECRET}7"
        fake.instead["/conf"] = 403, f"User {SECRET} may not see settings of {SECRET}-queue"
        yield fake


def told(capsys: pytest.CaptureFixture[str], tmp_path: Path, *arguments: str) -> str:
    """All that a check leaves to be shown: its JSON, its page, and what it prints."""
    page = tmp_path / "check.html"
    common = ["check", *arguments, "--anonymise", "--report", str(page), "--max-calls-per-s", "1000"]
    assert run([*common, "--json"]) == 1
    document: dict[str, Any] = valid("check", json.loads(capsys.readouterr().out))
    assert document["jobs"]["known"], "nothing was known of any job, so nothing was shown of it"
    assert run(common) == 1
    return json.dumps(document) + page.read_text() + capsys.readouterr().out


def assert_nobody(text: str, address: str) -> None:
    found = [text[max(0, at - 80) : at + 40] for at in range(len(text)) if text.startswith(SECRET, at)]
    assert found == []
    assert address.partition("//")[2] not in text
    assert f"user.name={getpass.getuser()}" not in text


def test_refusals_and_servers_that_fail_tell_nothing(
    rm: FakeRm, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    busy_now = rm.add_app(f"{SECRET}-queue", f"{SECRET}-user")
    busy_now.name, busy_now.submitted_at_ms = f"{SECRET}-job", rm.now_ms - 600_000
    busy_now.asks = [(0, 1024, 1, 1)]
    with FakeRm() as history:
        history.instead["/ws/v1/history/mapreduce/jobs"] = 500, f"no room left on {SECRET}1"
        text = told(
            capsys, tmp_path, rm.address, "--history", history.address, "--spark-history", history.address,
        )  # fmt: skip
        assert_nobody(text, rm.address)
        assert_nobody(text, history.address)
    assert "assumed to be 1024, YARN's default" in text, "what is assumed is still said"
    assert "yarn.scheduler.minimum-allocation-mb" in text, "and of which setting, where heddle asked for it"
    assert "part of the history: a server or a file could not be read" in text


def test_what_is_watched_tells_nothing(rm: FakeRm, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    app = rm.add_app(f"{SECRET}-queue", f"{SECRET}-user")
    app.name, app.submitted_at_ms = f"{SECRET}-job 77", rm.now_ms
    rm.start_am(app, f"{SECRET}0:1", 1024, 1)
    rm.allocate(app, f"{SECRET}1:1", 2048, 1)
    assert_nobody(told(capsys, tmp_path, rm.address, "--for", "1s"), rm.address)


@pytest.mark.parametrize("file", [CAPACITY, FAIR])
def test_files_of_settings_tell_nothing(
    file: str, rm: FakeRm, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    prefix = "yarn.scheduler.capacity"
    rows = {
        f"{prefix}.root.queues": f"default,{SECRET}-queue", f"{prefix}.root.default.capacity": "60",
        f"{prefix}.root.{SECRET}-queue.capacity": "40", f"{prefix}.root.default.acl_submit_applications": SECRET,
        f"{prefix}.root.default.user-settings.{SECRET}.weight": "2", f"{prefix}.{SECRET}": "1",
        f"{prefix}.queue-mappings": f"u:{SECRET}:default", f"{prefix}.maximum-applications": f"for {SECRET}",
        f"org.{SECRET}.password": SECRET,
    }  # fmt: skip
    texts = {
        CAPACITY: "<configuration>"
        + "".join(f"<property><name>{name}</name><value>{value}</value></property>" for name, value in rows.items())
        + "</configuration>",
        FAIR: f'<allocations><queue name="{SECRET}-queue"><aclSubmitApps>{SECRET}</aclSubmitApps>'
        f'<{SECRET}>1</{SECRET}><schedulingPolicy>{SECRET}</schedulingPolicy></queue><queue name="default"/>'
        f'<user name="{SECRET}"><maxRunningApps>1</maxRunningApps></user></allocations>',
    }
    (tmp_path / file).write_text(texts[file])
    text = told(capsys, tmp_path, rm.address, "--conf", str(tmp_path))
    assert_nobody(text, rm.address)
    assert "a setting of the cluster" in text


def test_of_what_is_simulated_nothing_has_its_name() -> None:
    """Today no page shows machines, racks, labels or stages; what a simulation says of a stall may."""
    names = Pseudonyms()
    node = Node(f"{SECRET}1", (1, 1), (1, 1), rack=f"{SECRET}-rack", label=f"{SECRET}-label")
    queue = Queue(f"root.{SECRET}", labels=(LabelShare(f"{SECRET}-label"),))
    present = Present(Cluster((node,), queues=(queue,)), 1024, (Left(f"queue {SECRET}", SECRET, "made on demand"),))
    hidden = names.present(present)
    stages = [
        StageSpec("map-0", (1, 1), [TaskSpec(1, prefers=f"{SECRET}1")], label=f"{SECRET}-label"),
        StageSpec(f"{SECRET}.scala:7", (1, 1), [TaskSpec(1)], after=("map-0", f"{SECRET}.scala:7")),
    ]
    (job,) = names.details({"application_1_1": JobSpec("application_1_1", 0, stages)}).values()
    assert SECRET not in repr(hidden)
    assert SECRET not in repr(job)
    first, second = job.stages
    assert (first.name, first.after) == ("map-0", ()), "names that are heddle's own are kept"
    assert second.after == ("map-0", second.name), "and what belongs together stays together"
    assert first.label == hidden.cluster.nodes[0].label == hidden.cluster.queues[0].labels[0].label
    assert first.tasks[0].prefers == hidden.cluster.nodes[0].name
