"""The built-in workloads by name: `mix`, `bench(tasks=1000000, load=1.5)`."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Final

from heddle.model.cluster import Cluster
from heddle.model.errors import BadInput
from heddle.model.suggestion import did_you_mean
from heddle.model.workload import Workload
from heddle.traces.problems import Problems
from heddle.traces.synthetic.parameters import Parameter, parameters_of

_MODULES: Final = {
    "mix": "mix",
    "burst": "burst",
    "am-storm": "am_storm",
    "over-reserved-day": "over_reserved_day",
    "network-dags": "network_dags",
    "phases": "phases",
    "memory-and-cpu": "memory_and_cpu",
    "bench": "bench",
}
_SPEC: Final = re.compile(r"\s*(?P<name>[\w.-]+)\s*(?:\((?P<arguments>[^()]*)\))?\s*")
_TRUTH: Final = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


@dataclass(frozen=True)
class Entry:
    """A built-in workload as shown to users."""

    name: str
    summary: str  # one line
    details: str  # may be empty
    parameters: tuple[Parameter, ...]


def names() -> tuple[str, ...]:
    return tuple(_MODULES)


def describe(name: str) -> Entry:
    """What a built-in workload is, and its parameters."""
    make = _make(_known(name))
    summary, _, details = inspect.cleandoc(make.__doc__ or "").partition("\n")
    return Entry(name, summary, details.strip(), parameters_of(make))


def make_workload(spec: str, seed: int = 0) -> Workload:
    """The workload that a spec like `mix(jobs=80)` names; unknown names and parameters are BadInput."""
    name, given = _parse(spec)
    if seed < 0:
        raise BadInput.of(spec, f"a seed is 0 or more, not {seed}")
    return _make(name)(seed, **given)


def suggested_cluster(spec: str) -> Cluster:
    """A cluster on which this built-in workload shows what it is for."""
    name, given = _parse(spec)
    settings = {parameter.name: parameter.default for parameter in describe(name).parameters} | given
    suggest: Callable[..., Cluster] = _module(name).cluster
    return suggest(**{key: settings[key] for key in inspect.signature(suggest).parameters})


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"heddle.traces.synthetic.{_MODULES[name]}")


def _make(name: str) -> Callable[..., Workload]:
    make: Callable[..., Workload] = _module(name).make
    return make


def _known(name: str) -> str:
    if name not in _MODULES:
        hint = did_you_mean(name, _MODULES)
        raise BadInput.of(name, f"no built-in workload of this name{hint or ';'} known: {', '.join(_MODULES)}")
    return name


def _parse(spec: str) -> tuple[str, dict[str, Any]]:
    """The name, and the given parameters, checked."""
    match = _SPEC.fullmatch(spec)
    if match is None:
        raise BadInput.of(spec, "not a workload; write NAME or NAME(parameter=value, ...)")
    name = _known(match["name"])
    known = {parameter.name: parameter for parameter in describe(name).parameters}
    problems = Problems(spec)
    given: dict[str, Any] = {}
    for part in (match["arguments"] or "").split(","):
        key, equals, text = (piece.strip() for piece in part.partition("="))
        if not (key or equals):
            continue
        if not equals:
            problems.add("say parameter=value", field=key)
        elif key not in known:
            problems.add(f"unknown parameter{did_you_mean(key, known) or ';'} known are {', '.join(known)}", field=key)
        elif key in given:
            problems.add("given twice", field=key)
        else:
            given[key] = _value(known[key], text, problems)
    problems.raise_if_any()
    return name, given


def _value(parameter: Parameter, text: str, problems: Problems) -> int | float | bool:
    value: int | float | bool
    try:
        value = _TRUTH[text.lower()] if parameter.kind is bool else parameter.kind(text.replace("_", ""))
    except (KeyError, ValueError):
        expected = {bool: "true or false", int: "a whole number", float: "a number"}[parameter.kind]
        problems.add(f"must be {expected}, not {text or 'nothing'}", field=parameter.name)
        return parameter.default
    low = float("-inf") if parameter.low is None else parameter.low
    high = 1e12 if parameter.high is None else parameter.high
    if not low <= value <= high:  # refuses NaN too
        problems.add(f"must be between {low:g} and {high:g}, not {text}", field=parameter.name)
    return value
