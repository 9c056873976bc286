"""The sizes that a controller may give a node: within its limits, by what it was told, and nobody preempted from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from heddle.model.resources import MEMORY, MILLI, VCORES
from heddle.storm.sight import Sight
from heddle.storm.truth import Place
from heddle.storm.yarn import SimulatedYarn
from heddle.yarn.live.applying.seen import Limits
from heddle.yarn.live.metrics_age import figures_of
from heddle.yarn.live.things_seen import Size

LATE_STEPS_S: Final = 2 * 1.5  # figures that have just become stale may be seen two steps later


class SizesWatched:
    """`limits`, `preempts`: what the controller was told, and whether YARN preempts."""

    def __init__(self, yarn: SimulatedYarn, limits: Limits, preempts: bool) -> None:
        self._yarn, self._limits, self._preempts = yarn, limits, preempts

    def wrong_with(self, name: str, size: Size, place: Place, sight: Sight, now_s: float) -> Iterator[str]:
        """What is wrong with making node `name` so large, after "the controller"."""
        limits = self._limits
        if limits.only is not None and name not in limits.only:
            yield f"resizes {name}, which it was not to touch"
        row = sight.nodes().get(name)
        if row is None:
            return
        sizes = self.own(name, place)
        own = max(one[MEMORY] for one in sizes), max(one[VCORES] for one in sizes)
        try:
            held, now, share = told_of(row, own)
        except (KeyError, TypeError):
            return  # garbled: what it was told there, nobody knows
        if any(wanted < holds for wanted, holds in zip(size, held, strict=True)):
            yield f"makes {name} {size}, below the {held} that it was told are allocated"
        for r in (MEMORY, VCORES):
            if size[r] > max(int(own[r] * limits.overcommit), held[r]):
                yield f"promises {size} on {name}, beyond {limits.overcommit} times {own}"
            if size[r] > max(now[r] + int(own[r] * limits.rise), held[r], own[r]):
                yield f"raises {name} from {now} to {size} at once"
            if share > limits.pressure and size[r] > max(now[r], held[r], own[r]):
                yield f"raises {name} to {size} although {share:.0%} of its memory is in use"
        is_more = any(size[r] > max(own[r], held[r]) for r in (MEMORY, VCORES))
        if is_more and self._stand_still(name, sight, now_s):
            yield f"makes {name} {size} by figures that stand still"
        if self._preempts and any(size[r] < now[r] for r in (MEMORY, VCORES)):
            yield from _preempted(name, size, sight)

    def own(self, name: str, place: Place) -> tuple[Size, ...]:
        """Whichever it found: a NodeManager that starts anew tells its own size again, and a person's is forgotten."""
        return (self._yarn.nodes[name].own, *place.found)

    def _stand_still(self, name: str, sight: Sight, now_s: float) -> bool:
        state = self._yarn.nodes[name]
        stale_s = (self._limits.stale_ms or 0) / 1000 + LATE_STEPS_S
        figures, since_s = sight.figures_s.get(name, ((), now_s))
        has_seen = state.frozen is not None and figures_of(state.frozen) == figures
        return has_seen and now_s - max(since_s, state.frozen_at_s) > stale_s


def told_of(row: dict[str, Any], own: Size) -> tuple[Size, Size, float]:
    """What a node holds, how large it is, and the share of its memory in use."""
    held = int(row["usedMemoryMB"]), MILLI * int(row["usedVirtualCores"])
    now = int(row["totalResource"]["memory"]), MILLI * int(row["totalResource"]["vCores"])
    used_mb = int(row["resourceUtilization"]["aggregatedContainersPhysicalMemoryMB"])
    return held, now, max(float(row["memUtilization"]) / 100, used_mb / own[MEMORY])


def _preempted(name: str, size: Size, sight: Sight) -> Iterator[str]:
    """YARN preempts from queues that hold more than their share of what nodes promise."""
    sizes = {node: row.get("totalResource", {}) for node, row in sight.nodes().items()}
    for r, key, of_size in ((MEMORY, "memory", 1), (VCORES, "vCores", MILLI)):
        promised = sum(int(one.get(key, 0)) for node, one in sizes.items() if node != name) + size[r] // of_size
        for queue, of_queue in sight.queues().items():
            if of_queue["resourcesUsed"][key] > of_queue["absoluteCapacity"] / 100 * promised:
                yield f"makes {name} {size}: {queue} may be preempted from"
