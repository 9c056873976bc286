"""What was seen of a live cluster: the lines of the journal, put together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from heddle.yarn.live.things_seen import ContainerSeen, Size
from heddle.yarn.observe.kept_rows import Unfit, each_line, row_of

MOST_COUNTED: Final = 2**63 - 1  # bytes of a job, and more
Counted = Annotated[int, MOST_COUNTED]


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
    counters: dict[str, Counted]


@dataclass(frozen=True)
class NodeLife:
    """A node as it was first seen; `http`: where it answers."""

    id: str
    rack: str
    label: str
    total: Size
    http: str = ""


@dataclass(frozen=True)
class Resized:
    """What a node promises from some instant on."""

    at_ms: int
    node: str
    total: Size


@dataclass(frozen=True)
class Instant:
    """Something that is told by its time alone."""

    at_ms: int


@dataclass
class Seen:
    """All that was observed, by id. Sizes: (instant, node, total) whenever one changed."""

    apps: dict[str, AppLife] = field(default_factory=dict)
    containers: dict[str, ContainerLife] = field(default_factory=dict)
    nodes: dict[str, NodeLife] = field(default_factory=dict)
    sizes: list[tuple[int, str, Size]] = field(default_factory=list)
    histories: dict[str, JobTold] = field(default_factory=dict)
    began_ms: int = 0  # what had ended before is none of this observation's business
    last_poll_ms: int = 0

    def take(self, entry: Mapping[str, Any]) -> None:
        """One line of the journal; Unfit where it is none."""
        kind = entry.get("what")
        if kind == "app":
            app = row_of(AppLife, entry)
            self.apps[app.id] = app
        elif kind == "container":
            container = row_of(ContainerLife, entry)
            self.containers[container.id] = container
        elif kind == "node":
            node = row_of(NodeLife, entry)
            self.nodes[node.id] = node
        elif kind == "size":
            resized = row_of(Resized, entry)
            if resized.node not in self.nodes:
                raise Unfit("node", f"no line before tells of {resized.node!r:.80}")
            self.sizes.append((resized.at_ms, resized.node, resized.total))
        elif kind == "history":
            told = row_of(JobTold, entry)
            self.histories[told.app] = told
        elif kind == "began":
            self.began_ms = row_of(Instant, entry).at_ms
        elif kind == "poll":
            self.last_poll_ms = row_of(Instant, entry).at_ms
        else:
            raise Unfit("what", f"{kind!r:.80} is nothing that an observer writes")


def read_seen(lines: Iterable[Mapping[str, Any]], where: str) -> Seen:
    """What the lines of an observer's journal tell; BadInput where one of them does not."""
    seen = Seen()
    each_line(lines, where, seen.take)
    return seen
