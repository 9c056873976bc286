"""Clusters: the short form, the file, and back."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from heddle.model.cluster import (
    IDEAL,
    YARN,
    Cluster,
    Faults,
    LabelShare,
    Level,
    MapReduce,
    Network,
    Node,
    Observation,
    Physics,
    Preemption,
    Queue,
    Timing,
)
from heddle.model.errors import BadInput
from heddle.traces.catalogue import names, suggested_cluster
from heddle.traces.clusters import dump_cluster, load_cluster
from heddle.traces.identity import cluster_hash

FIXTURES = Path(__file__).parent / "fixtures"


def load_text(folder: Path, text: str, name: str = "c.yaml") -> Cluster:
    (folder / name).write_text(text)
    return load_cluster(str(folder / name))


def problems_of(folder: Path, text: str) -> list[str]:
    with pytest.raises(BadInput) as caught:
        load_text(folder, text)
    return [f"{problem.field}: {problem.what}" for problem in caught.value.problems]


def test_short_form() -> None:
    cluster = load_cluster("150x65536x24")
    assert cluster.n_nodes == 150
    assert cluster.nodes[149] == Node("node-149", (65536, 24000), (65536, 24000))
    assert cluster.timing == IDEAL
    assert {node.rack for node in cluster.nodes} == {"rack-0"}


@pytest.mark.parametrize("text", ["0x1x1", "1x0x1", "1x1x0", "15x20", "x", "", "1x2x3x4", "-1x2x3", "cluster.toml"])
def test_bad_short_forms(text: str) -> None:
    with pytest.raises(BadInput):
        load_cluster(text)


def test_memory_may_have_a_unit(tmp_path: Path) -> None:
    plain = load_cluster("3x65536x24")
    assert [node.capacity for node in load_cluster("3x64GBx24").nodes] == [node.capacity for node in plain.nodes]
    assert load_cluster("3x1.5tbx24xgpu=2").nodes[0].capacity == (1_572_864, 24_000, 2)
    path = tmp_path / "c.yaml"
    path.write_text("nodes: [{capacity: {memory_mb: 64GB, vcores: 24}, allowance: {memory_mb: 57344 MB}}]")
    assert load_cluster(str(path)).nodes[0].allowance == (57_344, 24_000)
    path.write_text("nodes: [{capacity: {memory_mb: 64GX, vcores: 24GB}}]")
    with pytest.raises(BadInput) as caught:
        load_cluster(str(path))
    assert [problem.what for problem in caught.value.problems] == [
        'must be a number, not the text "64GX"',
        'must be a number, not the text "24GB"',
    ]


def test_every_key_of_the_file() -> None:
    size, allowed = (65536, 24000, 0, 0), (57344, 20500, 0, 0)
    old, tiny = (32768, 8000, 1, 0), (1000, 1000, 0, 0)
    assert load_cluster(str(FIXTURES / "cluster.yaml")) == Cluster(
        name="every key",
        about={"note": "used by test_clusters.py"},
        resources=("memory_mb", "vcores_milli", "gpu", "fpga"),
        exclusive=("gpu",),
        nodes=(
            Node("node-0", size, allowed, "a"),
            Node("node-1", size, allowed, "b"),
            Node("node-2", size, allowed, "a"),
            Node("old-one", old, old, "c", "old", 500, (Level(0, (1024, 500, 0, 0)),), 100, 5000),
            Node("old-two", old, old, "c", "old", 500, (Level(0, (1024, 500, 0, 0)),), 100, 5000),
            Node("node-3", tiny, tiny, background=(Level(0, (0, 1000, 0, 0)), Level(1000, (10, 0, 0, 0)))),
        ),
        queues=(
            Queue("root", max_running_jobs=9),
            Queue(
                "root.prod",
                600,
                800,
                2000,
                (4096, 0, 0, 0),
                125,
                25,
                1500,
                7,
                "fair",
                labels=(LabelShare("old", 125, 500), LabelShare("ssd")),
            ),
            Queue("root.dev", 400),
            Queue("root.dev.ann", 100),
            Queue("root.dev.bob"),
        ),
        increment=(512, 1000, 1, 1),
        calculator="memory",
        off_switch_per_heartbeat=2,
        timing=dataclasses.replace(YARN, launch_ms=500, retry_ms=7),
        physics=Physics("largest", "shares", True, 5, 3, 50),
        map_reduce=MapReduce(400, 250, 500, 5000),
        preemption=Preemption(3000, 4000, 55),
        observation=Observation(1000, 250, 125),
        faults=Faults(3600, 60, 25, 15, 400),
        network=Network(1000, (("b", 500),), 125, 5000),
    )


def test_json_says_the_same(tmp_path: Path) -> None:
    content = yaml.safe_load((FIXTURES / "cluster.yaml").read_text())
    as_json = load_text(tmp_path, json.dumps(content, indent="\t"), "c.json")
    assert as_json == load_cluster(str(FIXTURES / "cluster.yaml"))


def test_documented_example_loads(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "formats.md").read_text()
    cluster = load_text(tmp_path, page.split("```yaml")[1].split("```")[0])
    assert cluster.n_nodes == 46
    assert cluster.queues[-1].name == "root.dev.bob"


def test_timing_by_name(tmp_path: Path) -> None:
    nodes = "nodes: [{capacity: {memory_mb: 1, vcores: 1}}]\n"
    assert load_text(tmp_path, nodes).timing == IDEAL
    assert load_text(tmp_path, f"{nodes}timing: yarn").timing == YARN
    assert load_text(tmp_path, f"{nodes}timing: {{launch_ms: 5}}").timing == Timing(launch_ms=5)


def test_all_problems_at_once_with_paths(tmp_path: Path) -> None:
    text = """
