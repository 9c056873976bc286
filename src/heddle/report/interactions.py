"""Why some levers do less together than one of them alone, where that is known and no defect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Interaction:
    """Holds for combinations that have all of these levers."""

    levers: frozenset[str]
    text: str


_AMS_FIRST: Final = (
    "admission control says how many AMs may run at most. First in, first out, the tasks of earlier jobs come before "
    "the AMs of later ones, so that fewer do. With {lever} {why}: as many AMs run as may, and what they hold tasks "
    "cannot have."
)
INTERACTIONS: Final = (
    Interaction(
        frozenset({"haste", "admission-control"}), _AMS_FIRST.format(lever="`haste`", why="AMs come before all tasks")
    ),
    Interaction(
        frozenset({"dress", "admission-control"}),
        _AMS_FIRST.format(
            lever="the order of `dress`", why="a job that waits for its AM asks for nothing else, and is the smallest"
        ),
    ),
    Interaction(
        frozenset({"dress", "haste"}),
        "both say who goes first in a leaf, and what stands later replaces what stands before: `dress` keeps its pools "
        "and loses its order, smallest first.",
    ),
)


def known_interactions(policy: str) -> list[str]:
    """In words, for the levers that are joined to the queues."""
    levers = set(policy.split("+")[1:])
    return [f"{' and '.join(sorted(one.levers))}: {one.text}" for one in INTERACTIONS if one.levers <= levers]
