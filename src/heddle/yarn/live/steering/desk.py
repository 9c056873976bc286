"""The folder in which a controller of one ResourceManager keeps what must outlive it.

lock            held by the one controller, or by `restore`
baseline.json   what must be put back; there from before the first change until all of it is
beat            when the controller last lived, by the machine's monotonic clock, which no clock jump moves
paused          there while somebody wants the controller to change nothing
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from heddle.model.errors import BadInput, RunRefused
from heddle.yarn.live.snapshot import Size
from heddle.yarn.live.state import only_one, state_folder


@dataclass(frozen=True)
class Found:
    """What was found before it was changed, and must be put back."""

    sizes: dict[str, Size] = field(default_factory=dict)  # nodes: MB and millicores
    queues: dict[str, dict[str, str | None]] = field(default_factory=dict)  # queue -> setting -> value; None: not set
    priorities: dict[str, int] = field(default_factory=dict)  # applications
    leaves: dict[str, str] = field(default_factory=dict)  # applications -> their queue

    def __or__(self, later: Found) -> Found:
        """This, and what was found later of other things: the first find counts."""
        queues = {name: {**later.queues.get(name, {}), **of_queue} for name, of_queue in self.queues.items()}
        return Found(
            later.sizes | self.sizes,
            later.queues | queues,
            later.priorities | self.priorities,
            later.leaves | self.leaves,
        )

    def __sub__(self, theirs: Found) -> Found:
        """This without what is not ours to put back."""
        queues = {name: _without(settings, theirs.queues.get(name, {})) for name, settings in self.queues.items()}
        return Found(
            _without(self.sizes, theirs.sizes),
            {name: settings for name, settings in queues.items() if settings},
            _without(self.priorities, theirs.priorities),
            _without(self.leaves, theirs.leaves),
        )

    def names(self) -> list[str]:
        """Of everything in it."""
        return sorted({*self.sizes, *self.queues, *self.priorities, *self.leaves})

    def __bool__(self) -> bool:
        return bool(self.sizes or self.queues or self.priorities or self.leaves)


def _without(these: dict[str, Any], those: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in these.items() if name not in those}


@dataclass(frozen=True)
class Baseline:
    """What to put back, and where."""

    rm: str
    user: str | None
    found: Found


@dataclass(frozen=True)
class Desk:
    """The files of one ResourceManager's controller."""

    folder: Path

    @property
    def baseline_file(self) -> Path:
        return self.folder / "baseline.json"

    def lock(self) -> AbstractContextManager[None]:
        return only_one(
            self.folder / "lock",
            f"another controller steers this cluster, or a restore is at work ({self.folder}); one at a time",
        )

    def save(self, baseline: Baseline) -> None:
        """Durable when it returns: written beside, synced, renamed, and the folder synced.

        RunRefused where that cannot be (a full disk): then nothing may be changed either.
        """
        try:
            self._write(baseline)
        except OSError as error:
            raise RunRefused(
                f"{self.baseline_file}: cannot be written ({error.strerror or error}), so nothing may be changed"
            ) from None

    def _write(self, baseline: Baseline) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        fresh = self.baseline_file.with_suffix(".partial")
        with fresh.open("w") as file:
            json.dump(asdict(baseline), file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        fresh.rename(self.baseline_file)
        folder = os.open(self.folder, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def load(self) -> Baseline | None:
        """What an earlier controller has not put back; None: nothing."""
        try:
            saved: Any = json.loads(self.baseline_file.read_text())
            found = saved["found"]
            sizes = {str(node): (int(size[0]), int(size[1])) for node, size in found["sizes"].items()}
            queues = {str(queue): dict(of_queue) for queue, of_queue in found["queues"].items()}
            return Baseline(
                str(saved["rm"]), saved["user"], Found(sizes, queues, dict(found["priorities"]), dict(found["leaves"]))
            )
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
            raise BadInput.of(
                str(self.baseline_file), f"cannot be read ({error}); `heddle yarn restore --from-nodes` needs none"
            ) from None

    def forget(self) -> None:
        self.baseline_file.unlink(missing_ok=True)

    def beat(self) -> None:
        # In place and of one length: it needs no room on a full disk after the first time.
        self.folder.mkdir(parents=True, exist_ok=True)
        file = os.open(self.folder / "beat", os.O_CREAT | os.O_WRONLY, 0o644)
        try:
            os.pwrite(file, f"{time.monotonic():020.3f}".encode(), 0)
        finally:
            os.close(file)

    def beat_age_s(self) -> float:
        try:
            return time.monotonic() - float((self.folder / "beat").read_text())
        except (OSError, ValueError):
            return float("inf")

    @property
    def paused(self) -> bool:
        return (self.folder / "paused").exists()

    def pause(self, wanted: bool) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        if wanted:
            (self.folder / "paused").touch()
        else:
            (self.folder / "paused").unlink(missing_ok=True)


def desk_of(rm: str) -> Desk:
    """The desk of the ResourceManager at this address, on this machine, for this user."""
    return Desk(state_folder() / "steer" / re.sub(r"[^A-Za-z0-9.-]+", "_", rm.partition("//")[2] or rm))
