"""The knobs of a YARN, real or simulated: what the applier, and whoever puts things back, turns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from heddle.yarn.live.applying.standing import Standing
from heddle.yarn.live.things_seen import Size


class Knobs(Protocol):
    """Putting back is setting what was found, and proving it by reading: putting_back.py does that for any of them."""

    def read(self, names: Standing) -> Standing:
        """Where the knobs of these names stand now, whatever `names` says; those that are not there are left out:
        of applications only what has ended, or what nobody knows any more."""

    def requests(self, what: str, values: Mapping[str, Any]) -> Iterable[Standing]:
        """Changes of one kind of knob, as they can be made at once."""

    def held(self, nodes: Iterable[str]) -> Mapping[str, Size]:
        """What containers hold on these nodes; those that are not there are left out."""

    def set(self, change: Standing) -> None:
        """Turns the knobs of one request, all or none. YarnError where that is refused or nobody answers."""
