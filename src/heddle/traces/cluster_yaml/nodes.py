"""Groups of equal nodes, in a cluster file."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

from heddle.model.cluster import MOST_MBPS, Level, Node
from heddle.model.resources import MEMORY_MB, MILLI, VCORES_MILLI
from heddle.traces.cluster_yaml.keys import Keys, scaled, text, texts
from heddle.traces.cluster_yaml.settings import unscaled
from heddle.traces.sizes import memory_mb

DEFAULT_PREFIX = "node"
DEFAULT_RACK = "rack-0"
Vector = tuple[int, ...]


def key_of(resource: str) -> str:
    """People write `vcores: 1.5`; the model counts millicores."""
    return "vcores" if resource == VCORES_MILLI else resource


def scale_of(resource: str) -> int:
    return MILLI if resource == VCORES_MILLI else 1


def _amount(resource: str) -> Callable[[Any], int]:
    number = scaled(scale_of(resource))
    if resource != MEMORY_MB:
        return number

    def convert(value: Any) -> int:
        size = memory_mb(value) if isinstance(value, str) else None
        return number(value if size is None else size)

    return convert


def read_vector(keys: Keys, resources: Sequence[str], default: Vector) -> Vector:
    """Amounts by resource; what is not mentioned has the default."""
    return tuple(
        keys.take(key_of(resource), _amount(resource), default[place]) for place, resource in enumerate(resources)
    )


def show_vector(vector: Vector, resources: Sequence[str], default: Vector | None = None) -> dict[str, Any]:
    return {
        key_of(resource): unscaled(vector[place], scale_of(resource))
        for place, resource in enumerate(resources)
        if default is None or vector[place] != default[place]
    }


def read_nodes(top: Keys, resources: Sequence[str]) -> tuple[Node, ...]:
    numbers: Counter[str] = Counter()  # of the next node with each prefix
    nodes: list[Node] = []
    groups = top.items("nodes")
    if top.data.get("nodes") in (None, []):
        top.report("nodes", "missing: a cluster needs at least one group of nodes")
    for path, data in groups:
        nodes.extend(_read_group(Keys(data, path, top.problems), resources, numbers))
    for name, count in Counter(node.name for node in nodes).items():
        if count > 1:
            top.report("nodes", f'{count} nodes are called "{name}"')
    return tuple(nodes)


def _read_group(keys: Keys, resources: Sequence[str], numbers: Counter[str]) -> list[Node]:
    zero = (0,) * len(resources)
    if keys.has("names"):
        for other in ("count", "name"):
            if keys.has(other):
                keys.report(other, "`names` says how many nodes there are and what they are called")
    names: tuple[str, ...] = keys.take("names", texts, ())
    count = keys.take("count", scaled(low=1, high=1_000_000), 1)
    prefix = keys.take("name", text, DEFAULT_PREFIX)
    if not names:
        names = tuple(f"{prefix}-{numbers[prefix] + place}" for place in range(count))
        numbers[prefix] += count
    if not keys.has("capacity"):
        keys.report("capacity", "missing: give memory_mb and vcores")
    amounts = keys.below("capacity")
    capacity = read_vector(amounts, resources, zero)
    if keys.has("capacity"):
        for required in ("memory_mb", "vcores"):
            if isinstance(keys.data["capacity"], dict) and not amounts.has(required):
                amounts.report(required, "missing")
    amounts.done()
    allowed = keys.below("allowance")
    allowance = read_vector(allowed, resources, capacity)
    allowed.done()
    if keys.has("rack") and keys.has("racks"):
        keys.report("rack", "give `rack` (one for all) or `racks` (assigned in turn), not both")
    racks: tuple[str, ...] = keys.take("racks", texts, (keys.take("rack", text, DEFAULT_RACK),))
    node = Node(
        name="",
        capacity=capacity,
        allowance=allowance,
        label=keys.take("label", text, ""),
        speed_permille=keys.take("speed", scaled(MILLI, low=1, high=100_000), MILLI),
        background=_read_background(keys, resources),
        bandwidth_mbps=keys.take("bandwidth_mbps", scaled(low=1, high=MOST_MBPS), 0),
        decommission_at_ms=keys.take("decommission_at_ms", scaled(), -1),
    )
    keys.done()
    return [dataclasses.replace(node, name=name, rack=racks[place % len(racks)]) for place, name in enumerate(names)]


def _read_background(keys: Keys, resources: Sequence[str]) -> tuple[Level, ...]:
    """A constant load, or levels that each hold from an instant on."""
    data = keys.data.get("background")
    if isinstance(data, list):
        members = [Keys(value, path, keys.problems) for path, value in keys.items("background")]
    else:
        members = [keys.below("background")] if data is not None else []
        keys.asked.append("background")
    levels: list[Level] = []
    for member in members:
        level = Level(member.take("from_ms", scaled(), 0), read_vector(member, resources, (0,) * len(resources)))
        member.done()
        if levels and level.from_at_ms <= levels[-1].from_at_ms:
            member.report("from_ms", "must be later than that of the level before")
        levels.append(level)
    return tuple(levels)


def show_nodes(nodes: Sequence[Node], resources: Sequence[str]) -> list[dict[str, Any]]:
    """Runs of nodes that differ in name and rack only, as groups."""
    numbers: Counter[str] = Counter()
    groups = []
    for _, run in groupby(nodes, key=lambda node: dataclasses.replace(node, name="", rack="")):
        members = list(run)
        while members:
            size, prefix = _numbered(members, numbers)
            part, members = members[:size], members[size:]
            shown: dict[str, Any] = {"names": [node.name for node in part]}
            if prefix:
                shown = {"count": size} | ({"name": prefix} if prefix != DEFAULT_PREFIX else {})
                numbers[prefix] += size
            groups.append(shown | _show_group(part, resources))
    return groups


def _numbered(members: Sequence[Node], numbers: Counter[str]) -> tuple[int, str]:
    """(how many of the first members are named like a counted group, its prefix), or (how many are not, "")."""

    def continues(place: int, prefix: str, first: int) -> bool:
        return members[place].name == f"{prefix}-{numbers[prefix] + place - first}"

    prefix = members[0].name.rpartition("-")[0]
    counted = bool(prefix) and continues(0, prefix, 0)
    size = 1
    while size < len(members):
        own = members[size].name.rpartition("-")[0]
        if counted and not continues(size, prefix, 0):
            break
        if not counted and own and continues(size, own, size):
            break
        size += 1
    return size, prefix if counted else ""


def _show_group(part: Sequence[Node], resources: Sequence[str]) -> dict[str, Any]:
    node = part[0]
    shown: dict[str, Any] = {"capacity": show_vector(node.capacity, resources)}
    if node.allowance != node.capacity:
        shown["allowance"] = show_vector(node.allowance, resources, node.capacity)
    racks = [member.rack for member in part]
    period = next(
        size for size in range(1, len(racks) + 1) if racks[size:] == racks[: len(racks) - size] or size == len(racks)
    )
    if period > 1:
        shown["racks"] = racks[:period]
    elif racks[0] != DEFAULT_RACK:
        shown["rack"] = racks[0]
    if node.label:
        shown["label"] = node.label
    if node.speed_permille != MILLI:
        shown["speed"] = unscaled(node.speed_permille, MILLI)
    if node.bandwidth_mbps:
        shown["bandwidth_mbps"] = node.bandwidth_mbps
    if node.decommission_at_ms >= 0:
        shown["decommission_at_ms"] = node.decommission_at_ms
    if node.background:
        shown["background"] = [
            {"from_ms": level.from_at_ms} | show_vector(level.use, resources) for level in node.background
        ]
    return shown
