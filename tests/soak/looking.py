"""Once a second: what nodes hold, what the controller's process takes, how long its last step took, its files."""

import getpass
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

from heddle.yarn.live.client import RmClient
from heddle.yarn.live.rm_answers import read_nodes
from heddle.yarn.live.steering.desk import Desk
from heddle.yarn.live.steering.showing import shown_on
from heddle.yarn.live.wire import YarnError
from heddle.yarn.observe.journal import Journal, older

EVERY_S = 1.0


@contextmanager
def looking(rm: str, desk: Desk, decisions: Path, into: Path, began_s: float) -> Iterator[None]:
    """Asks the ResourceManager itself, not by way of any proxy; a line for each look."""
    over = Event()

    def look_on() -> None:
        journal = Journal(into)
        with RmClient(rm, timeout_s=3, user=getpass.getuser()) as client:
            while not over.wait(EVERY_S):
                journal.add({"at_s": round(time.monotonic() - began_s, 3), **look(client, desk, decisions)})
                journal.flush()

    thread = Thread(target=look_on)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def look(client: RmClient, desk: Desk, decisions: Path) -> dict[str, Any]:
    shown = shown_on(desk)
    lives = shown is not None and shown[1]
    step = shown[0] if shown is not None and lives and "act_ms" in shown[0] else None
    return {
        "nodes": _nodes(client),
        "controller": _process(shown[0]["pid"]) if shown is not None and lives else None,
        "step": step and {key: step[key] for key in ("session", "steps", "observe_ms", "decide_ms", "act_ms")},
        "record": _record(decisions),
        "desk_bytes": sum(_bytes_of(file) for file in desk.folder.iterdir()),
    }


def _nodes(client: RmClient) -> dict[str, dict[str, int]] | None:
    try:
        nodes = read_nodes(client.nodes(), client.address)
    except YarnError:
        return None
    return {
        node.id: {"used_mb": node.containers_memory_mb, "reserved_mb": node.allocated[0], "total_mb": node.total[0]}
        for node in nodes.values()
        if node.alive
    }


def _process(pid: int) -> dict[str, float] | None:
    """None: it has ended since."""
    try:
        status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
        handles = sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())
        return {"pid": pid, "rss_mb": int(status["VmRSS"].split()[0]) / 1024, "handles": handles}
    except (OSError, KeyError):  # the latter of a zombie
        return None


def _record(decisions: Path) -> dict[str, int] | None:
    try:
        inode = decisions.stat().st_ino
    except FileNotFoundError:  # for the moment between two files
        return None
    return {"inode": inode, "bytes": _bytes_of(decisions), "older_bytes": _bytes_of(older(decisions))}


def _bytes_of(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0
