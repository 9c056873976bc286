"""What was seen of a live cluster: the lines of the journal, put together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from heddle.yarn.live.things_seen import ContainerSeen, Size


@dataclass(frozen=True)
class ContainerLife(ContainerSeen):
    """A container as far as it was seen."""

    asked_at_ms: int  # when its request was first seen, or its allocation
    began_at_ms: int
    ended_at_ms: int | None = None
    ended_between_ms: tuple[int, int] | None = None  # the polls say no more than this
    started_at_ms: int | None = None  # from here on: where a history tells
    attempt: str | None = None  # its name there
    state: str | None = None
    diagnostics: str = ""


@dataclass(frozen=True)
class AppLife:
    """An application; `memory_mb_seconds` and `vcore_seconds` are YARN's own accounts."""

    id: str
    name: str
    kind: str
    queue: str
    user: str
    submitted_at_ms: int
    launched_at_ms: int | None = None
    ended_at_ms: int | None = None
    final_status: str = "UNDEFINED"
    memory_mb_seconds: int | None = None
    vcore_seconds: int | None = None
    tags: str = ""  # with commas between


@dataclass(frozen=True)
class AttemptTold:
    """One attempt of a task, or of the AM. Nodes are named by their web address, or by their id where that is told."""

    id: str
    container: str
    kind: str  # MAP, REDUCE or AM
    state: str  # SUCCEEDED, FAILED, KILLED
    node: str
    began_at_ms: int
    ended_at_ms: int
    diagnostics: str


@dataclass(frozen=True)
class JobTold:
    """A job's history; `sizes` by kind, only where a container was not seen alive; counters by name."""

    app: str
    state: str
    attempts: tuple[AttemptTold, ...]
    sizes: dict[str, Size]
    counters: dict[str, int]


@dataclass
class Seen:
    """All that was observed, by id. Sizes: (instant, node, total) whenever one changed."""

    apps: dict[str, AppLife] = field(default_factory=dict)
    containers: dict[str, ContainerLife] = field(default_factory=dict)
    nodes: dict[str, dict[str, Any]] = field(default_factory=dict)
    sizes: list[tuple[int, str, Size]] = field(default_factory=list)
    histories: dict[str, JobTold] = field(default_factory=dict)
    began_ms: int = 0  # what had ended before is none of this observation's business
    last_poll_ms: int = 0

    def take(self, entry: Mapping[str, Any]) -> None:
        """One line of the journal."""
        kind, at = entry["what"], dict(entry)
        del at["what"]
        if kind == "app":
            self.apps[at["id"]] = AppLife(**at)
        elif kind == "container":
            between = at.get("ended_between_ms")
            at |= {"size": tuple(at["size"]), "ended_between_ms": tuple(between) if between else None}
            self.containers[at["id"]] = ContainerLife(**at)
        elif kind == "node":
            self.nodes[at["id"]] = at
        elif kind == "size":
            self.sizes.append((at["at_ms"], at["node"], tuple(at["total"])))
        elif kind == "history":
            self.histories[at["app"]] = _job_told(at)
        elif kind == "began":
            self.began_ms = at["at_ms"]
        elif kind == "poll":
            self.last_poll_ms = at["at_ms"]


def _job_told(entry: Mapping[str, Any]) -> JobTold:
    sizes: dict[str, Size] = {kind: tuple(size) for kind, size in entry["sizes"].items()}
    attempts = tuple(AttemptTold(**attempt) for attempt in entry["attempts"])
    return JobTold(**{**entry, "attempts": attempts, "sizes": sizes})
