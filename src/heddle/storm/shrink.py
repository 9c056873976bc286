"""From a storm that breaks something to one that breaks it with fewer and shorter faults."""

from __future__ import annotations

from dataclasses import replace

from heddle.storm.faults import Fault
from heddle.storm.storm import Outcome, Storm


def shrunk(outcome: Outcome) -> Outcome:
    """The same seed with as few of its faults as still break something, none longer than it must be."""
    best, parts = outcome, 2
    while best.faults:
        size = max(1, len(best.faults) // parts)
        smaller = (
            _broken(best, best.faults[:at] + best.faults[at + size :]) for at in range(0, len(best.faults), size)
        )
        found = next((one for one in smaller if one is not None), None)
        if found is not None:
            best, parts = found, max(2, parts - 1)
        elif size == 1:
            break
        else:
            parts *= 2
    return _shorter(best)


def _shorter(best: Outcome) -> Outcome:
    for number, fault in enumerate(best.faults):
        halved = replace(fault, for_s=fault.for_s / 2)
        found = _broken(best, (*best.faults[:number], halved, *best.faults[number + 1 :]))
        best = found or best
    return best


def _broken(of: Outcome, faults: tuple[Fault, ...]) -> Outcome | None:
    outcome = Storm(of.seed, faults, of.chooses).run()
    return outcome if outcome.broken else None
