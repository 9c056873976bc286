"""What the bridge survives on a real YARN that schedules asynchronously, preempts, and labels its nodes.

One cluster for all of it, and two jobs that always wait for more: by whose turn it is one sees whether a table decides.
docs/bridge.md says which guard each of these tests.
"""

from __future__ import annotations

import getpass
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from heddle.yarn.live.bridge.endpoint import BridgeEndpoint, read_secret
from heddle.yarn.live.bridge.leaves import bridged_leaves
from heddle.yarn.live.bridge.table import RequestRow, Table
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.wire import YarnError
from heddle.yarn.testbed.bridge.jar import bridge_jar
from heddle.yarn.testbed.bridge.settings import SECRET_NAME, lay_out
from heddle.yarn.testbed.local.cluster import RM, LocalCluster, node_role
from heddle.yarn.testbed.local.layout import Layout
from heddle.yarn.testbed.replay.master_jar import master_jar
from heddle.yarn.testbed.replay.plan import ReplayJob
from heddle.yarn.testbed.replay.submit import Submitter
from yarn_steering.watching import wait_for

from .conftest import NODE_MB, NODE_VCORES, free_port
from .deciding import CAPACITY, LEASE_MS, Deciding
from .live import PATIENT_S, STARTS_S, application, containers_of, has_nodes, totals
from .own_daemons import configured, rm_admin

ONE, TWO, LABELLED, PASSING = "root.one", "root.two", "root.labelled", "root.passing"
LABEL = "fast"
TASK = "task 0 1000 40:10:10000"


@pytest.fixture(scope="module")
def guarded(hadoop: None, own_state: Path) -> Iterator[LocalCluster]:
    layout = Layout(
        nodes=2,
        node_memory_mb=NODE_MB,
        node_vcores=NODE_VCORES,
        port=free_port(),
        bridge=True,
        queues=(("one", 50), ("two", 50), ("labelled", 0), ("passing", 0)),
        preemption=True,
    )
    labels = own_state / "labels"
    settings = {
        "yarn-site.xml": {
            "yarn.admin.acl": getpass.getuser(),
            "yarn.scheduler.configuration.store.class": "file",  # with any other, YARN does not refresh queues
            "yarn.node-labels.enabled": "true",
            "yarn.node-labels.fs-store.root-dir": labels.as_uri(),
        },
        "capacity-scheduler.xml": {
            f"{CAPACITY}.schedule-asynchronously.enable": "true",
            f"{CAPACITY}.schedule-asynchronously.scheduling-interval-ms": "20",
        },
    }
    with configured("guarded", layout, settings) as cluster:
        lay_out(cluster.bridge, bridge_jar(layout.hadoop))
        for role in (RM, node_role(0), node_role(1)):
            cluster.start_daemon(role)
        with RmClient(layout.rm, timeout_s=PATIENT_S, user=getpass.getuser()) as rm:
            wait_for(lambda: has_nodes(rm, 2), STARTS_S)
        yield cluster


@pytest.fixture(scope="module")
def deciding(guarded: LocalCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deciding]:
    """Two jobs of one leaf that wait for more than there is."""
    with RmClient(guarded.layout.rm, timeout_s=PATIENT_S, user=getpass.getuser()) as rm:
        endpoint = BridgeEndpoint(rm, read_secret(guarded.bridge / SECRET_NAME))
        submitter = Submitter(rm, tmp_path_factory.mktemp("staging"), master_jar(guarded.layout.hadoop))
        made = Deciding(guarded, rm, endpoint, submitter, (ONE, TWO, LABELLED))
        made.submit_two_that_wait(ONE)
        yield made


@pytest.fixture
def pair(deciding: Deciding) -> tuple[str, str]:
    return deciding.jobs["a"], deciding.jobs["b"]


def test_asynchronous_scheduling_goes_by_the_table(deciding: Deciding, pair: tuple[str, str]) -> None:
    a, b = pair
    assert "asynchronousScheduling=true" in deciding.cluster.log(RM).read_text()
    deciding.goes_first(b, a)
    deciding.goes_first(a, b)
    deciding.nothing_went_wrong()


def test_who_is_no_admin_is_refused_with_the_right_secret_too(deciding: Deciding) -> None:
    version = deciding.put(deciding.jobs["a"])
    with RmClient(deciding.rm.address, timeout_s=PATIENT_S, user="somebody") as client:
        somebody = BridgeEndpoint(client, read_secret(deciding.cluster.bridge / SECRET_NAME))
        somebody._instance, somebody._version = deciding.endpoint._instance, version + 100  # what an eavesdropper knows
        tried: list[Callable[[], object]] = [
            somebody.state,
            lambda: somebody.put(Table("key", (), {}, (ONE,)), LEASE_MS),
            somebody.drop,
            somebody.turn_on,
            lambda: somebody.requests_after(0, 0),
            lambda: somebody.allocations_after(0),
        ]
        for doing in tried:
            with pytest.raises(YarnError, match=r"somebody is not in yarn\.admin\.acl") as refused:
                doing()
            assert refused.value.status == 403
    state = deciding.endpoint.state()
    assert state is not None
    assert state.table == version


