"""Queues, and who waits in them for how long."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from heddle.yarn.live.things_seen import AppSeen, QueueSeen

SHOWN: Final = 60  # of those who wait: the ones that have waited longest


@dataclass(frozen=True)
class _Since:
    at_s: float
    at_least: bool  # it waited already when we first looked


class Waiting:
    """Remembers since when each application has waited, by our own clock: that of the ResourceManager may be off."""

    def __init__(self) -> None:
        self._since: dict[str, _Since] = {}
        self._looked = False

    def saw(self, apps: Mapping[str, AppSeen], at_s: float) -> dict[str, Any]:
        waits = [app for app in apps.values() if app.asks or not app.running]
        self._since = {app.id: self._since.get(app.id, _Since(at_s, not self._looked)) for app in waits}
        self._looked = True
        longest = sorted(waits, key=lambda app: (self._since[app.id].at_s, app.started_at_ms, app.id))[:SHOWN]
        return {"applications": [self._row(app) for app in longest], "all": len(waits)}

    def _row(self, app: AppSeen) -> dict[str, Any]:
        since = self._since[app.id]
        return {
            "id": app.id, "user": app.user, "queue": app.queue, "am": not app.running,
            "containers": sum(ask.containers for ask in app.asks), "memory_mb": _memory_mb(app),
            "since_s": round(since.at_s, 1), "at_least": since.at_least,
        }  # fmt: skip


def queue_rows(queues: Iterable[QueueSeen], apps: Iterable[AppSeen], promised_mb: int) -> list[dict[str, Any]]:
    """Leaf queues; where the scheduler tells none (Fair), those that applications name."""
    names = {queue.name: queue for queue in queues}
    parents = {name.rpartition(".")[0] for name in names}
    rows: dict[str, dict[str, Any]] = {}
    for name, queue in names.items():
        if name not in parents and name != "root":
            held_mb = None if queue.used is None else queue.used[0]
            rows[name] = {
                "queue": name,
                "guarantee_permille": queue.guarantee_permille,
                "maximum_permille": queue.maximum_permille,
                "used_mb": held_mb,
                "used_permille": None if held_mb is None or not promised_mb else round(1000 * held_mb / promised_mb),
                **_NOBODY,
            }
    by_end = {name.rpartition(".")[2]: name for name in rows}
    for app in apps:
        name = app.queue if app.queue in rows else by_end.get(app.queue, app.queue)
        row = rows.setdefault(name, {**dict.fromkeys(_TOLD), "queue": name, **_NOBODY})
        row["running"] += app.running
        row["waiting"] += bool(app.asks) or not app.running
        row["waiting_containers"] += sum(ask.containers for ask in app.asks)
        row["waiting_mb"] += _memory_mb(app)
    return list(rows.values())


_NOBODY: Final = {"running": 0, "waiting": 0, "waiting_containers": 0, "waiting_mb": 0}
_TOLD: Final = ("guarantee_permille", "maximum_permille", "used_mb", "used_permille")


def _memory_mb(app: AppSeen) -> int:
    return sum(ask.containers * ask.size[0] for ask in app.asks)
