"""For how long choosing has been watched in shadow mode on a cluster: live it wants to have been, for an hour."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Final

from heddle.model.errors import RunRefused
from heddle.model.nested_text import from_json
from heddle.yarn.live.steering.desk import Desk

NEEDED_S: Final = 3600.0


@dataclass
class ShadowTime:
    """On the desk of the cluster's controller; only cycles count that went as they should."""

    desk: Desk
    say: Callable[[str], None]
    _is_said: bool = field(default=False, init=False)

    @property
    def _file(self) -> Path:
        return self.desk.folder / "choosing.json"

    @property
    def seconds(self) -> float:
        try:
            seconds = float(from_json(self.desk.world.files.read(self._file))["shadow_s"])
        except (OSError, ValueError, KeyError, TypeError, OverflowError):
            return 0.0
        return seconds if 0 <= seconds < inf else 0.0

    def add(self, seconds: float) -> None:
        try:
            self.desk.world.files.write(self._file, json.dumps({"shadow_s": self.seconds + seconds}).encode())
        except OSError as error:
            if not self._is_said:
                self.say(f"{self._file}: cannot be written ({error.strerror}); this time in shadow mode does not count")
            self._is_said = True

    def must_be_enough(self) -> None:
        if self.seconds < NEEDED_S:
            raise RunRefused(
                f"choosing was watched in shadow mode for {self.seconds / 60:.0f} min on this cluster, and needs"
                f" {NEEDED_S / 60:.0f}: `heddle yarn steer --choose` does that; --yes goes on without"
            )
