"""The knobs of a YARN, real or simulated: what the applier, and whoever puts things back, turns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from heddle.yarn.live.applying.standing import Standing
from heddle.yarn.live.snapshot import Size


class Knobs(Protocol):
    """Putting back is setting what was found, and proving it by reading: putting_back.py does that for any of them."""

    def read(self, names: Standing) -> Standing:
        """Where the knobs of these names stand now, whatever `names` says; those that are not there are left out."""

    def held(self, nodes: Iterable[str]) -> Mapping[str, Size]:
        """What containers hold on these nodes; those that are not there are left out."""

    def set(self, change: Standing) -> None:
        """Turns knobs, all or none; see changes_at_once. YarnError where that is refused or nobody answers."""
