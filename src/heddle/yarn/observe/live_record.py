"""A run record of what was observed on a real cluster: the same tables that the simulator writes.

A task is a container; a stage is a kind of container of an application (priority and size). What nobody can know from
outside is null, or, where the record must have a value, its bound: `alone_ms` is the longest container of the job, AMs
aside. 0 is when the first application came or, if that was later, when somebody began to look.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, NamedTuple

import polars as pl

from heddle.model.own_sources import own_version
from heddle.model.reasons import Outcome, Reason
from heddle.model.resources import BASE_RESOURCES
from heddle.model.workload import AM, TASKS
from heddle.record.manifest import FORMAT_VERSION, LIVE_SOURCE
from heddle.record.run import Run
from heddle.record.schema import Table, tables
from heddle.yarn.live.kinds import MAPS_ALONE, kinds_of
from heddle.yarn.live.things_seen import Size
from heddle.yarn.observe.merging import with_histories
from heddle.yarn.observe.outcomes import job_outcome, outcome_of, retried
from heddle.yarn.observe.seen import AppLife, ContainerLife, Seen
from heddle.yarn.observe.tallies import Used

# MapReduce's AM asks for maps, reduces and maps that failed with these priorities.
_MAPREDUCE: Final = {20: "map", 10: "reduce", 5: "map again"}


@dataclass(frozen=True)
class Kind:
    """A stage: containers of one application with the same priority and size."""

    app: str
    is_am: bool
    priority: int
    size: Size


class _Rows(NamedTuple):
    """The numbers that things have in the record, and the instant that is 0 there."""

    job: Mapping[str, int]
    stage: Mapping[Kind, int]
    shape: Mapping[Size, int]
    node: Mapping[str, int]
    began_ms: int


def record_of(
    seen: Seen, *, policy: str, workload: str, started_by: list[str], use: Mapping[str, Used] | None = None
) -> Run:
    """The record of everything that was seen, but for containers of a node that no answer showed.

    `use`: what containers used, by id, where a tracker sampled them.
    """
    known = tables(BASE_RESOURCES)
    seen = with_histories(seen)
    apps = sorted(seen.apps.values(), key=lambda app: (app.submitted_at_ms, app.id))
    began_ms = max(apps[0].submitted_at_ms, seen.began_ms) if apps else 0
    job_of = {app.id: number for number, app in enumerate(apps)}
    containers = sorted(
        (c for c in seen.containers.values() if c.app in job_of and c.node in seen.nodes),
        key=lambda c: (job_of[c.app], not c.is_am, c.priority, c.size, c.began_at_ms, c.id),
    )
    kinds = Counter(_kind(container) for container in containers)  # in order of first sight
    rows = _Rows(
        job=job_of,
        stage={kind: number for number, kind in enumerate(kinds)},
        shape={size: number for number, size in enumerate(sorted({kind.size for kind in kinds}))},
        node={name: number for number, name in enumerate(sorted(seen.nodes))},
        began_ms=began_ms,
    )
    use = use or {}
    outcomes = [outcome_of(container, seen.apps[container.app]) for container in containers]
    attempts = [
        _attempt(number, container, rows, seen.apps[container.app], use, outcomes[number])
        for number, container in enumerate(containers)
    ]
    until_ms = _last_known_ms(apps, containers)
    held = [(c.size, max(0, (c.ended_at_ms or until_ms) - max(c.began_at_ms, began_ms))) for c in containers]
    used = [use[c.id] for c in containers if c.id in use]
    use_known = bool(containers) and all(c.id in use for c in containers if not c.is_am)
    ended = all(app.ended_at_ms is not None for app in apps)
    totals = [node.total for node in seen.nodes.values()]
    nodes = _nodes(seen, rows)
    counted = {
        str(job_of[app.id]): [1000 * app.memory_mb_seconds, 1_000_000 * app.vcore_seconds]
        for app in apps
        if app.memory_mb_seconds is not None and app.vcore_seconds is not None
    }
    manifest = {
        "format_version": FORMAT_VERSION,
        "heddle_version": own_version(),
        "policy": policy,
        "seed": 0,
        "executor": "yarn-knobs",
        "workload": {"name": workload, "hash": _digest([app.id for app in apps]), "about": {"source": LIVE_SOURCE}},
        "cluster": {
            "name": "live", "hash": _digest(nodes), "nodes": len(nodes), "resources": list(BASE_RESOURCES),
        },
        "resources": list(BASE_RESOURCES),
        "capacity_total": [sum(total[r] for total in totals) for r in range(2)],
        "allowance_total": [sum(total[r] for total in totals) for r in range(2)],
        "outcome": "finished" if ended else "stalled",
        "reason": None if ended else "applications were still running when the observation ended",
        "wall_s": None, "simulate_s": None, "compile_s": None, "peak_rss_mb": None,
        "started_by": started_by,
        "complete_attempts": True,  # all that were seen; YARN's own accounts tell what was not
        "use_known": use_known,
        "totals": {
            "reserved_ms": [sum(size[r] * ms for size, ms in held) for r in range(2)],
            "yarn_reserved_ms": [sum(amounts[r] for amounts in counted.values()) for r in range(2)],
            "yarn_reserved_by_job_ms": counted,
            "used_ms": [sum(one.amounts[r] for one in used) if use_known else None for r in range(2)],
            "crashed_tasks": 0, "killed_tasks": outcomes.count(Outcome.LIMIT_KILLED),
            "retried_tasks": sum(retried(c) for c in containers), "preempted_tasks": outcomes.count(Outcome.PREEMPTED),
            "allocations": len(containers),
            "moved_bytes": _received(used), "cross_rack_bytes": None, "local_bytes": None, "fetch_ms": None,
        },
    }  # fmt: skip
    return Run(
        manifest=manifest,
        jobs=_frame(known["jobs"], _jobs(apps, containers, rows)),
        attempts=_frame(known["attempts"], attempts),
        shapes=_frame(known["shapes"], ((number, *size) for size, number in rows.shape.items())),
        stages=_frame(known["stages"], _stages(kinds, rows, seen.apps)),
        nodes=_frame(known["nodes"], nodes),
        events=_frame(known["events"], _events(seen, apps, rows)),
    )


def _last_known_ms(apps: Iterable[AppLife], containers: Iterable[ContainerLife]) -> int:
    """The end of a record, which is also that of its ledger: what is still there then has been held until then."""
    ends = [app.ended_at_ms for app in apps]
    for one in containers:
        ends += (one.asked_at_ms, one.began_at_ms, one.started_at_ms, one.ended_at_ms)
    return max((at_ms for at_ms in ends if at_ms is not None), default=0)


def _received(use: Iterable[Used]) -> int | None:
    """From other machines, by all containers that a tracker saw; None: it could not tell of any."""
    known = [used.received_bytes for used in use if used.received_bytes is not None]
    return sum(known) if known else None


def _kind(container: ContainerLife) -> Kind:
    return Kind(container.app, container.is_am, container.priority, container.size)


def _jobs(apps: list[AppLife], containers: list[ContainerLife], rows: _Rows) -> Iterable[tuple[Any, ...]]:
    of_app: dict[str, list[ContainerLife]] = {app.id: [] for app in apps}
    for container in containers:
        of_app[container.app].append(container)
    for app in apps:
        mine = of_app[app.id]
        tasks = [c for c in mine if not c.is_am]
        longest_ms = max(((c.ended_at_ms or c.began_at_ms) - c.began_at_ms for c in tasks), default=0)
        yield (
            rows.job[app.id], app.name, app.queue, app.user, app.submitted_at_ms - rows.began_ms,
            _after(rows.began_ms, [c.began_at_ms for c in mine if c.is_am]),
            _after(rows.began_ms, [c.began_at_ms for c in tasks]),
            None if app.ended_at_ms is None else app.ended_at_ms - rows.began_ms,
            job_outcome(app).name.lower(), len(tasks), longest_ms,
        )  # fmt: skip


def _after(began_ms: int, instants: list[int]) -> int | None:
    return min(instants) - began_ms if instants else None


def _attempt(
    number: int, container: ContainerLife, rows: _Rows, app: AppLife, use: Mapping[str, Used], outcome: int
) -> tuple[Any, ...]:
    began = container.began_at_ms - rows.began_ms
    started = container.began_at_ms if container.started_at_ms is None else container.started_at_ms
    asked = app.submitted_at_ms if container.is_am else container.asked_at_ms
    memory_mb_ms, millicores_ms, received_bytes = use.get(container.id, (None, None, None))
    return (
        number, rows.job[container.app], rows.stage[_kind(container)], 0, AM if container.is_am else TASKS,
        rows.node[container.node], asked - rows.began_ms, began, started - rows.began_ms,
        None if container.ended_at_ms is None else container.ended_at_ms - rows.began_ms,
        outcome, rows.shape[container.size], memory_mb_ms, millicores_ms,
        None, None, received_bytes, None,  # what it fetched, but not when, nor across which racks
        None,  # several may begin within the millisecond that YARN tells
    )  # fmt: skip


def _stages(kinds: Mapping[Kind, int], rows: _Rows, apps: Mapping[str, AppLife]) -> Iterable[tuple[Any, ...]]:
    for kind, n_tasks in kinds.items():
        yield (
            rows.stage[kind], rows.job[kind.app], stage_name(kind, apps[kind.app]), AM if kind.is_am else TASKS,
            n_tasks, rows.shape[kind.size],
        )  # fmt: skip


def stage_name(kind: Kind, app: AppLife) -> str:
    if kind.is_am:
        return "am"
    if app.kind == "MAPREDUCE" and kind.priority in _MAPREDUCE:
        return _MAPREDUCE[kind.priority]
    told = kinds_of(app.kind, app.tags)
    if told == MAPS_ALONE:
        return f"priority {kind.priority}"
    requests = told.of(kind.priority)
    return f"{'reduce' if requests.early else 'map'}-{requests.iteration}"


def _nodes(seen: Seen, rows: _Rows) -> list[tuple[Any, ...]]:
    """As first seen. A node's hardware is not known from outside: what it may promise stands for it."""
    made = []
    for name, number in rows.node.items():
        node = seen.nodes[name]
        made.append((number, name, node.rack, node.label, *node.total, *node.total))
    return made


