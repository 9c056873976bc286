"""Every field of a record's manifest.json, named once: its type and its meaning."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from heddle.model.errors import Problem

FORMAT_VERSION: Final = 2
PARTIAL: Final = "partial"  # what is known of a run that was killed
RUN_OUTCOMES: Final = ("finished", "stalled", PARTIAL)
EXECUTORS: Final = ("native", "yarn-knobs", "bridge")
LIVE_SOURCE: Final = "a live YARN"  # where the jobs of a record come from that was observed, not simulated


@dataclass(frozen=True)
class ManifestField:
    """A field of manifest.json; a dotted name lies inside another field."""

    name: str
    kind: str  # for people
    meaning: str
    accepts: Callable[[Any], bool]
    optional: bool = False  # may be left out


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _flag(value: Any) -> bool:
    return isinstance(value, bool)


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _count(value: Any) -> bool:
    return _whole(value) and value >= 0


def _amount(value: Any) -> bool:
    return value is None or ((_whole(value) or isinstance(value, float)) and value >= 0)


def _list_of(accepts: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, (list, tuple)) and all(accepts(item) for item in value)


def _count_or_null(value: Any) -> bool:
    return value is None or _count(value)


MANIFEST: Final = (
    ManifestField("format_version", "integer", f"version of this format: {FORMAT_VERSION}", _count),
    ManifestField("heddle_version", "text", "the version of heddle that wrote the record", _text),
    ManifestField("policy", "text", "the policy as the user wrote it", _text),
    ManifestField("seed", "integer", "the seed of the run's random draws", _whole),
    ManifestField("executor", "text", "one of " + ", ".join(EXECUTORS), lambda value: value in EXECUTORS),
    ManifestField("workload.name", "text", "name of the workload", _text),
    ManifestField("workload.hash", "text", "digest of its content", _text),
    ManifestField("workload.about", "object", "where it comes from", lambda value: isinstance(value, dict)),
    ManifestField("cluster.name", "text", "name of the cluster", _text),
    ManifestField("cluster.hash", "text", "digest of its configuration", _text),
    ManifestField("cluster.nodes", "integer", "number of nodes", _count),
    ManifestField("cluster.resources", "list of text", "its resources, as in `resources`", _list_of(_text)),
    ManifestField("cluster.queues", "object",
                  "for each queue `parent`, `maximum_permille` (or, if not null, `maximum`: amounts), "
                  "`am_share_permille` (-1: the policy's); may be missing",
                  lambda value: isinstance(value, dict), optional=True),
    ManifestField("cluster.background", "object",
                  "for each node with background load, by number: lists of [ms, [use per resource]]; may be missing",
                  lambda value: isinstance(value, dict), optional=True),
    ManifestField("resources", "list of text", "resources; lists per resource have this order", _list_of(_text)),
    ManifestField("capacity_total", "integer per resource", "hardware of all nodes", _list_of(_count)),
    ManifestField("allowance_total", "integer per resource", "what may be promised on all nodes", _list_of(_count)),
    ManifestField("outcome", "text", "one of " + ", ".join(RUN_OUTCOMES), lambda value: value in RUN_OUTCOMES),
    ManifestField("reason", "text or null", "why it stalled; for a partial record, how far the run is known",
                  lambda value: value is None or _text(value)),
    ManifestField("choices", "list of objects",
                  "each cycle of a run that chose its policy (`--choose`): `at_ms`, `in_force`, `chosen`, `why`, "
                  "`prospects` (for each policy, the predicted mean number of applications until `horizon_ms` later, "
                  "and how many fewer than under the active one), `predicted`: the same for the chosen policy, "
                  "`came`: how many there were; may be missing",
                  _list_of(lambda value: isinstance(value, dict)), optional=True),
    ManifestField("wall_s", "number or null", "wall time of the whole run", _amount),
    ManifestField("simulate_s", "number or null", "of this, time spent simulating", _amount),
    ManifestField("compile_s", "number or null", "of this, time spent compiling", _amount),
    ManifestField("peak_rss_mb", "number or null", "peak memory of the process", _amount),
    ManifestField("started_by", "list of text, or text", "the command line, or `api`",
                  lambda value: _text(value) or _list_of(_text)(value)),
    ManifestField("complete_attempts", "boolean", "`attempts` has every attempt, not only each task's last", _flag),
    ManifestField("use_known", "boolean", "the true use of every working task was recorded", _flag),
    ManifestField("totals.reserved_ms", "integer per resource", "reserved from allocation to end, in resource x ms",
                  _list_of(_count)),
    ManifestField("totals.yarn_reserved_ms", "integer per resource",
                  "in live records, YARN's own memorySeconds and vcoreSeconds of ended applications; may be missing",
                  _list_of(_count), optional=True),
    ManifestField("totals.yarn_reserved_by_job_ms", "object",
                  "the same for each ended application, by job number; may be missing",
                  lambda value: isinstance(value, dict) and all(_list_of(_count)(one) for one in value.values()),
                  optional=True),
    ManifestField("totals.used_ms", "integer or null per resource", "used, in resource x ms", _list_of(_count_or_null)),
    ManifestField("totals.crashed_tasks", "integer", "attempts that ended because a node's memory was full", _count),
    ManifestField("totals.killed_tasks", "integer", "attempts killed above their own reservation", _count),
    ManifestField("totals.retried_tasks", "integer", "attempts that were not a task's first", _count),
    ManifestField("totals.preempted_tasks", "integer", "attempts that were preempted", _count),
    ManifestField("totals.allocations", "integer", "containers allocated", _count),
    ManifestField("totals.moved_bytes", "integer or null", "moved between nodes; null: unknown", _count_or_null),
    ManifestField("totals.cross_rack_bytes", "integer or null", "of these, between racks", _count_or_null),
    ManifestField("totals.local_bytes", "integer or null", "read by tasks on their own node", _count_or_null),
    ManifestField("totals.fetch_ms", "integer or null", "total time that attempts spent fetching", _count_or_null),
)  # fmt: skip

_PER_RESOURCE: Final = (
    "cluster.resources",
    "capacity_total",
    "allowance_total",
    "totals.reserved_ms",
    "totals.used_ms",
)
_MISSING: Final = object()


def _look_up(manifest: Mapping[str, Any], dotted: str) -> Any:
    value: Any = manifest
    for part in dotted.split("."):
        if not isinstance(value, Mapping) or part not in value:
            return _MISSING
        value = value[part]
    return value


def manifest_problems(manifest: Mapping[str, Any], where: str) -> list[Problem]:
    """All that is wrong with a manifest."""
    problems = []
    for field in MANIFEST:
        value = _look_up(manifest, field.name)
        if value is _MISSING:
            if field.optional:
                continue
            problems.append(Problem(where, "is missing", field=field.name))
        elif not field.accepts(value):
            problems.append(Problem(where, f"must be {field.kind}, not {value!r}", field=field.name))
    if not problems:
        n_resources = len(manifest["resources"])
        problems += [
            Problem(where, f"must have one entry for each of {n_resources} resources", field=name)
            for name in _PER_RESOURCE
            if len(_look_up(manifest, name)) != n_resources
        ]
    return problems
