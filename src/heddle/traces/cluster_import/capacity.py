"""The Capacity scheduler's properties as a queue tree."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from heddle.model.cluster import Calculator, Queue
from heddle.model.resources import MILLI
from heddle.traces.cluster_import.imported import ImportedQueues, Leftovers
from heddle.traces.problems import Problems

PREFIX: Final = "yarn.scheduler.capacity."
_WEIGHT: Final = re.compile(r"(\d+(?:\.\d+)?)w")
_MEMORY: Final = re.compile(r"(\d+)(|[MGT]i?)")  # an amount of memory and YARN's unit; without one, MB
_BYTES: Final = {"": 2**20, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "M": 10**6, "G": 10**9, "T": 10**12}
CALCULATOR: Final = "resource-calculator"
OFF_SWITCH: Final = "per-node-heartbeat.maximum-offswitch-assignments"
DEFAULT_OFF_SWITCH: Final = 1
_CALCULATORS: Final[dict[str, Calculator]] = {
    "DefaultResourceCalculator": "memory",
    "DominantResourceCalculator": "dominant",
}

# Settings that are known and have no meaning in a simulation, or that heddle does not model yet.
_WHY: Final = {
    "state": "a stopped queue takes no jobs: heddle lets every queue of the tree take them",
    "acl": "who may submit is decided by the workload's queues",
    "accessible-node-labels": "labels of queues are not modelled: stages name the label they need",
    "default-node-label-expression": "labels of queues are not modelled: stages name the label they need",
    "queue-mappings": "jobs are put into queues by the workload",
    "workflow-rule-mappings": "jobs are put into queues by the workload",
    "mapping-rule": "jobs are put into queues by the workload",
    "node-locality-delay": "the lever delay-locality has the delay as a parameter",
    "rack-locality-additional-delay": "the lever delay-locality has the delay as a parameter",
    "maximum-applications": "the number of submitted jobs is not limited",
    "disable_preemption": "preemption between queues is set for the whole cluster",
    "intra-queue-preemption": "preemption inside a queue is not modelled",
    "priority": "priorities of queues are not modelled",
    "default-application-priority": "the workload says each job's priority",
    "maximum-application-lifetime": "jobs are not ended by age",
    "default-application-lifetime": "jobs are not ended by age",
    "auto-create-child-queue": "queues are not made on the fly: the workload names them",
    "auto-queue-creation": "queues are not made on the fly: the workload names them",
    "leaf-queue-template": "queues are not made on the fly: the workload names them",
    "maximum-allocation": "a largest container is not modelled",
    "user-settings": "weights of users are not modelled",
    "schedule-asynchronously": "assignment is by node heartbeats",
    "multi-node": "assignment is node by node",
    "application.fail-fast": "no meaning in a simulation",
    "legacy-queue-mode": "no meaning in a simulation",
}


def capacity_queues(properties: Mapping[str, str], where: str) -> ImportedQueues:
    """The tree below root; BadInput where it does not make sense, with everything that is wrong."""
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
    reader = _Reader(own, taken, problems, left)
    for path in paths:
        queues[path] = _read_queue(reader, queues[path], is_leaf=not own.get(f"{path}.queues"))
    _read_shares(reader, queues)
    calculator, off_switch = _read_globals(reader, own, taken)
    for name, value in own.items():
        if name not in taken:
            left.add(PREFIX + name, value, _why(name, paths))
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


class _Reader:
    """Takes numbers out of the properties, and remembers which were taken."""

    def __init__(self, own: Mapping[str, str], taken: set[str], problems: Problems, left: Leftovers) -> None:
        self.own, self.taken, self.problems, self.left = own, taken, problems, left

    def number(self, name: str, convert: Callable[[float], int], low: float = 0.0, high: float = 1e9) -> int | None:
        """What is said under this name, in heddle's unit; None where nothing is."""
        if name not in self.own:
            return None
        self.taken.add(name)
        text = self.own[name]
        try:
            value = float(text)
        except ValueError:
            self.problems.add(f"must be a number, not {text!r}", field=PREFIX + name)
            return None
        if not low <= value <= high:
            self.problems.add(f"must be from {low:g} to {high:g}, not {text}", field=PREFIX + name)
            return None
        return convert(value)


