"""The six questions that a policy answers, and the hooks of each: the functions by which a lever answers it.

Every hook gets `view, state, params` first, then whole numbers of these names, and returns a whole number.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class Question(StrEnum):
    """In the order in which a policy string is written out.

    Queues come first: a preset of their name brings other levers along, which those behind it replace.
    """

    QUEUES = "queues"
    ORDERING = "ordering"
    ADMISSION = "admission"
    SIZING = "sizing"
    PARTITION = "partition"
    PLACEMENT = "placement"


_EVENT: Final = {"on_event": ("kind", "node", "stage", "container", "value")}
_OF_ALL: Final = ("n", "sum_key", "sum_fit", "min_key", "max_key", "min_fit", "max_fit", "min_term", "max_term")

# The first is what the lever is about.
HOOKS: Final[Mapping[Question, Mapping[str, tuple[str, ...]]]] = {
    Question.QUEUES: {
        "key": ("queue",),
        "allows": ("stage",),
        "user_allows": ("stage",),
        "keeps": ("stage", "jobs"),
        "headroom": ("stage", "r"),
        **_EVENT,
    },
    Question.ORDERING: {
        "key": ("stage",),
        "fit": ("node", "stage"),
        "term": ("stage",),
        "combine": ("key", "fit", "term", *_OF_ALL),
        "offer": ("node",),
        **_EVENT,
    },
    Question.ADMISSION: {"admits": ("job",), **_EVENT},
    Question.SIZING: {"total": ("node", "r"), **_EVENT},
    Question.PARTITION: {"pool": ("job",), "limit": ("pool", "r"), **_EVENT},
    Question.PLACEMENT: {"score": ("node", "stage"), "allows": ("node", "stage"), **_EVENT},
}

ALL_HOOKS: Final = tuple((question, hook) for question, hooks in HOOKS.items() for hook in hooks)
"""Every hook of a policy, in the order in which hosts keep their addresses."""
