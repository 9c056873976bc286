"""Events as levers hear them."""

from __future__ import annotations

from heddle.model.compiled import compiled_live as compiled


@compiled
def write_event(events, k, node, stage, container, value):
    events[k, 0], events[k, 1], events[k, 2], events[k, 3] = node, stage, container, value
