"""The bridge inside a simulated ResourceManager: what it takes, from whom, and for how long, as BridgeFilter.java does.

It orders nothing: which request goes first is of no account to anything that must hold in a storm.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from heddle.storm.machine import Asked
from heddle.storm.yarn import EPOCH_MS, SimulatedYarn
from heddle.yarn.live.bridge.endpoint import PATH
from heddle.yarn.live.connection import Answer
from heddle.yarn.live.rm_answers import NO_ALLOCATION_ID

SECRET: Final = "known to the controller and to the ResourceManager"
CLOCKS_DIFFER_MS: Final = 60_000  # at most
LONGEST_LEASE_MS: Final = 60_000
MOST_PUTS: Final = 5  # a second
# What follows each word of a table, in words; None: any number of them.
_WORDS: Final = {
    "heddle-table": 3, "form": 3, "counts": 2, "hold": 1, "patience": 1, "reserve": 0, "step-over-vetoed": 0, "node": 3,
    "set": None, "leaf": 1, "size": 2, "request": 8, "plan": 4,
}  # fmt: skip

Named = tuple[str, int, int]  # application, priority, allocation


class TableText(NamedTuple):
    """What a table says, as far as a storm looks at it."""

    version: int
    lease_ms: int
    leaves: frozenset[str]
    named: frozenset[Named]
    vetoed: frozenset[str]  # nodes


class SimulatedBridge:
    """`leaves`: those that ask it. `now_ms`: since the storm began, by the ResourceManager's clock."""

    def __init__(self, yarn: SimulatedYarn, leaves: frozenset[str], now_ms: Callable[[], int]) -> None:
        self._yarn, self.leaves, self._now_ms = yarn, leaves, now_ms
        self.off = ""
        self.malformed: list[str] = []  # why tables cannot be read
        self.heard_twice: list[str] = []  # changes that were made a second time
        self._made: list[Asked] = []
        self._starts = 0
        self.start_anew()

    def start_anew(self) -> None:
        """With its ResourceManager: it remembers nothing."""
        self._starts += 1
        self._last_version = self._last_request = 0
        self._requests: dict[Named, int] = {}
        self._puts_ms: list[int] = []
        self.forget()

    def forget(self) -> None:
        self._held: tuple[TableText, int] | None = None

    @property
    def current(self) -> TableText | None:
        """The table that holds now."""
        if self._held is None or self.off or self._now_ms() >= self._held[1]:
            return None
        return self._held[0]

    @property
    def accepted(self) -> int:
        """How many changes it has made."""
        return len(self._made)

    def hear_again(self, pick: int) -> None:
        """Something that was once accepted is sent a second time, by whoever has listened."""
        if self._made:
            asked = self._made[pick % len(self._made)]
            if self._change(asked, asked.target.removeprefix(PATH)).status == 200:
                self.heard_twice.append(f"{asked.method} {asked.target} {asked.headers}")

    def answer(self, asked: Asked, what: str, query: dict[str, list[str]]) -> Answer:
        if asked.method != "GET":
            return self._change(asked, what)
        if what == "/requests":
            return Answer(200, json.dumps(self._newcomers(int(query["after"][0]))))
        return Answer(200, json.dumps(self._state())) if not what else Answer(404, f"there is no GET {what}\n")

    def _state(self) -> dict[str, Any]:
        table = self.current
        return {
            "build": "storm",
            "instance": self._instance,
            "active": True,
            "needs_secret": True,
            "last_version": self._last_version,
            "table": None if table is None else {"version": table.version},
            "off": self.off,
        }

    @property
    def _instance(self) -> str:
        return f"instance-{self._starts}"

    def _newcomers(self, after: int) -> dict[str, Any]:
        """Requests that no table names, each with a number of its own."""
        rows, table = [], self.current
        named = table.named if table is not None else frozenset()
        for app in self._yarn.look().apps.values():
            for ask in app.asks if app.queue in self.leaves else ():
                one = app.id, ask.priority, NO_ALLOCATION_ID
                if ask.containers == 0 or one in named:
                    self._requests.pop(one, None)
                    continue
                if one not in self._requests:
                    self._last_request += 1
                    self._requests[one] = self._last_request
                if self._requests[one] > after:
                    asked = {"app": app.id, "priority": ask.priority, "allocation": NO_ALLOCATION_ID}
                    size = {"memory_mb": ask.size[0], "millicores": ask.size[1], "containers": ask.containers}
                    rows.append({"number": self._requests[one], **asked, **size})
        return {"requests": rows, "last": max(after, self._last_request), "missed": after > self._last_request}

    def _change(self, asked: Asked, what: str) -> Answer:
        version = int(asked.headers.get("X-Heddle-Version", "0"))
        if why_not := self._why_not(asked, what):
            return Answer(403, why_not)
        if version <= self._last_version:
            return Answer(409, f"version {version} is not above the last one, {self._last_version}")
        self._last_version = version
        if asked.method == "PUT" and not what:
            refused = self._put(asked.body or "", version)
            if refused is not None:
                return refused
        elif asked.method == "DELETE" and not what:
            self.forget()
        elif asked.method == "POST" and what == "/on":
            self.off = ""
        else:
            return Answer(404, f"there is no {asked.method} {what}")
        self._made.append(asked)
        return Answer(200, json.dumps({"accepted": True, "version": version}))

    def _why_not(self, asked: Asked, what: str) -> str:
        headers = asked.headers
        if "X-Heddle-Signature" not in headers:
            return "it is not signed"
        if abs(EPOCH_MS + self._now_ms() - int(headers["X-Heddle-Time"])) > CLOCKS_DIFFER_MS:
            return "its time is more than a minute from the ResourceManager's"
        version, time_ms = headers["X-Heddle-Version"], headers["X-Heddle-Time"]
        said = f"{asked.method} {PATH}{what}\n{self._instance}\n{version}\n{time_ms}\n{asked.body or ''}"
        signature = hmac.new(SECRET.encode(), said.encode(), hashlib.sha256).hexdigest()
        return "" if hmac.compare_digest(signature, headers["X-Heddle-Signature"]) else "the signature is wrong"

    def _put(self, text: str, version: int) -> Answer | None:
        """None: it is taken."""
        now_ms = self._now_ms()
        self._puts_ms = [at_ms for at_ms in self._puts_ms if now_ms - at_ms <= 1000]
        if len(self._puts_ms) >= MOST_PUTS:
            return Answer(429, f"more than {MOST_PUTS} tables a second")
        self._puts_ms.append(now_ms)
        try:
            table = read_table(text)
            if table.version != version:
                raise ValueError("its version is not the one that was signed")
        except (ValueError, IndexError, KeyError) as error:
            self.malformed.append(f"{error!r} in a table of version {version}")
            return Answer(400, str(error))
        self._held = table, now_ms + min(LONGEST_LEASE_MS, table.lease_ms)
        return None


