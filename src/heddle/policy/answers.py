"""Which answers of a hook a host can use. Hosts go by them without another look: a pool is a row of a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from heddle.model.reasons import Reason
from heddle.policy.question import Question

if TYPE_CHECKING:
    from heddle.policy.declaration import Lever

MOST_POOLS: Final = 1000
_MOST_OF_ALL: Final = 2**63 - 1


class Legal(NamedTuple):
    """All whole numbers from `low` to `high`."""

    low: int
    high: int
    meaning: str


_ANY: Final = Legal(-_MOST_OF_ALL - 1, _MOST_OF_ALL, "a whole number")
_REASON: Final = Legal(0, max(Reason), f"a Reason (heddle.model.reasons, 0 to {max(Reason)})")
# Sums over all nodes, in thousandths, must not overflow.
_AMOUNT: Final = Legal(-(2**40), 2**40, "an amount of MB or millicores (at most 2**40)")
# The index over nodes has places for more nodes than there are, whose score is -2**62.
_SCORE: Final = Legal(1 - 2**62, 2**62, "a score (between -2**62 and 2**62)")

_LEGAL: Final[Mapping[tuple[Question, str], Legal]] = {
    (Question.ADMISSION, "admits"): _REASON,
    (Question.QUEUES, "allows"): _REASON,
    (Question.QUEUES, "user_allows"): _REASON,
    (Question.QUEUES, "keeps"): Legal(0, 1, "0 or 1"),
    (Question.QUEUES, "headroom"): _AMOUNT,
    (Question.PLACEMENT, "allows"): _REASON,
    (Question.PLACEMENT, "score"): _SCORE,
    (Question.SIZING, "total"): _AMOUNT,
}


def legal_answers(lever: Lever, hook: str) -> Legal:
    """What this hook of the lever may answer."""
    if hook == "pool":
        last = getattr(lever, "n_pools", 1) - 1
        return Legal(0, last, f"a pool (0 to {last}, by n_pools)")
    return _LEGAL.get((lever.question, hook), _ANY)
