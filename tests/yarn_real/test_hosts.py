"""`heddle yarn up --hosts`: NodeManagers in network namespaces, on a real YARN. Needs root and iproute2."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from heddle.cli.main import run
from heddle.model.errors import RunRefused
from heddle.record.files import read_record
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build, constant
from heddle.traces.parquet import write_parquet
from heddle.yarn.testbed.local import namespaces
from heddle.yarn.testbed.local.cluster import LocalCluster, bring_up, take_down
from heddle.yarn.testbed.local.folders import cluster_folder
from heddle.yarn.testbed.local.layout import Layout
from heddle.yarn.testbed.local.namespaces import bridge_of, free_subnet, inside, join_nodes, part_nodes, sent_bytes

from .conftest import free_port

MBIT = 8
SENT_BYTES = 4_000_000
RECEIVE = """
import socket, sys
server = socket.create_server((sys.argv[1], int(sys.argv[2])))
print("listens", flush=True)
connection, _ = server.accept()
received = 0
while part := connection.recv(65536):
    received += len(part)
connection.sendall(b"%d" % received)
"""
SEND = """
import socket, sys, time
began = time.monotonic()
with socket.create_connection((sys.argv[1], int(sys.argv[2]))) as connection:
    connection.sendall(bytes(int(sys.argv[3])))
    connection.shutdown(socket.SHUT_WR)
    assert int(connection.recv(100)) == int(sys.argv[3])