def read_table(text: str) -> TableText:
    """ValueError, IndexError or KeyError where TableReader.java would refuse it."""
    *lines, end, rest = text.split("\n")
    if rest or end != f"end {len(lines)}":
        raise ValueError("cut off: the last line must be `end` with the number of lines before it")
    version = lease_ms = 0
    nodes: list[str] = []
    sets: dict[str, list[str]] = {"-": []}
    leaves, named, vetoed = set[str](), set[Named](), set[str]()
    sized = False
    for number, line in enumerate(lines):
        word, *rest_of = line.split(" ")
        length = _WORDS[word]
        if length is not None and len(rest_of) != length:
            raise ValueError(f"line {number + 1} has {len(rest_of)} words after {word}")
        if (word == "heddle-table") != (number == 0):
            raise ValueError("a table begins, once, with heddle-table")
        if word == "heddle-table":
            version, lease_ms = int(rest_of[1]), int(rest_of[2])
        elif word == "node":
            nodes.append(rest_of[0])
        elif word == "set":
            sets[rest_of[0]] = [nodes[int(one)] for one in rest_of[1:]]
        elif word == "leaf":
            leaves.add(rest_of[0])
            sized = False
        elif word == "size":
            sized = bool(leaves)
        elif word == "request":
            if not sized:
                raise ValueError(f"line {number + 1}: a request has a leaf and a size")
            named.add((rest_of[0], int(rest_of[1]), int(rest_of[2])))
            vetoed.update(sets[rest_of[7]])
    return TableText(version, lease_ms, frozenset(leaves), frozenset(named), frozenset(vetoed))
