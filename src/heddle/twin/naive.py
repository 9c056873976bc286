"""The forecast that anybody can make: as long as jobs of this name took that took longer than this one has."""

from __future__ import annotations

from collections.abc import Sequence

from heddle.twin.eta import Eta
from heddle.twin.known import Application, Snapshot


def naive_eta(app: Application, snapshot: Snapshot) -> Eta | None:
    """By the past of its name and user, else of its queue, else of all; None if no application has ended yet."""
    ended = snapshot.ended
    if not ended:
        return None
    age_ms = -app.submitted_at_ms
    for some in _groups(app, ended):
        longer = [took for one in some if (took := (one.ended_at_ms or 0) - one.submitted_at_ms) > age_ms]
        if longer:
            return Eta.of([took - age_ms for took in longer])
    return Eta(0, 0, 0)  # older than any that ended: any moment now


def _groups(app: Application, ended: Sequence[Application]) -> list[list[Application]]:
    return [
        [one for one in ended if one.kind == app.kind],
        [one for one in ended if one.queue == app.queue],
        list(ended),
    ]
