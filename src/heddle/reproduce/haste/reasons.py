"""What the scored runs themselves say about who is ahead of whom: idle reduces, sizes, and heads that do not fit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from heddle.reproduce.haste.batches import JobKind
from heddle.reproduce.verdicts import SAME_PCT


def who_is_ahead(own: str, reference: str, makespan: Mapping[str, float], idle: Mapping[str, float]) -> str:
    """Of those with a shorter makespan: do their reduces hold less idle memory? Both in percent of the reference's."""
    ahead = [policy for policy in makespan if makespan[policy] < makespan[own]]
    if not ahead:
        return ""
    held = ", ".join(f"{policy} {idle[policy]:.0f}" for policy in (*ahead, own))
    text = f"Idle reduces hold, in percent of what they do under {reference}: {held}."
    less = [policy for policy in ahead if idle[policy] < idle[own]]
    if len(less) == len(ahead):
        return f"{text} All that are ahead waste less."
    if less:
        return f"{text} Of those ahead only {', '.join(less)} waste less."
    return f"{text} None of those ahead wastes less: that is not why."


def sizes_of_reduces(kinds: Iterable[JobKind]) -> str:
    """How many kinds of jobs have reduces that ask for less than maps: FFD-DP takes the larger request first."""
    given = list(kinds)
    smaller = sum(kind.reduce_mb + 1024 * kind.reduce_vcores < kind.map_mb + 1024 * kind.map_vcores for kind in given)
    return f"Reduces ask for less than maps in {smaller} of {len(given)} jobs here."


def heads_that_block(passing_pct: float) -> str:
    """What FIFO loses behind a head that does not fit, by a FIFO that passes it, in percent of the makespan."""
    text = f"A FIFO that passes what does not fit needs {passing_pct:.0f} % of FIFO's makespan:"
    if passing_pct < 100 - SAME_PCT:
        return f"{text} that much it leaves free behind jobs that do not fit."
    return f"{text} it loses nothing much behind jobs that do not fit."
