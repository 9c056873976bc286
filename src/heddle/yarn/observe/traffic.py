"""Network traffic of containers: whose connections carried how much.

Both ends of a container's own connections count: so what a reduce fetches from a NodeManager's shuffle service is the
reduce's, and nobody's on the side that served it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from heddle.yarn.observe.connections import Connection, Connections

LOOKS_FOR_AN_OWNER: Final = 3  # a connection that no container has by then is somebody else's
LOOKS_FOR_ITS_END: Final = 3  # the kernel tells last counts a little after a connection is gone


@dataclass
class Known:
    """A connection that was seen before. `container`: None: nobody's, as far as is known after so many `looks`."""

    container: str | None
    looks: int = 0
    missed: int = 0  # looks in which it was not there
    received: int = 0
    sent: int = 0


class Traffic:
    """Call look() along with what was there before: pid -> container. Network namespaces are found by themselves."""

    def __init__(self) -> None:
        self._namespaces: dict[int, Connections | None] = {}  # by inode; None: the kernel does not let us
        self._known: dict[int, Known] = {}  # by cookie

    def close(self) -> None:
        for there in self._namespaces.values():
            if there is not None:
                there.close()

    def look(self, members: Mapping[int, str]) -> dict[str, tuple[int, int] | None]:
        """What each container has received and sent since the last look; None: it cannot be told.

        Also of one that has just ended, whose connections the kernel only now lets go.
        """
        of_namespace: dict[int, dict[int, str]] = {}
        for pid, container in members.items():
            if (namespace := _namespace_of(pid)) is not None:
                of_namespace.setdefault(namespace, {})[pid] = container
        carried: dict[str, tuple[int, int] | None] = dict.fromkeys(members.values())
        seen: set[int] = set()
        for gone in self._namespaces.keys() - of_namespace.keys():
            if (there := self._namespaces.pop(gone)) is not None:
                there.close()
        for namespace, processes in of_namespace.items():
            if (there := self._connections(namespace, processes)) is None:
                continue
            carried |= dict.fromkeys(processes.values(), (0, 0))
            for container, one in self._owned(list(there.look()), processes, seen):
                known = self._known[one.cookie]
                received, sent = carried.get(container) or (0, 0)
                carried[container] = received + one.received - known.received, sent + one.sent - known.sent
                known.received, known.sent = one.received, one.sent
        for cookie, known in list(self._known.items()):
            known.missed = 0 if cookie in seen else known.missed + 1
            if known.missed > LOOKS_FOR_ITS_END:
                del self._known[cookie]
        return carried

    def _connections(self, namespace: int, processes: Mapping[int, str]) -> Connections | None:
        if namespace not in self._namespaces:
            try:
                self._namespaces[namespace] = Connections(next(iter(processes)))
            except OSError:
                self._namespaces[namespace] = None
        return self._namespaces[namespace]

    def _owned(
        self, found: list[Connection], processes: Mapping[int, str], seen: set[int]
    ) -> Iterator[tuple[str, Connection]]:
        """Those of containers. Only new ones are looked for, since that reads through all open files."""
        doubtful = {}
        for one in found:
            seen.add(one.cookie)
            known = self._known.setdefault(one.cookie, Known(None))
            if known.container is None and known.looks < LOOKS_FOR_AN_OWNER and one.inode:
                known.looks += 1
                doubtful[one.inode] = known
        if doubtful:
            for pid, container in processes.items():
                for inode in _sockets_of(pid) & doubtful.keys():
                    doubtful[inode].container = container
        for one in found:
            owner = self._known[one.cookie].container
            if owner is not None:
                yield owner, one


def _namespace_of(pid: int) -> int | None:
    try:
        return os.stat(f"/proc/{pid}/ns/net").st_ino
    except OSError:  # it has ended, or is none of our business
        return None


def _sockets_of(pid: int) -> set[int]:
    """The inodes of its open sockets."""
    found = set()
    try:
        with os.scandir(f"/proc/{pid}/fd") as files:
            for file in files:
                target = os.readlink(file.path)
                if target.startswith("socket:["):
                    found.add(int(target[len("socket:[") : -1]))
    except OSError:
        pass
    return found
