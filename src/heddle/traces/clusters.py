"""Clusters from the command line: `150x65536x24`, or a YAML or JSON file (docs/formats.md)."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import replace
from os.path import isfile
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

from heddle.model.cluster import CALCULATORS, IDEAL, Cluster, Network, Node, Queue, Timing
from heddle.model.errors import BadInput
from heddle.model.nested_text import from_json
from heddle.model.resources import BASE_RESOURCES, MEMORY_MB, MILLI, VCORES_MILLI
from heddle.traces import sizes
from heddle.traces.cluster_yaml.keys import LARGEST, Keys, one_of, scaled, text
from heddle.traces.cluster_yaml.network import read_network, show_network
from heddle.traces.cluster_yaml.nodes import key_of, read_nodes, read_vector, show_nodes, show_vector
from heddle.traces.cluster_yaml.queues import read_queues, show_queues, show_root
from heddle.traces.cluster_yaml.settings import (
    FAULTS,
    MAP_REDUCE,
    OBSERVATION,
    PHYSICS,
    PREEMPTION,
    PROFILES,
    TIMING,
    read_settings,
    read_timing,
    show_settings,
)
from heddle.traces.problems import Problems
from heddle.traces.yaml_text import from_yaml

_SHORT = re.compile(r"(\d+)x(\d+|\d[\d.]*[kmgt]i?b?)x(\d+)((?:x[a-z_]\w*=\d+)*)", re.IGNORECASE)
_LONGEST_SHORT = 200
_MORE = re.compile(r"x([a-z_]\w*)=(\d+)", re.IGNORECASE)
_SUFFIXES = (".yaml", ".yml", ".json")
_NATURAL_KIND = {MEMORY_MB: "incompressible", VCORES_MILLI: "compressible"}
_PLAIN = Cluster(nodes=())


def in_racks(flat: Cluster, nodes_per_rack: int, mbps: int) -> Cluster:
    """The cluster with links of this bandwidth, so many nodes in a rack; half of a rack's bandwidth goes up."""
    nodes = tuple(
        replace(node, rack=f"rack-{number // nodes_per_rack}", bandwidth_mbps=mbps)
        for number, node in enumerate(flat.nodes)
    )
    return replace(flat, nodes=nodes, network=Network(rack_uplink_mbps=nodes_per_rack * mbps // 2))


def uniform_cluster(
    count: int,
    memory_mb: int,
    vcores: int,
    *,
    timing: Timing = IDEAL,
    queues: tuple[Queue, ...] = (Queue("root"),),
    name: str = "",
    more: Mapping[str, int] = MappingProxyType({}),
) -> Cluster:
    """Equal nodes `node-0`, `node-1`, ... in one rack, all of whose capacity may be promised.

    `more` resources (gpu: 8) are never oversold.
    """
    size = (memory_mb, vcores * MILLI, *more.values())
    nodes = tuple(Node(f"node-{number}", size, size) for number in range(count))
    return Cluster(
        nodes=nodes,
        resources=(*BASE_RESOURCES, *more),
        exclusive=tuple(more),
        increment=(1,) * len(size),
        queues=queues,
        timing=timing,
        name=name,
    )


def load_cluster(text: str) -> Cluster:
    """The cluster that the text names: `NxMEM_MBxVCORES` (`8x64GBx24`, with GPUs `8x65536x24xgpu=4`), or a file."""
    if short := _SHORT.fullmatch(text.strip()):
        if len(text) > _LONGEST_SHORT:
            raise BadInput.of(f"{text:.40}...", f"{len(text):,} characters are no cluster that anybody means")
        count, vcores = int(short[1]), int(short[3])
        memory_mb = math.ceil(sizes.memory_mb(short[2]) or 0)
        further = _MORE.findall(short[4])
        more = {name: int(amount) for name, amount in further}
        if len(more) < len(further) or not set(more).isdisjoint(BASE_RESOURCES):
            raise BadInput.of(text, "each further resource can be named once, and memory and vcores stand before them")
        if not (
            max(more.values(), default=0) <= LARGEST
            and 0 < count <= 1_000_000
            and 0 < memory_mb < 10**9
            and 0 < vcores < 10**6
        ):
            raise BadInput.of(text, "nodes, memory and vcores must all be at least 1 (and nothing absurdly large)")
        return uniform_cluster(count, memory_mb, vcores, name=text.strip(), more=more)
    path = Path(text)
    if path.suffix not in _SUFFIXES:
        raise BadInput.of(
            text,
            "not a cluster; write NODESxMEMORY_MBxVCORES (150x65536x24) or a .yaml or .json file (docs/formats.md)",
        )
    if not isfile(path):  # also False for what no file can be called
        raise BadInput.of(text, "no such file")
    problems = Problems(text)
    cluster = _read(Keys(_parse(path, problems), "", problems))
    problems.raise_if_any()
    return cluster


def _parse(path: Path, problems: Problems) -> Any:
    try:
        content = path.read_text(encoding="utf-8")
        if path.suffix == ".json":
            return from_json(content)
    except json.JSONDecodeError as error:
        raise BadInput.of(str(path), f"not JSON: {error.msg}", row=error.lineno) from None
    except (OSError, ValueError) as error:
        raise BadInput.of(str(path), f"cannot be read: {error}") from None
    return from_yaml(content, problems)


def _read(top: Keys) -> Cluster:
    kinds = _read_kinds(top)
    resources = tuple(kinds)
    nodes = read_nodes(top, resources)
    steps = top.below("increment")
    increment = read_vector(steps, resources, (1,) * len(resources))
    steps.done()
    if 0 in increment:
        top.report("increment", "must be larger than 0")
    cluster = Cluster(
        nodes=nodes,
        resources=resources,
        exclusive=tuple(resource for resource, kind in kinds.items() if kind == "exclusive"),
        queues=read_queues(top, resources),
        increment=increment,
        calculator=top.take("calculator", one_of(CALCULATORS), _PLAIN.calculator),
        off_switch_per_heartbeat=top.take("off_switch_per_heartbeat", scaled(high=10**6), 0),
        timing=read_timing(top),
        physics=read_settings(top.below("physics"), PHYSICS, _PLAIN.physics),
        map_reduce=read_settings(top.below("map_reduce"), MAP_REDUCE, _PLAIN.map_reduce),
        preemption=read_settings(top.below("preemption"), PREEMPTION, _PLAIN.preemption),
        observation=read_settings(top.below("observation"), OBSERVATION, _PLAIN.observation),
        faults=read_settings(top.below("faults"), FAULTS, _PLAIN.faults),
        network=read_network(top, {node.rack for node in nodes}),
        policy=top.take("policy", text, ""),
        name=top.take("name", text, ""),
        about=top.below("about").data,
    )
    if cluster.network.traffic_permille and not cluster.has_network:
        top.report("network.traffic_percent", "no bandwidth is declared that this traffic could take a share of")
    top.done()
    return cluster


def _read_kinds(top: Keys) -> dict[str, str]:
    """Resources in order, each with its kind: memory and vcores first, then what `resources` declares."""
    keys = top.below("resources")
    kinds = {
        resource: keys.take(key_of(resource), one_of((kind, "exclusive")), kind)
        for resource, kind in _NATURAL_KIND.items()
    }
    for name in keys.data:
        if name in keys.asked:
            continue
        if keys.data[name] == "incompressible":
            keys.report(name, "only a lack of memory crashes tasks; a further resource is exclusive or compressible")
            continue
        # Only a lack of vcores slows tasks down; another compressible resource may be oversold, and that is all.
        kinds[str(name)] = keys.take(name, one_of(("exclusive", "compressible")), "exclusive")
    return kinds


def dump_cluster(cluster: Cluster) -> str:
    """YAML that `load_cluster` reads back as an equal cluster; what is as by default is left out."""
    resources = cluster.resources
    kinds = {
        key_of(resource): "exclusive" if resource in cluster.exclusive else "compressible"
        for resource in resources
        if resource not in BASE_RESOURCES or resource in cluster.exclusive
    }
    profile = next((name for name, timing in PROFILES.items() if timing == cluster.timing), None)
    parts: dict[str, Any] = {
        "name": cluster.name,
        "about": cluster.about,
        "policy": cluster.policy,
        "resources": kinds,
        "nodes": show_nodes(cluster.nodes, resources),
        "root": show_root(cluster.queues, resources),
        "queues": show_queues(cluster.queues, resources),
        "increment": show_vector(cluster.increment, resources, (1,) * len(resources)),
        "calculator": cluster.calculator if cluster.calculator != _PLAIN.calculator else "",
        "off_switch_per_heartbeat": cluster.off_switch_per_heartbeat,
        "timing": profile if profile else show_settings(TIMING, cluster.timing, IDEAL),
        "physics": show_settings(PHYSICS, cluster.physics, _PLAIN.physics),
        "map_reduce": show_settings(MAP_REDUCE, cluster.map_reduce, _PLAIN.map_reduce),
        "preemption": show_settings(PREEMPTION, cluster.preemption, _PLAIN.preemption),
        "observation": show_settings(OBSERVATION, cluster.observation, _PLAIN.observation),
        "faults": show_settings(FAULTS, cluster.faults, _PLAIN.faults),
        "network": show_network(cluster.network),
    }
    said = {key: value for key, value in parts.items() if value or key == "nodes"}
    return yaml.safe_dump(said, sort_keys=False, default_flow_style=None, width=110, allow_unicode=True)