def _read_queue(reader: _Reader, queue: Queue, is_leaf: bool) -> Queue:
    path = queue.name
    given: dict[str, int | None] = {
        "user_limit_percent": reader.number(f"{path}.minimum-user-limit-percent", round, 1, 100),
        "user_limit_factor_milli": reader.number(f"{path}.user-limit-factor", _milli, -1),
        "am_share_permille": reader.number(f"{path}.maximum-am-resource-percent", _milli, 0, 1),
        "max_running_jobs": reader.number(f"{path}.max-parallel-apps", round),
    }
    if given["user_limit_factor_milli"] is not None and given["user_limit_factor_milli"] < 0:
        given["user_limit_factor_milli"] = 10**9  # YARN's -1: no limit
    if is_leaf:
        for attribute, name, convert, high in (
            ("am_share_permille", "maximum-am-resource-percent", _milli, 1.0),
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
    return replace(queue, **said)


def _milli(value: float) -> int:
    return round(1000 * value)


def _read_shares(reader: _Reader, queues: dict[str, Queue]) -> None:
    """Guarantees and maxima in percent of the parent; weights become shares among siblings."""
    for parent in list(queues):
        children = [path for path in queues if path.rpartition(".")[0] == parent]
        texts = {path: reader.own.get(f"{path}.capacity") for path in children}
        weights = {path: float(found[1]) for path, text in texts.items() if text and (found := _WEIGHT.fullmatch(text))}
        for path in children:
            name, text = f"{path}.capacity", texts[path]
            if text is not None and text.startswith("["):
                if all((other or "").startswith("[") for other in texts.values()):
                    queues[path] = replace(queues[path], guarantee=_amounts(reader, name, text))
                else:
                    reader.taken.add(name)
                    reader.left.add(
                        PREFIX + name, text, "an amount beside siblings that have shares: say its share by hand"
                    )
            elif path in weights:
                reader.taken.add(name)
                share = weights[path] / sum(weights.values())
                queues[path] = replace(
                    queues[path], guarantee_permille=round(1000 * share), weight_milli=_milli(weights[path])
                )
                reader.left.add(PREFIX + name, text, f"a weight among its siblings: taken as {100 * share:.1f} %")
            elif (permille := reader.number(name, lambda value: round(10 * value), 0, 100)) is not None:
                queues[path] = replace(queues[path], guarantee_permille=permille)
                _note_rounding(reader, name, permille)
            elif text is None:
                reader.problems.add("missing: what does this queue have of its parent?", field=PREFIX + name)
        for path in children:
            name = f"{path}.maximum-capacity"
            if (text := reader.own.get(name, "")).startswith("["):
                queues[path] = replace(queues[path], maximum=_amounts(reader, name, text))
                continue
            permille = reader.number(name, lambda value: round(10 * value) if value >= 0 else 1000, -1, 100)
            if permille is not None:
                queues[path] = replace(queues[path], maximum_permille=permille)
                _note_rounding(reader, name, permille)
    for name in ("root.capacity", "root.maximum-capacity"):
        if reader.own.get(name) in ("100", "100.0", "-1"):
            reader.taken.add(name)


def _amounts(reader: _Reader, name: str, text: str) -> tuple[int, ...]:
    """`[memory=10240,vcores=12]` or `[memory=10Gi,vcores=12]`, in MB and millicores."""
    reader.taken.add(name)
    found = {key.strip(): value.strip() for key, _, value in (part.partition("=") for part in text[1:-1].split(","))}
    if not {"memory", "vcores"} <= found.keys():
        reader.left.add(PREFIX + name, text, "names not both of memory and vcores")
        return ()
    memory, vcores = _MEMORY.fullmatch(found.pop("memory")), found.pop("vcores")
    if not text.endswith("]") or memory is None or not vcores.isdigit():
        reader.problems.add(f"{text!r} is not like [memory=10240,vcores=12]", field=PREFIX + name)
        return ()
    for other in found:
        reader.left.add(PREFIX + name, text, f"{other} is not counted: memory and vcores are taken")
    return int(memory[1]) * _BYTES[memory[2]] // 2**20, MILLI * int(vcores)


def _note_rounding(reader: _Reader, name: str, permille: int) -> None:
    value = float(reader.own[name])
    if value >= 0 and abs(value - permille / 10) > 1e-9:
        reader.left.add(PREFIX + name, reader.own[name], f"shares have one decimal: taken as {permille / 10:g} %")


def _read_globals(reader: _Reader, own: Mapping[str, str], taken: set[str]) -> tuple[Calculator, int]:
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


def _why(name: str, paths: list[str]) -> str:
    """Why a setting is left: by what it is called below its queue."""
    owner = max((path for path in paths if name.startswith(f"{path}.")), key=len, default="")
    setting = name.removeprefix(f"{owner}.") if owner else name
    for known, why in _WHY.items():
        if setting.startswith(known):
            return why
    if name.startswith("root.") and setting.rpartition(".")[0]:
        return "belongs to no queue of the tree, or is not modelled"
    return "not modelled"
