"""A look brought up to date by requests that have come since. What the bridge tells of them is enough for a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from heddle.yarn.live.bridge.listening import NewRequest
from heddle.yarn.live.snapshot import Snapshot
from heddle.yarn.live.things_seen import AppSeen, Ask


def with_newcomers(seen: Snapshot, new: Sequence[NewRequest]) -> Snapshot | None:
    """The same look, with what applications ask for now. None: only another look can tell.

    That is so where the application, or its AM, was not there yet, and where one kind of request has several ids: how
    many containers each of them asks for is not known.
    """
    apps = dict(seen.apps)
    for one in new:
        app = apps.get(one.app)
        asks = _asks(app, one) if app is not None and app.running else None
        if app is None or asks is None:
            return None
        apps[one.app] = replace(app, asks=asks)
    return seen.asking(apps)


def _asks(app: AppSeen, new: NewRequest) -> tuple[Ask, ...] | None:
    """What a request of a priority and an id asks for replaces what it asked for before."""
    asks, kin = list[Ask](), Ask(new.priority, new.size, 0)
    for ask in app.asks:
        if ask.priority == new.priority and new.allocation in ask.allocations:
            if ask.allocations != (new.allocation,):
                return None
        elif (ask.priority, ask.size) == (new.priority, new.size):
            kin = ask
        else:
            asks.append(ask)
    ids = tuple(sorted((*kin.allocations, new.allocation)))
    return (*asks, replace(kin, containers=kin.containers + new.containers, allocations=ids))
