"""What AMs tell of tasks to come, asked through the ResourceManager's proxy: MapReduce once, Spark in every cycle."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Final
from urllib.parse import quote

from heddle.twin.spark_stages import SparkTold, ask_spark
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.rm_answers import Reading, rows_under, whole
from heddle.yarn.live.wire import YarnError

CALLS_AT_ONCE: Final = 50  # in one cycle; whoever has waited longest is asked first in the next
SECONDS_AT_ONCE: Final = 5.0  # no call begins later: AMs may keep us waiting


class _Spent(Exception):
    """No call is left in this cycle."""


class _Budget:
    def __init__(self) -> None:
        self._left, self._until_s = CALLS_AT_ONCE, time.monotonic() + SECONDS_AT_ONCE

    def take(self) -> None:
        if not self._left or time.monotonic() > self._until_s:
            raise _Spent
        self._left -= 1


class Masters:
    """`totals`: of each MapReduce job that has told, its tasks by stage; `spark`: what drivers tell, while they do.

    `spark_stages`: how many stages each Spark application had when it last told.
    """

    def __init__(self, client: RmClient) -> None:
        self._client = client
        self._cycle = 0
        self._asked: dict[str, int] = {}  # in which cycle last
        self.totals: dict[str, dict[str, int]] = {}
        self.spark: dict[str, SparkTold] = {}
        self.spark_stages: dict[str, int] = {}

    def ask(self, mapreduce: Iterable[str], spark: Iterable[str] = ()) -> None:
        """An AM that does not answer is asked again in the next cycle."""
        self._cycle += 1
        budget = _Budget()
        wanted = [(app, False) for app in mapreduce if app not in self.totals] + [(app, True) for app in spark]
        for app, is_spark in sorted(wanted, key=lambda one: self._asked.get(one[0], 0)):
            try:
                budget.take()
                if is_spark:
                    self._ask_spark(app, budget)
                else:
                    self.totals[app] = self._read(app)
            except _Spent:
                return
            except YarnError:
                self.spark.pop(app, None)  # what it told before is out of date by now
            self._asked[app] = self._cycle

    def _ask_spark(self, app: str, budget: _Budget) -> None:
        before = self.spark.get(app)
        told = ask_spark(self._client, app, None if before is None else before.slots, budget)
        if told is not None:
            self.spark[app], self.spark_stages[app] = told, len(told.stages)

    def _read(self, app: str) -> dict[str, int]:
        path = f"/proxy/{quote(app)}/ws/v1/mapreduce/jobs"
        with Reading(f"{self._client.address}{path}"):
            (job,) = rows_under(self._client.get(path), "jobs", "job")
            return {"map": whole(job["mapsTotal"]), "reduce": whole(job["reducesTotal"])}
