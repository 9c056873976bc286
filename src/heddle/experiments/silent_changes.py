"""Answers that change without anybody being told: on_event returns 0, and a key that was given is another by now.

A host keeps a key until something happens for which it asks again. So before and after each event the keys of the
requests that wait are asked for, over the same view: only what the lever remembers can have changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import numpy as np

from heddle.model.view import EVENT_ALLOCATED, EVENT_ARRIVED, EVENT_FINISHED, EVENT_STOPPED, View
from heddle.policy.lever import Lever, Ordering

# After these the host asks for the keys of the job in any case, where they depend on allocations.
_OF_ALLOCATIONS: Final = (EVENT_ARRIVED, EVENT_ALLOCATED, EVENT_FINISHED, EVENT_STOPPED)
_LOOKED_AT: Final = 16  # requests, at each event


class SilentChanges:
    """`found`: of each hook the first key that changed so, in words."""

    def __init__(self, lever: Lever) -> None:
        depends = lever.depends_on if isinstance(lever, Ordering) else "time"
        self._asks_again_for_job = depends == "allocations"
        of_keys = ("key", "term") if depends != "time" else ()
        self._hooks: dict[str, Callable[..., Any]] = {
            name: hook for name, hook in lever.hooks.items() if name in of_keys
        }
        self.found: dict[str, str] = {}

    @contextmanager
    def around(self, view: View, shown: Any, state: Any, params: Any, about: dict[str, int]) -> Iterator[list[int]]:
        """While the lever hears of an event. Put its answer into the list. `shown`: the view as its hooks get it."""
        stages = self._kept(view, about["kind"], about["stage"]) if self._hooks else []
        before = self._keys(shown, state, params, stages)
        answer: list[int] = []
        yield answer
        if answer == [0]:
            for (name, one), now in self._keys(shown, state, params, stages).items():
                was = before[name, one]
                if now != was:
                    self.found.setdefault(name, f"{name} of stage {one} turned from {was} to {now}")

    def _kept(self, view: View, kind: int, stage: int) -> list[int]:
        """Requests that wait, and whose keys nobody asks for again because of this event."""
        waiting = np.flatnonzero(view.stage["waiting"] > 0)
        if self._asks_again_for_job and kind in _OF_ALLOCATIONS:
            waiting = waiting[view.stage_spec["job"][waiting] != view.stage_spec["job"][stage]]
        return [int(one) for one in waiting[:_LOOKED_AT]]

    def _keys(self, shown: Any, state: Any, params: Any, stages: list[int]) -> dict[tuple[str, int], int]:
        saved = [array.copy() for array in state] if stages else []
        found = {(name, one): hook(shown, state, params, one) for name, hook in self._hooks.items() for one in stages}
        for array, before in zip(state, saved, strict=False):
            array[:] = before
        return found
