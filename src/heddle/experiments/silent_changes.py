"""Answers that an event changes without anybody being told: the host goes on with the ones that it has.

Before and after each event the lever is asked for what its host keeps, over the same view: only what the lever
remembers can have changed. What hosts keep, and until when:

- a key or term of an ordering, until on_event returns 1 (or what it declares to depend on happens);
- a refusal (admits, allows, user_allows, or a pool's limit), until on_event returns 1 or, but for vetoes, a container
  ends anywhere;
- a total that depends on allocations, and a score that is the node's alone, until something happens on that node,
  whatever on_event returns.

All else is asked for when it is needed: keys of queues, fit, combine, offer, scores of pairs, totals by reports or
time. A job keeps the pool that it got as it arrived.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any, Final

import numpy as np

from heddle.model.view import (
    EVENT_ALLOCATED,
    EVENT_ARRIVED,
    EVENT_FINISHED,
    EVENT_NODE_LOST,
    EVENT_NODE_RETURNED,
    EVENT_STOPPED,
    JOB_ARRIVED,
    View,
)
from heddle.policy.lever import Lever, Ordering, Partition, Placement, Sizing
from heddle.policy.question import HOOKS

Asked = tuple[str, tuple[int, ...]]  # a hook, and about what

_ENDS: Final = (EVENT_FINISHED, EVENT_STOPPED)
# After these the host asks for the keys of the job in any case, where they depend on allocations.
_OF_ALLOCATIONS: Final = (EVENT_ARRIVED, EVENT_ALLOCATED, *_ENDS)
# After these it asks again for what it keeps of the node.
_OF_NODE: Final = (EVENT_ALLOCATED, *_ENDS, EVENT_NODE_LOST, EVENT_NODE_RETURNED)
REFUSES: Final = ("admits", "allows", "user_allows")
_LOOKED_AT: Final = 16  # requests, at each event


class SilentChanges:
    """`found`: of each hook the first answer that changed so, in words."""

    def __init__(self, lever: Lever) -> None:
        self._lever, self._hooks = lever, lever.hooks
        self._refused: dict[Asked, None] = {}
        self.found: dict[str, str] = {}

    def given(self, hook: str, about: list[int], answer: int) -> None:
        """The host has this answer."""
        if hook in REFUSES and answer != 0:
            self._refused[hook, tuple(about)] = None
        elif hook in REFUSES:
            self._refused.pop((hook, tuple(about)), None)

    @contextmanager
    def around(self, view: View, shown: Any, state: Any, params: Any, about: dict[str, int]) -> Iterator[list[int]]:
        """While the lever hears of an event. Put its answer into the list. `shown`: the view as its hooks get it."""
        asked = [*self._kept_until_told(view, about), *self._kept_of_nodes(view, about)]
        before = self._answers(shown, state, params, asked)
        told: list[int] = []
        yield told
        for one, now in self._answers(shown, state, params, asked).items():
            if why := self._stale(view, one, before[one], now, told != [0]):
                self.found.setdefault(one[0], f"{self._words(one)} turned from {before[one]} to {now}{why}")

    def _kept_until_told(self, view: View, about: dict[str, int]) -> Iterator[Asked]:
        lever = self._lever
        if isinstance(lever, Ordering):
            for name in ("key", "term"):
                if name in self._hooks and lever.depends_on != "time":
                    yield from ((name, (stage,)) for stage in self._with_kept_keys(lever, view, about))
        elif isinstance(lever, Placement):
            mine = [one for one in self._refused if about["kind"] not in _ENDS or one[1][0] != about["node"]]
            yield from islice((one for one in mine if self._waits(view, one)), _LOOKED_AT)
        elif about["kind"] not in _ENDS:
            yield from islice((one for one in self._refused if self._waits(view, one)), _LOOKED_AT)
            if isinstance(lever, Partition) and "limit" in self._hooks:
                resources = range(view.shape["demand"].shape[1])
                yield from (("limit", (pool, r)) for pool in range(lever.n_pools) for r in resources)

    def _with_kept_keys(self, lever: Ordering, view: View, about: dict[str, int]) -> list[int]:
        waiting = np.flatnonzero(view.stage["waiting"] > 0)
        if lever.depends_on == "allocations" and about["kind"] in _OF_ALLOCATIONS:
            waiting = waiting[view.stage_spec["job"][waiting] != view.stage_spec["job"][about["stage"]]]
        return [int(one) for one in waiting[:_LOOKED_AT]]

    def _kept_of_nodes(self, view: View, about: dict[str, int]) -> Iterator[Asked]:
        own = about["node"] if about["kind"] in _OF_NODE else -1
        others = [int(n) for n in np.flatnonzero(view.node["alive"]) if n != own]
        if isinstance(self._lever, Sizing) and self._lever.depends_on == "allocations":
            resources = range(view.shape["demand"].shape[1])
            yield from (("total", (n, r)) for n in others for r in resources if "total" in self._hooks)
        elif isinstance(self._lever, Placement) and self._lever.score_by == "node":
            yield from (("score", (n, -1)) for n in others if "score" in self._hooks)

    def _waits(self, view: View, asked: Asked) -> bool:
        about = self._named(asked)
        if "job" in about:
            job = about["job"]
            return bool(view.job["state"][job] == JOB_ARRIVED and view.job["waiting"][job] > 0)
        return bool(view.stage["waiting"][about["stage"]] > 0)

    def _stale(self, view: View, asked: Asked, was: int, now: int, told: bool) -> str:
        """Why the host goes on with an answer that is wrong by now; empty if it does not."""
        hook = asked[0]
        if hook == "total" and was != now:
            return " at an event elsewhere, where nobody asks for it again: say depends_on='time'"
        if hook == "score" and was != now:
            return " at an event elsewhere, where nobody asks for it again: say score_by='pair'"
        if hook == "limit":
            stale = self._lets_through(view, asked[1], was, now)
        else:
            stale = (was != 0 and now == 0) if hook in REFUSES else was != now
        return ", but on_event returned 0, so nobody asks again: return 1" if stale and not told else ""

    def _lets_through(self, view: View, about: tuple[int, ...], was: int, now: int) -> bool:
        pool, r = about
        waiting = np.flatnonzero(view.stage["waiting"] > 0)
        waiting = waiting[view.job["pool"][view.stage_spec["job"][waiting]] == pool]
        wanted = view.pool["allocated"][pool, r] + view.shape["demand"][view.stage_spec["shape"][waiting], r]
        return bool(view.clock["counts"][0, r] and ((wanted > was) & (wanted <= now)).any())

    def _answers(self, shown: Any, state: Any, params: Any, asked: list[Asked]) -> dict[Asked, int]:
        """Whatever the hooks write while they are asked is undone."""
        saved = [array.copy() for array in state] if asked else []
        found = {(hook, about): int(self._hooks[hook](shown, state, params, *about)) for hook, about in asked}
        for array, before in zip(state, saved, strict=False):
            array[:] = before
        return found

    def _named(self, asked: Asked) -> dict[str, int]:
        return dict(zip(HOOKS[self._lever.question][asked[0]], asked[1], strict=True))

    def _words(self, asked: Asked) -> str:
        named = {name: number for name, number in self._named(asked).items() if number >= 0}
        return f"{asked[0]} of " + ", ".join(f"{name} {number}" for name, number in named.items())