nme: x
bandwidth_mbps: 100
resources: {gpu: incompressible}
nodes:
  - {count: 0, capacty: {memory_mb: 1}, rack_uplink_mbps: 1}
  - {capacity: {memory_mb: 1.5, vcores: -1, disk: 3}, speed: fast}
  - 7
queues:
  a.b: {share_percent: 101}
  c: {share_percent: 12.55, oder: fair}
timing: yarnn
physics: {pmem_check: 1, oom: none}
faults: [1]
"""
    assert problems_of(tmp_path, text) == [
        "resources.gpu: only a lack of memory crashes tasks; a further resource is exclusive or compressible",
        "nodes[0].count: must be between 1 and 1e+06, not 0",
        "nodes[0].capacity: missing: give memory_mb and vcores",
        'nodes[0].capacty: unknown key, did you mean "capacity"?',
        "nodes[0].rack_uplink_mbps: unknown key; known keys are names, count, name, capacity, allowance, rack, racks, "
        "label, speed, background, bandwidth_mbps, decommission_at_ms",
        "nodes[1].capacity.memory_mb: must be a whole number, not 1.5",
        "nodes[1].capacity.vcores: must be between 0 and 1e+09, not -1",
        "nodes[1].capacity.disk: unknown key; known keys are memory_mb, vcores",
        'nodes[1].speed: must be a number, not the text "fast"',
        "nodes[2]: must be a mapping of keys to values, not 7",
        "nodes[2].capacity: missing: give memory_mb and vcores",
        "queues.a.b: the name of a queue is text without dots or blanks; children go under `queues`",
        "queues.a.b.share_percent: must be between 0 and 100, not 101",
        "queues.c.share_percent: 12.55: too many decimals",
        'queues.c.oder: unknown key, did you mean "order"?',
        'timing: must be one of ideal, yarn, not yarnn, did you mean "yarn"?',
        "physics.oom: must be one of paper, newest, largest, all, not none",
        "physics.pmem_check: must be true or false, not 1",
        "faults: must be a mapping of keys to values, not a list",
        'nme: unknown key, did you mean "name"?',
        "bandwidth_mbps: unknown key; known keys are resources, nodes, increment, root, queues, calculator, "
        "off_switch_per_heartbeat, timing, physics, map_reduce, preemption, observation, faults, network, policy, "
        "name, about",
    ]


NODE = "{capacity: {memory_mb: 1, vcores: 1}}"


def test_a_network_that_would_do_nothing(tmp_path: Path) -> None:
    text = f"nodes: [{NODE}]\nnetwork: {{traffic_percent: 51, uplink_of_rack: {{rack-9: 5}}}}"
    assert problems_of(tmp_path, text) == [
        "network.uplink_of_rack.rack-9: there is no such rack; the nodes are in rack-0",
        "network.traffic_percent: must be between 0 and 50, not 51",
    ]
    text = f"nodes: [{NODE}]\nnetwork: {{traffic_percent: 10}}"
    assert problems_of(tmp_path, text) == [
        "network.traffic_percent: no bandwidth is declared that this traffic could take a share of"
    ]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "nodes: missing"),
        ("nodes: []", "nodes: missing"),
        ("- 1", "None: must be a mapping"),
        ("nodes: 5", "nodes: must be a list"),
        ("a: [1\nb: 2", "None: not YAML"),
        ("nodes: [{capacity: {memory_mb: 1}}]", "nodes[0].capacity.vcores: missing"),
        ("nodes: [{capacity: {memory_mb: .nan, vcores: 1}}]", "nodes[0].capacity.memory_mb: must be a finite"),
        (f"nodes: [{NODE}]\ntiming: ideal\ntiming: yarn", "timing: the key is given twice"),
        (f"nodes: [{NODE}]\nincrement: {{memory_mb: 0}}", "increment: must be larger than 0"),
        ("nodes: [{names: [a, a], capacity: {memory_mb: 1, vcores: 1}}]", 'nodes: 2 nodes are called "a"'),
        ("nodes: [{names: [a], count: 2, capacity: {memory_mb: 1, vcores: 1}}]", "nodes[0].count: `names` says"),
        ("nodes: [{name: yes, capacity: {memory_mb: 1, vcores: 1}}]", "nodes[0].name: must be text"),
        (
            "nodes: [{capacity: {memory_mb: 1, vcores: 1}, background: [{from_ms: 5}, {from_ms: 5}]}]",
            "nodes[0].background[1].from_ms: must be later",
        ),
    ],
)
def test_each_kind_of_bad_file(tmp_path: Path, text: str, what: str) -> None:
    assert any(problem.startswith(what) for problem in problems_of(tmp_path, text))


def test_missing_and_unreadable_files(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such file"):
        load_cluster(str(tmp_path / "none.yaml"))
    (tmp_path / "c.json").write_text("{")
    with pytest.raises(BadInput, match="not JSON"):
        load_cluster(str(tmp_path / "c.json"))
    (tmp_path / "c.yaml").write_bytes(b"\xff\xfe\x80")
    with pytest.raises(BadInput, match="cannot be read"):
        load_cluster(str(tmp_path / "c.yaml"))


_vector = st.tuples(st.integers(0, 10**6), st.integers(0, 64_000), st.integers(0, 8))
_small = st.integers(0, 1000)
_name = st.sampled_from(["node-0", "node-1", "node-2", "w-0", "w-1", "a", "b-x", "7", "yes", "w-07"])


@st.composite
def clusters(draw: st.DrawFn) -> Cluster:
    sizes = draw(st.lists(st.tuples(_vector, _vector), min_size=1, max_size=2))
    nodes = tuple(
        Node(
            name,
            *draw(st.sampled_from(sizes)),
            rack=draw(st.sampled_from(["rack-0", "r"])),
            label=draw(st.sampled_from(["", "", "ssd"])),
            speed_permille=draw(st.sampled_from([1000, 1000, 1, 1234])),
            decommission_at_ms=draw(st.sampled_from([-1, -1, 0, 7])),
            background=draw(st.sampled_from([(), (Level(0, (1, 2, 3)), Level(5, (0, 0, 0)))])),
        )
        for name in draw(st.lists(_name, min_size=1, max_size=8, unique=True))
    )
    queue = st.builds(
        Queue,
        name=st.just(""),
        guarantee_permille=_small,
        maximum_permille=_small,
        weight_milli=st.integers(1, 5000),
        min_share=st.just(()) | _vector,
        am_share_permille=st.integers(-1, 1000),
        user_limit_percent=st.integers(1, 100),
        user_limit_factor_milli=_small,
        max_running_jobs=st.integers(-1, 5),
        order=st.sampled_from(["", "fifo", "fair", "drf"]),
        labels=st.sampled_from([(), (LabelShare("ssd", 300), LabelShare("7", 0, 125))]),
    )
    tree = ("root", "root.a", "root.a.b", "root.a.c", "root.d")
    return Cluster(
        nodes=nodes,
        resources=("memory_mb", "vcores_milli", "gpu"),
        exclusive=draw(st.sampled_from([(), ("gpu",), ("memory_mb", "gpu")])),
        queues=tuple(
            dataclasses.replace(draw(queue), name=name, **({"labels": ()} if name == "root" else {}))
            for name in tree[: draw(st.integers(1, 5))]
        ),
        increment=draw(st.tuples(*[st.integers(1, 2000)] * 3)),
        calculator=draw(st.sampled_from(["memory", "dominant"])),
        off_switch_per_heartbeat=draw(_small),
        timing=draw(st.just(YARN) | st.builds(Timing, *[_small] * 6)),
        physics=draw(st.builds(Physics, st.sampled_from(["paper", "all"]), st.sampled_from(["cap"]), st.booleans())),
        map_reduce=draw(st.builds(MapReduce, _small, st.integers(1, 9))),
        preemption=draw(st.builds(Preemption, _small, _small, _small)),
        observation=draw(st.builds(Observation, _small, _small, _small)),
        faults=draw(st.builds(Faults, _small, _small, _small, _small, st.integers(1, 1000))),
        name=draw(st.sampled_from(["", "c", "007", "yes"])),
        about=draw(st.sampled_from([{}, {"a": [1, {"b": None}]}])),
    )


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cluster=clusters())
def test_dump_loads_back_equal(cluster: Cluster, tmp_path: Path) -> None:
    assert load_text(tmp_path, dump_cluster(cluster)) == cluster


@pytest.mark.parametrize("name", names())
def test_suggested_clusters_round_trip(tmp_path: Path, name: str) -> None:
    cluster = suggested_cluster(name)
    assert load_text(tmp_path, dump_cluster(cluster)) == cluster


def test_dump_of_equal_nodes_is_one_group() -> None:
    assert len(yaml.safe_load(dump_cluster(load_cluster("150x65536x24")))["nodes"]) == 1


def test_hash_ignores_the_name_only() -> None:
    cluster = load_cluster("2x100x1")
    assert cluster_hash(cluster) == cluster_hash(dataclasses.replace(cluster, name="other", about={"x": 1}))
    assert cluster_hash(cluster) != cluster_hash(load_cluster("2x101x1"))
    assert cluster_hash(cluster) != cluster_hash(dataclasses.replace(cluster, timing=YARN))
    leaving = dataclasses.replace(cluster.nodes[0], decommission_at_ms=0)
    assert cluster_hash(cluster) != cluster_hash(dataclasses.replace(cluster, nodes=(leaving, cluster.nodes[1])))
    labelled = Queue("root.a", labels=(LabelShare("ssd"),))
    with_label, without = (dataclasses.replace(cluster, queues=(Queue("root"), a)) for a in (labelled, Queue("root.a")))
    assert cluster_hash(with_label) != cluster_hash(without)


def test_further_resources_on_the_command_line() -> None:
    cluster = load_cluster("2x1024x4xgpu=8")
    assert cluster.resources == ("memory_mb", "vcores_milli", "gpu")
    assert [node.capacity for node in cluster.nodes] == [(1024, 4000, 8)] * 2
    assert cluster.exclusive == ("gpu",)
    for wrong in ("2x1024x4xgpu=8xgpu=4", "2x1024x4xmemory_mb=8"):
        with pytest.raises(BadInput, match="named once"):
            load_cluster(wrong)
