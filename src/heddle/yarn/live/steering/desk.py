"""The folder in which a controller of one ResourceManager keeps what must outlive it.

lock            held by the one controller, or by `restore`
baseline.json   what must be put back; there from before the first change until all of it is
beat            when the controller last lived, by the machine's monotonic clock, which no clock jump moves
paused          there while somebody wants the controller to change nothing
ending          names the session that somebody wants to put everything back and end
choosing.json   for how long choosing between policies was watched in shadow mode (twin/shadow_time.py)
shadow.json, live.json and their locks: what a running controller shows of itself (showing.py)
actions.log     who has paused, resumed or ended it from a dashboard, and when
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from heddle.model.errors import BadInput
from heddle.model.nested_text import from_json
from heddle.yarn.live.applying.ownership import Ownership
from heddle.yarn.live.applying.standing import SIZES, Part, Standing
from heddle.yarn.live.files import refused
from heddle.yarn.live.private_folders import private_folder
from heddle.yarn.live.world import REAL, World


@dataclass(frozen=True)
class Baseline:
    """What to put back, and where."""

    rm: str
    user: str | None
    found: Standing
    asked: Mapping[Part, tuple[Any, ...]] | None = None  # where we put what; None: of an earlier version, not told
    kill_below: frozenset[str] = frozenset()  # nodes, as in Ownership

    def ownership(self) -> Ownership:
        return Ownership(self.found, self.asked, self.kill_below)


@dataclass(frozen=True)
class Desk:
    """The files of one ResourceManager's controller, and the world that it works in."""

    folder: Path
    world: World = REAL

    @cached_property
    def baseline_file(self) -> Path:
        return self.folder / "baseline.json"

    @cached_property
    def _beat_file(self) -> Path:
        return self.folder / "beat"

    @cached_property
    def _paused_file(self) -> Path:
        return self.folder / "paused"

    @cached_property
    def _ending_file(self) -> Path:
        return self.folder / "ending"

    def lock(self) -> AbstractContextManager[None]:
        return self.world.files.lock(
            self.folder / "lock",
            f"another controller is steering this cluster, or a restore is running ({self.folder}); one at a time",
        )

    def save(self, baseline: Baseline) -> None:
        """Durable when it returns. RunRefused where that cannot be (a full disk): then nothing may be changed."""
        asked = None if baseline.asked is None else [[part, places] for part, places in baseline.asked.items()]
        found, kill_below = asdict(baseline.found), sorted(baseline.kill_below)
        saved = {"rm": baseline.rm, "user": baseline.user, "found": found, "asked": asked, "kill_below": kill_below}
        with _written(self.baseline_file):
            self.world.files.write(self.baseline_file, json.dumps(saved).encode())

    @property
    def has_baseline(self) -> bool:
        return self.world.files.exists(self.baseline_file)

    def load(self) -> Baseline | None:
        """What an earlier controller has not put back; None: nothing. RunRefused where nobody can tell now."""
        try:
            saved: Any = from_json(self.world.files.read(self.baseline_file))
            found = saved["found"]
            sizes = {str(node): (int(size[0]), int(size[1])) for node, size in found["sizes"].items()}
            queues = {str(queue): dict(of_queue) for queue, of_queue in found["queues"].items()}
            standing = Standing(sizes, queues, dict(found["priorities"]), dict(found["leaves"]))
            kill_below = frozenset(saved.get("kill_below", ()))
            return Baseline(str(saved["rm"]), saved["user"], standing, _asked_in(saved), kill_below)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise refused(self.baseline_file, "cannot be read ({})", error) from None
        except (ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError) as error:
            raise BadInput.of(
                str(self.baseline_file), f"cannot be read ({error}); `heddle yarn restore --from-nodes` needs none"
            ) from None

    def forget(self) -> None:
        """RunRefused where it cannot be taken away (a disk that has become read-only)."""
        with _written(self.baseline_file):
            self.world.files.remove(self.baseline_file)

    def beat(self) -> None:
        with _written(self._beat_file):
            self.world.files.overwrite(self._beat_file, f"{self.world.clock.monotonic():020.3f}".encode())

    def beat_age_s(self) -> float:
        try:
            return self.world.clock.monotonic() - float(self.world.files.read(self._beat_file))
        except (OSError, ValueError):
            return float("inf")

    @property
    def paused(self) -> bool:
        return self.world.files.exists(self._paused_file)

    def pause(self, wanted: bool) -> None:
        if wanted:
            self.world.files.overwrite(self._paused_file, b"")
        else:
            self.world.files.remove(self._paused_file)

    def ask_to_end(self, session: str) -> None:
        """Only the session of this name heeds it, so that what is left of it ends no later one."""
        self.world.files.overwrite(self._ending_file, session.encode())

    def is_to_end(self, session: str) -> bool:
        try:
            return self.world.files.read(self._ending_file) == session.encode()
        except OSError:
            return False


@contextmanager
def _written(file: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise refused(file, "cannot be written ({}), so heddle changes nothing", error) from None


def _asked_in(saved: dict[str, Any]) -> dict[Part, tuple[Any, ...]] | None:
    if saved.get("asked") is None:
        return None
    return {
        (str(what), str(name), str(setting)): tuple(tuple(one) if what == SIZES else one for one in places)
        for (what, name, setting), places in saved["asked"]
    }


def desk_of(rm: str, world: World = REAL) -> Desk:
    """The desk of the ResourceManager at this address, on this machine, for this user."""
    return Desk(private_folder("steer", re.sub(r"[^A-Za-z0-9.-]+", "_", rm.partition("//")[2] or rm)), world)
