"""What an application reveals about its kinds of requests: which are early reduces, and which round of a computation.

YARN does not know either. MapReduce asks for reduces at a priority of their own; other applications can say it by a
tags, `heddle-kinds:` and, for each priority at which they ask, r for early reduces and iN for round N:
`heddle-kinds:1i0.2ri0.3i1.4ri1`. An application with rounds is iterative.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

TAG: Final = "heddle-kinds:"
_MAPREDUCE: Final = "MAPREDUCE"
_MAPREDUCE_REDUCES: Final = 10  # Hadoop's RMContainerAllocator; maps ask at 20, those that failed before at 5
_LONGEST_TAG, _MOST_TAGS = 100, 10  # YARN's
_KIND: Final = re.compile(r"(\d+)(r?)(?:i(\d+))?")


class Kind(NamedTuple):
    """`early`: reduces, which may be given containers before the maps are done, and hold them meanwhile."""

    early: bool = False
    iteration: int = 0


@dataclass(frozen=True)
class Kinds:
    """Of one application, by priority. What is not told is a map."""

    told: Mapping[int, Kind] = field(default_factory=dict)
    iterative: bool = False

    def of(self, priority: int) -> Kind:
        return self.told.get(priority, Kind())


MAPS_ALONE: Final = Kinds()
_OF_MAPREDUCE: Final = Kinds({_MAPREDUCE_REDUCES: Kind(early=True)})


def kinds_of(application_type: str, tags: str) -> Kinds:
    """`tags`: as the ResourceManager tells them, with commas between. What cannot be read tells nothing."""
    ours = [tag[len(TAG) :] for tag in tags.lower().split(",") if tag.startswith(TAG)]
    if not ours:
        return _OF_MAPREDUCE if application_type == _MAPREDUCE else MAPS_ALONE
    kinds, iterative = {}, False
    for word in ".".join(ours).split("."):
        if kind := _KIND.fullmatch(word):
            kinds[int(kind[1])] = Kind(bool(kind[2]), int(kind[3] or 0))
            iterative |= kind[3] is not None
    return Kinds(kinds, iterative)


def replay_priorities(early: Sequence[bool]) -> tuple[int, ...]:
    """At which heddle's own application master (ReplayMaster.java) asks for the stages of a job, early ones or not:
    one for each stage, reduces first, as MapReduce does."""
    in_turn = sorted(range(len(early)), key=lambda stage: not early[stage])
    return tuple(1 + in_turn.index(stage) for stage in range(len(early)))


def tags_of(kinds: Kinds) -> list[str]:
    """What says this to whoever reads it; no more of it than YARN allows an application."""
    tags: list[str] = []
    for priority, kind in kinds.told.items():
        word = f"{priority}{'r' if kind.early else ''}{f'i{kind.iteration}' if kinds.iterative else ''}"
        if not tags or len(tags[-1]) + 1 + len(word) > _LONGEST_TAG:
            tags.append(TAG + word)
        else:
            tags[-1] += f".{word}"
    return tags[:_MOST_TAGS]
