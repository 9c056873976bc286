"""How many tasks MapReduce jobs have, asked of their AMs through the ResourceManager's proxy."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from urllib.parse import quote

from heddle.yarn.live.client import RmClient
from heddle.yarn.live.rm_answers import Reading, rows_under, whole
from heddle.yarn.live.wire import YarnError

CALLS_AT_ONCE: Final = 50  # in one cycle: totals do not change, and the rest is asked for in the next


class Masters:
    """`totals`: of each application that has told, its tasks by stage."""

    def __init__(self, client: RmClient) -> None:
        self._client = client
        self.totals: dict[str, dict[str, int]] = {}

    def ask(self, apps: Iterable[str]) -> None:
        """Those that have not told yet. An AM that does not answer is asked again in the next cycle."""
        wanted = [app for app in apps if app not in self.totals]
        for app in wanted[:CALLS_AT_ONCE]:
            try:
                self.totals[app] = self._read(app)
            except YarnError:
                continue

    def _read(self, app: str) -> dict[str, int]:
        path = f"/proxy/{quote(app)}/ws/v1/mapreduce/jobs"
        with Reading(f"{self._client.address}{path}"):
            (job,) = rows_under(self._client.get(path), "jobs", "job")
            return {"map": whole(job["mapsTotal"]), "reduce": whole(job["reducesTotal"])}
