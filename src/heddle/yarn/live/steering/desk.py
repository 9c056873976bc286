"""The folder in which a controller of one ResourceManager keeps what must outlive it.

lock            held by the one controller, or by `restore`
baseline.json   what must be put back; there from before the first change until all of it is
beat            when the controller last lived, by the machine's monotonic clock, which no clock jump moves
paused          there while somebody wants the controller to change nothing
"""

from __future__ import annotations

import json
import re
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from heddle.model.errors import BadInput, RunRefused
from heddle.yarn.live.applying.standing import Standing
from heddle.yarn.live.files import state_folder
from heddle.yarn.live.world import REAL, World


@dataclass(frozen=True)
class Baseline:
    """What to put back, and where."""

    rm: str
    user: str | None
    found: Standing


@dataclass(frozen=True)
class Desk:
    """The files of one ResourceManager's controller, and the world that it works in."""

    folder: Path
    world: World = REAL

    @property
    def baseline_file(self) -> Path:
        return self.folder / "baseline.json"

    def lock(self) -> AbstractContextManager[None]:
        return self.world.files.lock(
            self.folder / "lock",
            f"another controller steers this cluster, or a restore is at work ({self.folder}); one at a time",
        )

    def save(self, baseline: Baseline) -> None:
        """Durable when it returns. RunRefused where that cannot be (a full disk): then nothing may be changed."""
        try:
            self.world.files.write(self.baseline_file, json.dumps(asdict(baseline), indent=1).encode())
        except OSError as error:
            raise RunRefused(
                f"{self.baseline_file}: cannot be written ({error.strerror or error}), so nothing may be changed"
            ) from None

    @property
    def has_baseline(self) -> bool:
        return self.world.files.exists(self.baseline_file)

    def load(self) -> Baseline | None:
        """What an earlier controller has not put back; None: nothing."""
        try:
            saved: Any = json.loads(self.world.files.read(self.baseline_file))
            found = saved["found"]
            sizes = {str(node): (int(size[0]), int(size[1])) for node, size in found["sizes"].items()}
            queues = {str(queue): dict(of_queue) for queue, of_queue in found["queues"].items()}
            standing = Standing(sizes, queues, dict(found["priorities"]), dict(found["leaves"]))
            return Baseline(str(saved["rm"]), saved["user"], standing)
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
            raise BadInput.of(
                str(self.baseline_file), f"cannot be read ({error}); `heddle yarn restore --from-nodes` needs none"
            ) from None

    def forget(self) -> None:
        self.world.files.remove(self.baseline_file)

    def beat(self) -> None:
        self.world.files.overwrite(self.folder / "beat", f"{self.world.clock.monotonic():020.3f}".encode())

    def beat_age_s(self) -> float:
        try:
            return self.world.clock.monotonic() - float(self.world.files.read(self.folder / "beat"))
        except (OSError, ValueError):
            return float("inf")

    @property
    def paused(self) -> bool:
        return self.world.files.exists(self.folder / "paused")

    def pause(self, wanted: bool) -> None:
        if wanted:
            self.world.files.overwrite(self.folder / "paused", b"")
        else:
            self.world.files.remove(self.folder / "paused")


def desk_of(rm: str, world: World = REAL) -> Desk:
    """The desk of the ResourceManager at this address, on this machine, for this user."""
    return Desk(state_folder() / "steer" / re.sub(r"[^A-Za-z0-9.-]+", "_", rm.partition("//")[2] or rm), world)
