"""The Fair scheduler's allocation file as a queue tree."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final
from xml.etree.ElementTree import Element

from heddle.model.cluster import Calculator, LeafOrder, Queue
from heddle.model.resources import MILLI
from heddle.traces.cluster_import.imported import ImportedQueues, Leftovers
from heddle.traces.problems import Problems

_ORDERS: Final[dict[str, LeafOrder]] = {"fair": "fair", "fifo": "fifo", "drf": "drf"}
_MATTERS: Final = {
    "minSharePreemptionTimeout",
    "fairSharePreemptionTimeout",
    "fairSharePreemptionThreshold",
    "allowPreemptionFrom",
    "user",
    "userMaxAppsDefault",
    "maxChildResources",
    "maxContainerAllocation",
    "reservation",
}
_WHY: Final = {
    "aclSubmitApps": "who may submit is decided by the workload's queues",
    "aclAdministerApps": "who may submit is decided by the workload's queues",
    "aclAdministerReservations": "the reservation system is not modelled",
    "minSharePreemptionTimeout": "preemption is set for the whole cluster",
    "fairSharePreemptionTimeout": "preemption is set for the whole cluster",
    "fairSharePreemptionThreshold": "preemption is set for the whole cluster",
    "allowPreemptionFrom": "preemption is set for the whole cluster",
    "defaultFairSharePreemptionTimeout": "preemption is set for the whole cluster",
    "defaultMinSharePreemptionTimeout": "preemption is set for the whole cluster",
    "defaultFairSharePreemptionThreshold": "preemption is set for the whole cluster",
    "queuePlacementPolicy": "jobs are put into queues by the workload",
    "user": "limits of single users are not modelled",
    "userMaxAppsDefault": "limits of single users are not modelled",
    "maxChildResources": "queues are not created on demand: the workload names them",
    "maxContainerAllocation": "a largest container is not modelled",
    "reservation": "the reservation system is not modelled",
    "reservation-agent": "the reservation system is not modelled",
    "reservation-policy": "the reservation system is not modelled",
    "reservation-planner": "the reservation system is not modelled",
}
_AMOUNT: Final = re.compile(r"(?:(\w[\w-]*)\s*=\s*)?(-?\d+(?:\.\d+)?)\s*(%?)\s*([a-z][\w-]*)?", re.IGNORECASE)


def fair_queues(root: Element, where: str, totals: Sequence[int] | None) -> ImportedQueues:
    """The tree; BadInput where it does not make sense, with everything that is wrong."""
    reader = _Reader(where, totals)
    defaults = {
        "schedulingPolicy": root.findtext("defaultQueueSchedulingPolicy")
        or root.findtext("defaultQueueSchedulingMode"),
        "maxRunningApps": root.findtext("queueMaxAppsDefault"),
        "maxAMShare": root.findtext("queueMaxAMShareDefault"),
        "maxResources": root.findtext("queueMaxResourcesDefault"),
    }
    reader.defaults = {key: value.strip() for key, value in defaults.items() if value}
    tops = [one for one in root if one.tag in ("queue", "pool")]
    lone_root = len(tops) == 1 and tops[0].get("name") == "root"
    reader.queue(tops[0] if lone_root else _artificial_root(tops), "root", 1.0)
    used = {"queue", "pool", "defaultQueueSchedulingPolicy", "defaultQueueSchedulingMode", "queueMaxAppsDefault"}
    used |= {"queueMaxAMShareDefault", "queueMaxResourcesDefault"}
    for one in root:
        if one.tag not in used:
            reader.add_left(one, "")
    reader.problems.raise_if_any()
    calculator: Calculator = "dominant" if reader.any_drf else "memory"
    return ImportedQueues("fair", tuple(reader.queues), calculator, 0, tuple(reader.left.found))


def _artificial_root(tops: Sequence[Element]) -> Element:
    made = Element("queue", {"name": "root"})
    made.extend(tops)
    return made


def _place(one: Element, path: str) -> str:
    name = one.get("name")
    return f"{path}.{one.tag}".lstrip(".") + (f" {name}" if name else "")


def _value(one: Element) -> str:
    inside = "; ".join(f"{child.tag} {child.get('name') or (child.text or '').strip()}".strip() for child in one)
    return inside or (one.text or "").strip() or "set"


class _Reader:
    """Walks the file; collects queues, problems and what is left."""

    def __init__(self, where: str, totals: Sequence[int] | None) -> None:
        self.problems, self.left = Problems(where), Leftovers()
        self.totals = totals
        self.defaults: dict[str, str] = {}
        self.queues: list[Queue] = []
        self.any_drf = False

    def queue(self, element: Element, path: str, parent_maximum: float) -> None:
        children = [one for one in element if one.tag in ("queue", "pool")]
        texts = {one.tag: (one.text or "").strip() for one in element if one.tag not in ("queue", "pool")}
        is_leaf = not children
        if is_leaf:
            texts = self.defaults | texts
        said: dict[str, Any] = {}
        if (weight := self._number(texts, "weight", path, 0.001, 1e6)) is not None:
            said["weight_milli"] = round(1000 * weight)
        if (most := self._number(texts, "maxRunningApps", path, 0, 1e9)) is not None:
            said["max_running_jobs"] = round(most)
        if (share := self._number(texts, "maxAMShare", path, -1, 1)) is not None:
            said["am_share_permille"] = 1000 if share < 0 else round(1000 * share)
        if "minResources" in texts and (amounts := self._amounts(texts["minResources"], f"{path}.minResources")):
            said["min_share"] = amounts
        maximum = parent_maximum
        if "maxResources" in texts:
            maximum = self._maximum(texts["maxResources"], f"{path}.maxResources", parent_maximum)
            if maximum < parent_maximum:
                said["maximum_permille"] = round(1000 * maximum / parent_maximum)
        self._order(texts, path, is_leaf, said)
        self.queues.append(replace(Queue(path), **said))
        used = {"weight", "maxRunningApps", "maxAMShare", "minResources", "maxResources", "schedulingPolicy"}
        for one in element:
            if one.tag not in used | {"queue", "pool", "schedulingMode"}:
                self.add_left(one, path)
        for child in children:
            name = (child.get("name") or "").strip()
            if not name or "." in name or any(one.name == f"{path}.{name}" for one in self.queues):
                self.problems.add(f'a queue needs a name of its own, without dots, not "{name}"', field=path)
                continue
            self.queue(child, f"{path}.{name}", maximum)

    def add_left(self, one: Element, path: str) -> None:
        matters = one.tag in _MATTERS or one.tag not in _WHY
        self.left.add(_place(one, path), _value(one), _WHY.get(one.tag, "not modelled"), matters=matters)

    def _order(self, texts: dict[str, str], path: str, is_leaf: bool, said: dict[str, Any]) -> None:
        text = texts.get("schedulingPolicy") or texts.get("schedulingMode") or ""
        short = text.rpartition(".")[2].lower().removesuffix("policy")
        named = {"fairshare": "fair", "dominantresourcefairness": "drf"}.get(short, short)
        self.any_drf |= named == "drf"
        if not text:
            return
        if named not in _ORDERS:
            self.left.add(f"{path}.schedulingPolicy", text, "not a policy of heddle's leaves", matters=True)
        elif is_leaf:
            said["order"] = _ORDERS[named]
        elif named == "fifo":
            self.left.add(f"{path}.schedulingPolicy", text, "between queues the policy's own order holds", matters=True)

    def _number(self, texts: dict[str, str], key: str, path: str, low: float, high: float) -> float | None:
        if key not in texts:
            return None
        try:
            value = float(texts[key])
        except ValueError:
            self.problems.add(f"must be a number, not {texts[key]!r}", field=f"{path}.{key}")
            return None
        if not low <= value <= high:
            self.problems.add(f"must be from {low:g} to {high:g}, not {texts[key]}", field=f"{path}.{key}")
            return None
        return value

    def _parts(self, text: str, field: str) -> dict[str, tuple[float, bool]]:
        """memory, vcores -> amount, and whether it is a percentage; "" for one that holds for both."""
        found: dict[str, tuple[float, bool]] = {}
        for part in filter(None, (piece.strip() for piece in text.split(","))):
            match = _AMOUNT.fullmatch(part)
            word = (match[1] or match[4] or "").lower() if match else "?"
            name = {"": "", "mb": "memory", "memory": "memory", "memory-mb": "memory"}.get(word)
            name = "vcores" if word in ("vcore", "vcores", "cpu") else name
            if match is None or name is None:
                self.problems.add(f'cannot read "{part}": as in 10240 mb, 8 vcores', field=field)
                return {}
            found[name] = (float(match[2]), match[3] == "%")
        return found

    def _amounts(self, text: str, field: str) -> tuple[int, int] | None:
        found = self._parts(text, field)
        both = found.get("", (0.0, False))
        amounts = []
        for r, name in enumerate(("memory", "vcores")):
            value, percent = found.get(name, both)
            if percent and self.totals is None:
                self.left.add(field, text, "a percentage of a cluster of unknown size: use --nodes", matters=True)
                return None
            unit = MILLI if r else 1
            amounts.append(round(value / 100 * self.totals[r]) if percent and self.totals else round(value * unit))
        return (amounts[0], amounts[1]) if found else None

    def _maximum(self, text: str, field: str, parent: float) -> float:
        """The share of the cluster; heddle has one for all resources, so it is the smaller one."""
        found = self._parts(text, field)
        shares = {}
        for r, name in enumerate(("memory", "vcores")):
            value, percent = found.get(name, found.get("", (100.0, True)))
            if not percent and self.totals is None:
                self.left.add(field, text, "an amount in a cluster of unknown size: use --nodes", matters=True)
                return parent
            shares[name] = value / 100 if percent else value * (MILLI if r else 1) / max(1, (self.totals or (1, 1))[r])
        smaller = min(*shares.values(), parent)
        if abs(shares["memory"] - shares["vcores"]) > 0.001 and min(shares.values()) < parent:
            why = f"heddle has one maximum for all resources: the smaller, {100 * smaller:.1f} % of the cluster"
            self.left.add(field, text, why, matters=True)
        return smaller
