"""The Capacity scheduler's properties as a queue tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from heddle.model.cluster import Calculator, LabelShare, Queue
from heddle.traces.cluster_import.capacity_properties import PREFIX, CapacityProperties, milli
from heddle.traces.cluster_import.capacity_shares import note_rounding, read_shares
from heddle.traces.cluster_import.imported import ImportedQueues, Leftovers
from heddle.traces.problems import Problems

CALCULATOR: Final = "resource-calculator"
OFF_SWITCH: Final = "per-node-heartbeat.maximum-offswitch-assignments"
DEFAULT_OFF_SWITCH: Final = 1
_CALCULATORS: Final[dict[str, Calculator]] = {
    "DefaultResourceCalculator": "memory",
    "DominantResourceCalculator": "dominant",
}

_OF_LABEL: Final = {"capacity": "guarantee_permille", "maximum-capacity": "maximum_permille"}

# Settings that change nothing in a simulation, or nothing that a workload does not say itself.
_HARMLESS: Final = {
    "acl": "who may submit is decided by the workload's queues",
    "queue-mappings": "jobs are put into queues by the workload",
    "workflow-rule-mappings": "jobs are put into queues by the workload",
    "mapping-rule": "jobs are put into queues by the workload",
    "node-locality-delay": "the lever delay-locality has the delay as a parameter",
    "rack-locality-additional-delay": "the lever delay-locality has the delay as a parameter",
    "default-application-priority": "the workload says each job's priority",
    "leaf-queue-template": "queues that only the workload names are made with defaults",
    "maximum-application-lifetime": "jobs are not ended by age",
    "default-application-lifetime": "jobs are not ended by age",
    "application.fail-fast": "no meaning in a simulation",
    "legacy-queue-mode": "no meaning in a simulation",
}
# Settings that may change what comes out, and that heddle does not model.
_MATTERS: Final = {
    "accessible-node-labels": "labels of queues are not modelled: stages name the label they need",
    "default-node-label-expression": "labels of queues are not modelled: stages name the label they need",
    "disable_preemption": "preemption between queues is set for the whole cluster",
    "intra-queue-preemption": "preemption inside a queue is not modelled",
    "ordering-policy": "not modelled: between queues, the one furthest below its guarantee comes first",
    "auto-create-child-queue": "queues that only the workload names are made with defaults, not by a template",
    "auto-queue-creation": "queues that only the workload names are made with defaults, not by a template",
    "maximum-allocation": "a largest container is not modelled",
    "user-settings": "weights of users are not modelled",
    "schedule-asynchronously": "assignment is by node heartbeats",
    "multi-node": "assignment is node by node",
}
_OFF: Final = ("", "false", "-1", "*")  # of a setting that matters where it is on
_MANY_APPLICATIONS: Final = 10_000  # YARN's default of what it takes in at once


def capacity_queues(properties: Mapping[str, str], where: str, totals: Sequence[int] | None) -> ImportedQueues:
    """The tree below root; BadInput where it does not make sense, with everything that is wrong.

    `totals` (MB, millicores) is what all nodes promise, where it is known: amounts beside shares need it.
    """
    problems, left = Problems(where), Leftovers()
    own = {name.removeprefix(PREFIX): value for name, value in properties.items() if name.startswith(PREFIX)}
    for name, value in properties.items():
        if not name.startswith(PREFIX):
            left.add(name, value, "not a setting of the Capacity scheduler")
    if not own.get("root.queues"):
        problems.add("missing: a capacity-scheduler.xml names the children of root", field=f"{PREFIX}root.queues")
        problems.raise_if_any()
    paths = _paths(own, problems)
    taken = {f"{path}.queues" for path in paths}
    queues = {path: Queue(path) for path in paths}
    reader = CapacityProperties(own, taken, problems, left)
    for path in paths:
        queues[path] = _read_queue(reader, queues[path], is_leaf=not own.get(f"{path}.queues"))
    read_shares(reader, queues, totals)
    for path in paths[1:]:
        queues[path] = replace(queues[path], labels=_read_labels(reader, path))
    calculator, off_switch = _read_globals(reader, own, taken)
    for name, value in own.items():
        if name not in taken:
            why, matters = _why(name, value, paths, own)
            left.add(PREFIX + name, value, why, matters=matters)
    problems.raise_if_any()
    return ImportedQueues("capacity", tuple(queues.values()), calculator, off_switch, tuple(left.found))


def _paths(own: Mapping[str, str], problems: Problems) -> list[str]:
    """Full names, parents before children."""
    found = ["root"]
    for path in found:
        for child in filter(None, (part.strip() for part in own.get(f"{path}.queues", "").split(","))):
            full = f"{path}.{child}"
            if full in found:
                problems.add(f"{child} is listed twice", field=f"{PREFIX}{path}.queues")
                continue
            found.append(full)
    return found


def _read_queue(reader: CapacityProperties, queue: Queue, is_leaf: bool) -> Queue:
    path = queue.name
    given: dict[str, int | None] = {
        "user_limit_percent": reader.number(f"{path}.minimum-user-limit-percent", round, 1, 100),
        "user_limit_factor_milli": reader.number(f"{path}.user-limit-factor", milli, -1),
        "am_share_permille": reader.number(f"{path}.maximum-am-resource-percent", milli, 0, 1),
        "max_running_jobs": reader.number(f"{path}.max-parallel-apps", round),
    }
    if given["user_limit_factor_milli"] is not None and given["user_limit_factor_milli"] < 0:
        given["user_limit_factor_milli"] = 10**9  # YARN's -1: no limit
    if is_leaf:
        for attribute, name, convert, high in (
            ("am_share_permille", "maximum-am-resource-percent", milli, 1.0),
            ("max_running_jobs", "max-parallel-apps", round, 1e9),
        ):
            if given[attribute] is None:
                given[attribute] = reader.number(name, convert, 0, high)
    order = reader.own.get(f"{path}.ordering-policy", "")
    said: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    if order in ("fifo", "fair") and is_leaf:
        reader.taken.add(f"{path}.ordering-policy")
        said["order"] = order
    elif order == "utilization":
        reader.taken.add(f"{path}.ordering-policy")
    state = reader.own.get(f"{path}.state", "RUNNING").upper()
    if state in ("RUNNING", "STOPPED"):
        reader.taken.add(f"{path}.state")
        said["stopped"] = state == "STOPPED"
    return replace(queue, **said)


def _read_labels(reader: CapacityProperties, path: str) -> tuple[LabelShare, ...]:
    """Shares of the nodes with a label. Amounts and weights stay behind."""
    prefix = f"{path}.accessible-node-labels."
    shares: dict[str, dict[str, int]] = {}
    for name, text in reader.own.items():
        label, _, setting = name.removeprefix(prefix).rpartition(".")
        attribute = _OF_LABEL.get(setting)
        if not name.startswith(prefix) or attribute is None or text.startswith("[") or text.endswith("w"):
            continue
        permille = reader.number(name, lambda value: round(10 * value) if value >= 0 else 1000, -1, 100)
        if permille is not None:
            shares.setdefault(label, {})[attribute] = permille
            note_rounding(reader, name, permille)
    return tuple(LabelShare(label, **share) for label, share in sorted(shares.items()))


def _read_globals(reader: CapacityProperties, own: Mapping[str, str], taken: set[str]) -> tuple[Calculator, int]:
    calculator = calculator_of(own.get(CALCULATOR, ""))
    if calculator is not None:
        taken.add(CALCULATOR)
    most = reader.number(OFF_SWITCH, round, 1)
    if own.get("per-node-heartbeat.multiple-assignments-enabled", "true") == "true":
        taken.add("per-node-heartbeat.multiple-assignments-enabled")
    return calculator or "memory", most or DEFAULT_OFF_SWITCH


def calculator_of(java_class: str) -> Calculator | None:
    """What YARN's class counts; None where it is none that we know."""
    return _CALCULATORS.get(java_class.rpartition(".")[2])


def _why(name: str, value: str, paths: list[str], own: Mapping[str, str]) -> tuple[str, bool]:
    """Why a setting is left, by what it is called below its queue, and whether results may depend on it."""
    owner = max((path for path in paths if name.startswith(f"{path}.")), key=len, default="")
    setting = name.removeprefix(f"{owner}.") if owner else name
    if setting == "priority":
        parent = own.get(f"{owner.rpartition('.')[0]}.ordering-policy", "")
        return "priorities of queues are not modelled", parent.startswith("priority") and value not in ("", "0")
    if setting.startswith(("maximum-applications", "global-queue-max-application")):
        few = value.isdecimal() and int(value) < _MANY_APPLICATIONS
        most = value if value.isdecimal() else "its limit"
        return f"YARN rejects jobs beyond {most} at a time, heddle rejects none", few
    for known, why in _HARMLESS.items():
        if setting.startswith(known):
            return why, False
    for known, why in _MATTERS.items():
        if setting.startswith(known):
            return why, value.lower() not in _OFF
    if name.startswith("root.") and setting.rpartition(".")[0]:
        return "belongs to no queue of the tree, or is not modelled", True
    return "not modelled", True
