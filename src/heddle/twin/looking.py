"""One look at a live cluster: what an observer has seen until now, and what the ResourceManager and the AMs tell."""

from __future__ import annotations

from pathlib import Path

from heddle.check.present import present_of
from heddle.twin.known import Snapshot
from heddle.twin.masters import Masters
from heddle.twin.spark_stages import SPARK
from heddle.twin.watched import Watched
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.rm_answers import read_apps
from heddle.yarn.observe.history import MAPREDUCE
from heddle.yarn.observe.observer import Observer


class Looking:
    """`conf`: folder with the scheduler's XML, for what the ResourceManager hides."""

    def __init__(self, client: RmClient, observer: Observer, conf: Path | None = None) -> None:
        self._client, self._observer, self._conf = client, observer, conf
        self._masters = Masters(client)

    def look(self) -> tuple[Snapshot, int]:
        """What is known now, and when that is by the ResourceManager's clock. The observer has polled before."""
        seen = self._observer.seen
        apps = read_apps(self._client.apps(), self._client.address)
        running = [name for name, app in apps.items() if app.running and app.has_am]
        kinds = {name: seen.apps[name].kind for name in running if name in seen.apps}
        self._masters.ask(*([name for name in kinds if kinds[name] == kind] for kind in (MAPREDUCE, SPARK)))
        waiting = {name: app.asks[0].size for name, app in apps.items() if not app.running and app.asks}
        watched = Watched(
            seen, present_of(self._client, self._conf), self._masters.totals,
            {name: app.asks for name, app in apps.items() if app.running}, waiting,
            self._masters.spark, self._masters.spark_stages,
        )  # fmt: skip
        now_ms = self._observer.polled_ms
        return watched.at(now_ms), now_ms