print(time.monotonic() - began)
"""


@pytest.fixture(scope="module")
def root() -> None:
    try:
        namespaces.refuse_without_namespaces()
    except RunRefused as error:
        pytest.skip(str(error))  # in our CI too: not every machine lets its root make namespaces


def left_of(folder: Path) -> list[str]:
    devices = [entry.name for place in ("/run/netns", "/sys/class/net") for entry in Path(place).iterdir()]
    return [name for name in devices if name.startswith(bridge_of(folder))]


@pytest.fixture(scope="module")
def hosts(hadoop: None, root: None, own_state: Path) -> Iterator[LocalCluster]:
    made = bring_up("hosts", Layout(nodes=2, node_memory_mb=1024, port=free_port(), hosts=True, link_mbit=MBIT), print)
    try:
        yield made
    finally:
        take_down("hosts")
        assert made.processes() == []
        assert left_of(made.folder) == []


def test_a_job_runs_on_nodes_with_addresses_of_their_own(
    hosts: LocalCluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tasks = tmp_path / "tasks.csv"
    tasks.write_text("job,submit_ms,duration_ms,vcores,memory_mb\na,0,1000,1,256\n")
    assert run(["yarn", "run", str(tasks), "--name", "hosts", "--json"]) == 0
    capsys.readouterr()
    assert run(["yarn", "status", "--name", "hosts", "--json"]) == 0
    (shown,) = json.loads(capsys.readouterr().out)["clusters"]
    assert shown["hosts"]
    assert shown["link_mbit"] == MBIT
    assert len({url.rpartition(":")[0] for url in [shown["rm"], *shown["node_urls"]]}) == 3
    assert run(["yarn", "status", "--name", "hosts"]) == 0
    assert f"{MBIT} Mbit/s each way" in capsys.readouterr().out


def test_a_transfer_between_nodes_is_held_to_the_rate(hosts: LocalCluster) -> None:
    """Only from below: a busy machine may take longer, a link without a limit would take a moment."""
    took_s = transfer_s(hosts.folder, hosts.layout, 1, SENT_BYTES)
    assert took_s > 0.9 * SENT_BYTES * 8 / (MBIT * 1_000_000)


def test_replayed_tasks_fetch_what_they_read(hosts: LocalCluster, tmp_path: Path) -> None:
    """Of two tasks that read as much each from node 0, those on node 1 fetch it; then one reads what both wrote.

    At the rate of the links it takes so long that whoever looks once a second sees each connection.
    """
    reads = 3_000_000
    first = StageSpec("first", (512, 1000), [TaskSpec(1000, constant(20, 0), "node-0", reads)] * 2)
    then = StageSpec("then", (512, 1000), [TaskSpec(1000, constant(20, 0))], ("first",), after_bytes=(2 * reads,))
    workload = tmp_path / "reads.parquet"
    write_parquet(build("reads", [JobSpec("reads", 0, [first, then], am=(256, 1000))]), workload)
    before = sent_bytes(hosts.folder, hosts.layout)
    assert run(["yarn", "run", str(workload), "--name", "hosts", "--record", str(tmp_path / "record")]) == 0
    sent = {pair: count - before[pair] for pair, count in sent_bytes(hosts.folder, hosts.layout).items()}
    record = read_record(tmp_path / "record")
    where = record.attempts.join(record.stages, on="stage").filter(pl.col("name") != "am").sort("allocated_at_ms")
    *writers, reader = where["node"].to_list()
    over = {(0, 1): reads * writers.count(1), (1, 0): 0}
    for writer in writers:
        if writer != reader:
            over[writer, reader] += reads
    for pair, bytes_ in over.items():
        assert bytes_ <= sent[pair] < bytes_ + 0.3 * reads, (pair, sent, writers, reader)  # beside talk of daemons
    fetched = [reads * (writer == 1) for writer in writers] + [reads * sum(writer != reader for writer in writers)]
    for expected, measured in zip(fetched, where["fetched_bytes"], strict=True):
        assert expected <= measured < expected + 0.1 * reads, (fetched, where["fetched_bytes"].to_list())
    moved = read_record(tmp_path / "record").manifest["totals"]["moved_bytes"]
    assert sum(fetched) <= moved < sum(fetched) + reads  # beside what the AM receives


def test_each_pair_has_its_rate_and_its_bytes_are_counted(root: None, own_state: Path) -> None:
    """Without a YARN: three nodes, of which two are further apart."""
    folder = cluster_folder("pairs")
    layout = Layout(nodes=3, hosts=True, subnet=free_subnet(folder), link_mbit=400, pairs=((0, 1, MBIT),))
    join_nodes(folder, layout)
    try:
        slow_s, quick_s = (transfer_s(folder, layout, sender, SENT_BYTES) for sender in (1, 2))
        sent = sent_bytes(folder, layout)
    finally:
        part_nodes(folder)
    assert slow_s > 0.9 * SENT_BYTES * 8 / (MBIT * 1_000_000) > quick_s
    assert sent.keys() == {(one, other) for one in range(3) for other in range(3) if one != other}
    assert all(SENT_BYTES < sent[sender, 0] < 1.1 * SENT_BYTES for sender in (1, 2))
    assert sent[0, 1] < SENT_BYTES / 10 > sent[1, 2]


def transfer_s(folder: Path, layout: Layout, sender: int, size: int) -> float:
    to = [layout.node_host(0), "7777"]
    receive = [*inside(folder, 0), "python3", "-c", RECEIVE, *to]
    send = [*inside(folder, sender), "python3", "-c", SEND, *to, str(size)]
    with subprocess.Popen(receive, stdout=subprocess.PIPE, text=True) as receiver:
        assert receiver.stdout is not None
        assert receiver.stdout.readline() == "listens\n"
        return float(subprocess.run(send, capture_output=True, text=True, check=True, timeout=120).stdout)


def test_a_half_made_network_is_removed(root: None, own_state: Path) -> None:
    """As a start leaves it that was killed: one namespace of three, nothing in the cluster's folder."""
    folder = cluster_folder("half")
    subnet = free_subnet(folder)
    join_nodes(folder, Layout(nodes=1, hosts=True, subnet=subnet))
    assert free_subnet(folder) != subnet, "a range in use is not given away again"
    assert run(["yarn", "down", "--name", "half"]) == 0
    assert left_of(folder) == []
    part_nodes(folder)  # twice does no harm


def test_clusters_do_not_meet(root: None, own_state: Path) -> None:
    one, two = cluster_folder("one"), cluster_folder("two")
    assert bridge_of(one) != bridge_of(two)
    try:
        for folder in (one, two):
            join_nodes(folder, Layout(nodes=1, hosts=True, subnet=free_subnet(folder)))
        part_nodes(one)
        assert left_of(one) == []
        assert len(left_of(two)) == 3  # a bridge, a link, a namespace
    finally:
        part_nodes(one)
        part_nodes(two)
