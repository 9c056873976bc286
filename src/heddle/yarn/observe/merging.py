"""Puts what histories tell into what was seen at the ResourceManager.

An attempt's history says when its process was launched and its task finished; the container goes a little later, when
its process has ended and the node has told so. What the polls saw is therefore kept, and the history narrows it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from heddle.yarn.observe.seen import AttemptTold, ContainerLife, JobTold, Seen

RELEASED_AFTER_MS: Final = 1000  # a task finishes, its JVM ends, its node's next heartbeat says so
# What MapReduce's AM asks for them with; a map that failed is asked for again with 5.
_PRIORITY: Final = {"AM": 0, "REDUCE": 10, "MAP": 20}


def with_histories(seen: Seen) -> Seen:
    """The same, with containers as their jobs' histories know them, also those that no poll saw."""
    containers = dict(seen.containers)
    for told in seen.histories.values():
        for life in _lives(seen, told):
            containers[life.id] = life
    return replace(seen, containers=containers)


def _lives(seen: Seen, told: JobTold) -> Iterator[ContainerLife]:
    nodes = {node.http: name for name, node in seen.nodes.items() if node.http} | {n: n for n in seen.nodes}
    for attempt in told.attempts:
        life = seen.containers.get(attempt.container)
        if life is None:
            if attempt.kind not in told.sizes.keys() & _PRIORITY.keys() or attempt.node not in nodes:
                continue
            began = attempt.began_at_ms
            life = ContainerLife(
                id=attempt.container, app=told.app, node=nodes[attempt.node], priority=_PRIORITY[attempt.kind],
                size=told.sizes[attempt.kind], is_am=attempt.kind == "AM", asked_at_ms=began, began_at_ms=began,
            )  # fmt: skip
        yield replace(
            life,
            started_at_ms=max(life.began_at_ms, attempt.began_at_ms),
            ended_at_ms=_end_ms(life, attempt),
            attempt=attempt.id,
            state=attempt.state,
            diagnostics=attempt.diagnostics,
        )


def _end_ms(life: ContainerLife, attempt: AttemptTold) -> int:
    if life.ended_between_ms is None:  # no poll saw it go
        return life.ended_at_ms or attempt.ended_at_ms + RELEASED_AFTER_MS
    first_ms, last_ms = life.ended_between_ms
    first_ms = min(last_ms, max(first_ms, attempt.ended_at_ms))
    return first_ms + min((last_ms - first_ms) // 2, RELEASED_AFTER_MS)
