"""Who changed what: whoever says that everything is back has named what somebody else took from us meanwhile."""

from __future__ import annotations

from math import inf
from typing import Final

from heddle.storm.timeline import Process
from heddle.storm.truth import By, Place
from heddle.storm.watch import Watch
from heddle.storm.yarn import SimulatedYarn
from heddle.yarn.live.applying.ownership import FOREIGN_LOOKS
from heddle.yarn.live.applying.standing import SIZES, Part

ENOUGH_LOOKS: Final = 2 * FOREIGN_LOOKS  # at what stands in a strange place, all of them true
GIVEN_UP: Final = "changed by someone else and left alone"


def named_in(text: str) -> list[str]:
    """The nodes, queues and applications in a line that gives them up."""
    return text.partition(GIVEN_UP)[2].partition(": ")[2].strip().split(", ")


class NamesWatched:
    def __init__(self, watch: Watch, yarn: SimulatedYarn) -> None:
        self._watch, self._yarn = watch, yarn
        self._named_s: dict[str, float] = {}  # node, queue or application -> when it was last named

    def told(self, text: str) -> None:
        """A line that somebody writes."""
        if GIVEN_UP in text:
            self._named_s |= dict.fromkeys(named_in(text), self._watch.now_s)

    def all_is_back(self, process: Process) -> None:
        """It says so, or ends because it is."""
        for part, place in list(self._yarn.truth.places.items()):
            is_taken = place.by is By.PERSON and place.taken_s < inf
            if is_taken and self._was_shown(process, part, place) and self._named_s.get(part[1], 0.0) < place.taken_s:
                self._watch.breaks(f"{process.name} has put all back, and nobody says that {part} is now a person's")

    def _was_shown(self, process: Process, part: Part, place: Place) -> bool:
        """Whether it has looked often enough since it stands there, and was never misled about such knobs."""
        sight, since_s = self._watch.sight_of(process), place.since_s
        if part[0] == SIZES:
            state = self._yarn.nodes[part[1]]
            if state.was_decommissioned or not state.registered or not self._yarn.is_alive(part[1]):
                return False
            since_s = max(since_s, state.registered_s)
        reads_s = sight.reads_s.get(part[0], [])
        return part[0] not in sight.misled and sum(at_s > since_s for at_s in reads_s) >= ENOUGH_LOOKS