def test_refreshed_queues_still_go_by_the_table(deciding: Deciding, pair: tuple[str, str]) -> None:
    """YARN makes ordering policies anew: nothing that matters may be in them."""
    a, b = pair
    deciding.goes_first(b, a)
    deciding.refresh({f"{TWO}.maximum-applications": "99"})
    state = deciding.endpoint.state()
    assert state is not None
    assert state.table is not None  # still in force
    deciding.goes_first(b, a)
    deciding.goes_first(a, b)
    deciding.nothing_went_wrong()


def test_an_application_that_is_moved_is_bound_by_no_old_table(deciding: Deciding, pair: tuple[str, str]) -> None:
    a, b = pair
    version = deciding.put(a, (ONE,))
    deciding.rm.move(b, TWO)
    # The table still names it in the leaf that it has left, and does not speak of the other: stock order there.
    before = len(deciding.given(0, b))
    wait_for(lambda: len(deciding.given(0, b)) > before, LEASE_MS / 2000)  # and not only when the lease is over
    state = deciding.endpoint.state()
    assert state is not None
    assert state.table == version
    deciding.leaf_of[b] = TWO
    version = deciding.put(b)
    wait_for(lambda: bool(deciding.put(b)) and bool(deciding.given(version, b)), STARTS_S)
    deciding.rm.move(b, ONE)
    deciding.leaf_of[b] = ONE
    deciding.goes_first(b, a)
    deciding.nothing_went_wrong()


def test_a_leaf_that_is_deleted_under_a_table(deciding: Deciding, pair: tuple[str, str]) -> None:
    a, b = pair
    assert PASSING in bridged_leaves(deciding.rm.scheduler(), "")
    ghost = RequestRow("application_1_0001", 1, -1, PASSING, (512, 1000), 0)
    version = deciding.endpoint.put(Table("key", (ghost,), {}, (ONE, TWO, PASSING)), LEASE_MS)
    deciding.refresh({f"{PASSING}.state": "STOPPED"})
    deciding.refresh({"root.queues": "one,two,labelled"})
    assert PASSING not in bridged_leaves(deciding.rm.scheduler(), "")
    state = deciding.endpoint.state()
    assert state is not None
    assert state.table == version
    deciding.goes_first(a, b)
    deciding.nothing_went_wrong()


class Labelling(RmClient):
    """Submits applications whose containers want a label."""

    def submit(self, application: dict[str, Any]) -> None:
        wants = {f"{of}-node-label-expression": LABEL for of in ("app", "am-container")}
        super().submit({**application, **wants})


def test_node_labels_are_yarns(deciding: Deciding, pair: tuple[str, str], tmp_path: Path) -> None:
    """A table names requests that may not go to a node. YARN says so after us, and nobody is given one."""
    a, b = pair
    plain, labelled = sorted(totals(deciding.rm))
    rm_admin(deciding.cluster, "-addToClusterNodeLabels", f"{LABEL}(exclusive=true)")
    of_label = f"accessible-node-labels.{LABEL}.capacity"
    deciding.refresh(
        {
            f"root.{of_label}": "100",
            f"{LABELLED}.{of_label}": "100",
            f"{LABELLED}.accessible-node-labels": LABEL,
        }
    )
    rm_admin(deciding.cluster, "-replaceLabelsOnNode", f"{labelled}={LABEL}")
    version = deciding.put(a)
    with Labelling(deciding.rm.address, timeout_s=PATIENT_S, user=getpass.getuser()) as rm:
        submitter = Submitter(rm, tmp_path, master_jar(deciding.cluster.layout.hadoop))
        app = submitter.submit(ReplayJob("labelled", 0, LABELLED, 0, (256, 1), (), 1, ("stage 512 1 -", TASK)), 0)
        deciding.leaf_of[app] = LABELLED
    wait_for(lambda: bool(deciding.put(a)) and application(deciding.rm, app)["state"] == "RUNNING", STARTS_S)
    master, *_ = (one for one in deciding.endpoint.allocations_after(0) if one["app"] == app)
    assert (master["priority"], master["node"]) == (0, labelled)
    deciding.goes_first(a, b)
    assert {one["node"] for one in deciding.given(version + 1, a, b)} == {plain}
    deciding.rm.kill(app)
    rm_admin(deciding.cluster, "-replaceLabelsOnNode", f"{labelled}=")
    deciding.nothing_went_wrong()


def test_preemption_takes_from_who_has_too_much(deciding: Deciding, pair: tuple[str, str]) -> None:
    """The one leaf holds all there is. The other is due half of it, and is given that by the table."""
    for app in pair:
        deciding.rm.kill(app)
    greedy = deciding.submit("greedy", ONE, 12, 600)
    wait_for(lambda: bool(deciding.put(greedy)) and len(containers_of(deciding.rm, greedy)) >= 8, STARTS_S)
    due = deciding.submit("due", TWO, 6, 600)
    version = deciding.put(due)
    wait_for(lambda: bool(deciding.put(due)) and len(deciding.given(version, due)) >= 2, STARTS_S)
    assert application(deciding.rm, greedy)["state"] == "RUNNING"
    assert application(deciding.rm, greedy)["preemptedResourceMB"] > 0
    deciding.nothing_went_wrong()
    for app in (greedy, due):
        deciding.rm.kill(app)
    deciding.endpoint.drop()
