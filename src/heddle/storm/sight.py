"""What a process was told and what it asks for: at the wire, whatever it makes of it."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from heddle.model.resources import MILLI
from heddle.storm.answers import path_and_query, queue_changes
from heddle.storm.machine import Asked
from heddle.storm.network import Told
from heddle.storm.truth import Place
from heddle.yarn.live.applying.standing import LEAVES, PRIORITIES, QUEUES, SIZES, Part, same

_RESIZED: Final = re.compile(r"/nodes/(?P<name>[^/]+)/resource")
_PRIORITISED: Final = re.compile(r"/apps/(?P<name>[^/]+)/priority")
_MOVED: Final = re.compile(r"/apps/(?P<name>[^/]+)/queue")

Figures = tuple[float, ...]


@dataclass
class Sight:
    """What a process was last told."""

    reads_s: dict[str, list[float]] = field(default_factory=dict)  # kind of knob -> when it read them as they are
    told: dict[str, Told] = field(default_factory=dict)  # what the last read was worth
    misled: set[str] = field(default_factory=set)  # kinds of knobs of which it was ever told something else
    nodes_text: str = ""  # what it was last told about nodes
    queues_text: str = ""
    figures_s: dict[str, tuple[Figures, float]] = field(default_factory=dict)  # node -> what it measures, since when

    def nodes(self) -> dict[str, dict[str, Any]]:
        """Empty: something that cannot be read."""
        try:
            return {str(row["id"]): row for row in json.loads(self.nodes_text)["nodes"].get("node", [])}
        except (ValueError, KeyError, TypeError, AttributeError):
            return {}

    def queues(self) -> dict[str, dict[str, Any]]:
        try:
            rows = json.loads(self.queues_text)["scheduler"]["schedulerInfo"]["queues"]["queue"]
            return {str(row["queueName"]): row for row in rows}
        except (ValueError, KeyError, TypeError, AttributeError):
            return {}

    def knew_better(self, what: str, place: Place) -> bool:
        """Whether the process has seen a knob before and after a person turned it, and was not told otherwise since.

        A setting or a priority that steering never turned is found as it stands then, and put back so.
        """
        if what != SIZES and not place.was_ours:
            return False
        if place.was_asked_for(what, place.now) or any(same(what, place.now, one) for one in place.was_native):
            return False  # that cannot be told from ours, or from what was found
        is_true = self.told.get(what) is Told.TRUE
        return self._saw_before(what, place) and is_true and self.reads_s[what][-1] > place.since_s

    def was_told_otherwise(self, what: str, place: Place) -> bool:
        """Whether the last answer may have hidden what a person did: a stale one only from who had asked before."""
        told = self.told.get(what)
        return told is Told.ALTERED or (told is Told.STALE and self._saw_before(what, place))

    def _saw_before(self, what: str, place: Place) -> bool:
        """Whether it has seen a knob before somebody turned it: one that has not is shown theirs from the first."""
        reads_s = self.reads_s.get(what, [])
        return bisect_left(reads_s, place.since_s) > bisect_left(reads_s, place.began_s)


def path_of(target: str) -> str:
    return path_and_query(target)[0]


def may_kill(asked: Asked) -> bool:
    """Whether it resizes a node such that YARN takes containers away to fit the new size."""
    is_resized = _RESIZED.fullmatch(path_of(asked.target)) is not None
    return is_resized and json.loads(asked.body or "{}").get("overCommitTimeout") != -1


def turned(asked: Asked) -> Iterator[tuple[Part, Any]]:
    """The knobs that a request turns."""
    path, body = path_of(asked.target), asked.body or ""
    if path == "/scheduler-conf":
        for leaf, key, value in queue_changes(body):
            yield (QUEUES, leaf, key), value or None
    elif node := _RESIZED.fullmatch(path):
        size = json.loads(body)["resource"]
        yield (SIZES, node["name"], ""), (int(size["memory"]), MILLI * int(size["vCores"]))
    elif app := _PRIORITISED.fullmatch(path):
        yield (PRIORITIES, app["name"], ""), int(json.loads(body)["priority"])
    elif app := _MOVED.fullmatch(path):
        yield (LEAVES, app["name"], ""), str(json.loads(body)["queue"])
