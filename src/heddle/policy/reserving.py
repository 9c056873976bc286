"""The forms in which a queues lever keeps nodes for requests that do not fit yet."""

from __future__ import annotations

from typing import Final

# Not at all; as many nodes as tasks wait, and a leaf for a request that the queue's maximum keeps back; where `keeps`
# says so, on a part of the nodes; always.
RESERVING: Final = ("none", "capacity", "starved", "always")
