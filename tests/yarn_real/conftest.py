import fcntl
import getpass
import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from heddle.model.errors import HeddleError
from heddle.yarn.live.client import RmClient
from heddle.yarn.testbed.local.cluster import LocalCluster, bring_up, take_down
from heddle.yarn.testbed.local.folders import jar_cache
from heddle.yarn.testbed.local.jars import DEFAULT_HADOOP, hadoop_home, is_fetched
from heddle.yarn.testbed.local.java import find_java, find_tool
from heddle.yarn.testbed.local.layout import Layout
from heddle.yarn.testbed.replay.master_jar import master_jar
from heddle.yarn.testbed.replay.plan import ReplayJob
from heddle.yarn.testbed.replay.submit import Submitter

NODES, NODE_MB, NODE_VCORES = 2, 2048, 8


GROUP = "real-yarn"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All in one process, or each worker would start a cluster of its own."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.xdist_group(GROUP))


@pytest.fixture(scope="session", autouse=True)
def in_one_process(request: pytest.FixtureRequest) -> None:
    """Two clusters at once starve each other on a small machine: tests then fail that have nothing wrong with them."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        ours = (item.nodeid for item in request.session.items if Path(__file__).parent in item.path.parents)
        assert all(name.endswith(f"@{GROUP}") for name in ours), "not grouped: use --dist loadgroup and pytest < 9.2"


def absent(reason: str) -> None:
    """A skip for people; a failure where everything must be there."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"needed with CI=true: {reason}")
    pytest.skip(reason)


def free_port(width: int = 40) -> int:
    """The first of a block of ports that nobody has, away from those that the kernel gives out."""
    for first in range(20_000 + os.getpid() % 50 * width, 32_000, width):
        try:
            for port in range(first, first + width):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", port))
        except OSError:
            continue
        return first
    raise AssertionError("no free block of ports")


@pytest.fixture(scope="session")
def hadoop() -> None:
    """Java and Hadoop's jars, or the reason why these tests cannot run."""
    try:
        find_java()
        if not is_fetched(DEFAULT_HADOOP):
            find_tool("mvn")
            _fetch_or_wait()
    except HeddleError as error:
        absent(str(error))


def _fetch_or_wait() -> None:
    """Of several test processes one fetches Hadoop, the others wait until it is there."""
    jar_cache().mkdir(parents=True, exist_ok=True)
    with (jar_cache() / ".tests.lock").open("a") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        hadoop_home(DEFAULT_HADOOP)


@pytest.fixture(scope="session", autouse=True)
def own_state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Clusters and baselines of these tests never mix with the user's."""
    folder = tmp_path_factory.mktemp("state")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder))
        yield folder


@pytest.fixture(scope="session")
def cluster(hadoop: None, own_state: Path) -> Iterator[LocalCluster]:
    layout = Layout(nodes=NODES, node_memory_mb=NODE_MB, node_vcores=NODE_VCORES, port=free_port())
    made = bring_up("session", layout, print)
    try:
        yield made
    finally:
        take_down("session")
        assert made.processes() == []
        assert not made.folder.exists()


@pytest.fixture
def rm(cluster: LocalCluster) -> Iterator[RmClient]:
    with RmClient(cluster.layout.rm, timeout_s=60, user=getpass.getuser()) as client:
        yield client


@pytest.fixture
def submit(cluster: LocalCluster, rm: RmClient, tmp_path: Path) -> Callable[[ReplayJob], str]:
    """submit(job): a replayed job on the real cluster; its application's id."""
    submitter = Submitter(rm, tmp_path / "staging", master_jar(cluster.layout.hadoop))
    return lambda job: submitter.submit(job, 0)
