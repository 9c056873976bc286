"""The clock of a ResourceManager is set forward and back while a table of the bridge is in force."""

from __future__ import annotations

import getpass
import shutil
import struct
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from heddle.yarn.live.bridge.endpoint import BridgeEndpoint, read_secret
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.wire import YarnError
from heddle.yarn.testbed.bridge.jar import bridge_jar
from heddle.yarn.testbed.bridge.settings import JAR_NAME, SECRET_NAME, lay_out, rm_settings
from heddle.yarn.testbed.local.cluster import RM, LocalCluster, node_role
from heddle.yarn.testbed.local.layout import Layout
from heddle.yarn.testbed.replay.master_jar import master_jar
from heddle.yarn.testbed.replay.submit import Submitter
from yarn_steering.watching import wait_for

from .conftest import NODE_MB, NODE_VCORES, absent, free_port
from .deciding import LEASE_MS, Deciding
from .live import PATIENT_S, STARTS_S, has_nodes
from .own_daemons import configured, set_in, start_rm

LEAF = "root.default"
HOUR_S = 3600


class Clock:
    """Of one process; `variables`: what its environment needs for it."""

    def __init__(self, folder: Path) -> None:
        self._file, library = folder / "off", folder / "stepped_clock.so"
        self.set(0)
        source = Path(__file__).with_name("stepped_clock.c")
        compiler = shutil.which("cc") or absent("needs a C compiler")
        subprocess.run([str(compiler), "-shared", "-fPIC", "-o", library, source], check=True, timeout=120)
        self.variables = {"LD_PRELOAD": str(library), "HEDDLE_CLOCK_OFF": str(self._file)}

    def set(self, off_s: int) -> None:
        with self._file.open("r+b" if self._file.exists() else "wb") as file:  # in place: the process has it mapped
            file.write(struct.pack("=q", off_s))


@pytest.fixture
def clock(hadoop: None, tmp_path: Path) -> Clock:
    return Clock(tmp_path)


@pytest.fixture
def deciding(clock: Clock, own_state: Path, tmp_path: Path) -> Iterator[Deciding]:
    layout = Layout(nodes=2, node_memory_mb=NODE_MB, node_vcores=NODE_VCORES, port=free_port(), bridge=True)
    user = getpass.getuser()
    with configured("clock", layout, {}) as cluster, RmClient(layout.rm, timeout_s=PATIENT_S, user=user) as rm:
        start_with(clock, cluster)
        wait_for(lambda: has_nodes(rm, 2), STARTS_S)
        endpoint = BridgeEndpoint(rm, read_secret(cluster.bridge / SECRET_NAME))
        submitter = Submitter(rm, tmp_path / "staging", master_jar(layout.hadoop))
        yield Deciding(cluster, rm, endpoint, submitter, (LEAF,))


def start_with(clock: Clock, cluster: LocalCluster) -> None:
    """The ResourceManager goes by this clock, its nodes by that of the machine."""
    lay_out(cluster.bridge, bridge_jar(cluster.layout.hadoop))
    set_in(cluster.conf / "yarn-site.xml", rm_settings(cluster.bridge))
    start_rm(cluster, RM, cluster.conf, jars=f"{cluster.bridge / JAR_NAME}:", variables=clock.variables)
    for number in range(cluster.layout.nodes):
        cluster.start_daemon(node_role(number))


@pytest.mark.long
def test_a_lease_lasts_as_long_as_it_should_whatever_the_clock_says(deciding: Deciding, clock: Clock) -> None:
    a, b = deciding.submit_two_that_wait(LEAF)
    deciding.goes_first(b, a)

    version, put_at = deciding.put(b), time.monotonic()
    clock.set(HOUR_S)
    held = table_of(deciding)
    if time.monotonic() - put_at < LEASE_MS / 1000:
        assert held == version  # forward: it has not run out
    with pytest.raises(YarnError, match="its time is more than a minute from the ResourceManager's"):
        deciding.put(a)
    wait_for(lambda: table_of(deciding) is None, STARTS_S)  # nobody can prolong it, so stock order returns

    clock.set(0)
    deciding.goes_first(a, b)

    deciding.put(a)
    clock.set(-HOUR_S)
    wait_for(lambda: table_of(deciding) is None, STARTS_S)  # back: it has not become an hour longer
    clock.set(0)
    deciding.goes_first(b, a)
    deciding.nothing_went_wrong()


def table_of(deciding: Deciding) -> int | None:
    state = deciding.endpoint.state()
    assert state is not None
    return state.table