def _events(seen: Seen, apps: list[AppLife], rows: _Rows) -> list[tuple[Any, ...]]:
    why = int(Reason.NONE)
    made = []
    for job, app in enumerate(apps):
        at_ms = app.submitted_at_ms - rows.began_ms
        made.append((at_ms, "job_arrived", job, -1, -1, why, at_ms, None))
        if app.ended_at_ms is not None:
            made.append((app.ended_at_ms - rows.began_ms, "job_ended", job, -1, -1, why, int(job_outcome(app)), None))
    for at_ms, node, total in seen.sizes:
        for r, resource in enumerate(BASE_RESOURCES):
            made.append((at_ms - rows.began_ms, f"size_{resource}", -1, -1, rows.node[node], why, total[r], None))
    return sorted(made, key=lambda row: row[0])


def _frame(table: Table, rows: Iterable[tuple[Any, ...]]) -> pl.DataFrame:
    schema = {column.name: column.dtype for column in table.columns}
    return pl.DataFrame(list(rows), schema=schema, orient="row")


def _digest(of: Any) -> str:
    return hashlib.sha256(json.dumps(of).encode()).hexdigest()[:16]


def export(seen: Seen, use: Mapping[str, Used]) -> dict[str, Any]:
    """Jobs with their containers, as one JSON document; instants in ms since 1970, use null where unknown."""
    of_app: dict[str, list[dict[str, Any]]] = {app: [] for app in seen.apps}
    for container in with_histories(seen).containers.values():
        memory_mb_ms, millicores_ms, received_bytes = use.get(container.id, (None, None, None))
        used = {"used_memory_mb_ms": memory_mb_ms, "used_vcores_milli_ms": millicores_ms}
        of_app.setdefault(container.app, []).append({**asdict(container), **used, "received_bytes": received_bytes})
    return {
        "jobs": [
            {**asdict(app), "counters": _counters(seen, app.id), "containers": of_app[app.id]}
            for app in seen.apps.values()
        ]
    }


def _counters(seen: Seen, app: str) -> dict[str, int] | None:
    """Of a job's history; null where there is none."""
    return seen.histories[app].counters if app in seen.histories else None
