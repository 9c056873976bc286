"""Whoever looks ahead beside a live controller: watches the cluster, and answers which policy should be in force.

A program of its own (ahead.py), so that no step of the controller waits for it. It reads only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from heddle.check.jobs import kind_of
from heddle.model.errors import BadInput, RunRefused
from heddle.model.resources import VCORES
from heddle.stock_yarn.outside import refuse_without_knobs
from heddle.twin.as_found import as_found
from heddle.twin.choosing import Choice, Rule, choose
from heddle.twin.futures import Futures
from heddle.twin.known import Snapshot, contradictions
from heddle.twin.looking import Looking
from heddle.twin.rollouts import Candidate
from heddle.twin.use import USE_EVERY_MS, ObservedUse
from heddle.yarn.live.applying.standing import AM_SHARE, Standing
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.levers import counting_at_least
from heddle.yarn.live.names import Names, Passing
from heddle.yarn.live.snapshot import Snapshot as Look
from heddle.yarn.live.wire import YarnError
from heddle.yarn.live.world import REAL, Clock
from heddle.yarn.observe.observer import Observer

MOST_OF_IT: Final = 0.8  # of the time for an answer is for looking ahead: the last rollout takes a while
_AM_SHARE_OF_ALL: Final = f"yarn.scheduler.capacity.{AM_SHARE}"


@dataclass(frozen=True)
class Question:
    """`found`: knobs as they stood before anybody steered; `seconds`: how long the answer may take.

    `start_reports`: how many reports it takes here until containers have started, so far as that is known.
    """

    at_ms: int
    in_force: int
    found: Standing
    seconds: float
    start_reports: int = 0


class Beside:
    """Call poll() every other second or so. `candidates`: the number of a policy is its place."""

    def __init__(
        self,
        client: RmClient,
        observer: Observer,
        looking: Looking,
        candidates: Sequence[Candidate],
        rule: Rule,
        clock: Clock = REAL.clock,
    ) -> None:
        self._client, self._observer, self._looking, self._clock = client, observer, looking, clock
        self._candidates, self._rule = candidates, rule
        self._found = Standing()
        self._use = ObservedUse(self._machines, self._kind_of)
        self._names, self._used_ms = Names(), 0

    def poll(self) -> None:
        """Raises YarnError if the ResourceManager cannot be asked."""
        self._observer.poll()
        now_ms = self._observer.polled_ms
        if now_ms - self._used_ms >= USE_EVERY_MS:
            self._used_ms = now_ms
            held = {life.id: life for life in self._observer.held if life.node in self._observer.nodes}
            self._use.look(Look.of(self._names, now_ms, self._observer.nodes, containers=held))
            if isinstance(self._names.containers, Passing):
                self._names.containers.end_look()

    def answer(self, question: Question) -> Choice:
        """Raises HeddleError where nothing can be told: no answer, or one that contradicts itself."""
        began_s = self._clock.monotonic()
        self._found = question.found
        self.poll()
        seen, _ = self._looking.look()
        snapshot = self._use.told(as_found(seen, question.found, self._default_am_share(question.found)))
        if wrong := contradictions(snapshot):
            raise BadInput([problem for what in wrong for problem in BadInput.of("the snapshot", what).problems])
        left_s = MOST_OF_IT * question.seconds - (self._clock.monotonic() - began_s)
        return decide(snapshot, self._candidates, question, self._rule, left_s)

    def _default_am_share(self, found: Standing) -> str | None:
        if not any(settings.get(AM_SHARE, "") is None for settings in found.queues.values()):
            return None
        try:
            return self._client.scheduler_settings().get(_AM_SHARE_OF_ALL)
        except YarnError as error:
            if error.status is None:
                raise
            return None

    def _machines(self, look: Look) -> npt.NDArray[np.int64]:
        own, nodes = self._found.sizes, look.nodes
        return np.array([own.get(name, node.total)[VCORES] for name, node in nodes.items()], np.int64)

    def _kind_of(self, app: int) -> tuple[str, str]:
        life = self._observer.seen.apps[self._names.apps.name(app)]
        return kind_of(life.name), life.user


def decide(
    snapshot: Snapshot, candidates: Sequence[Candidate], question: Question, rule: Rule, seconds: float
) -> Choice:
    """As in a simulated run, among the present policy and those that this snapshot has knobs for, as they would act."""
    candidates = [replace(one, policy=counting_at_least(one.policy, question.start_reports)) for one in candidates]
    present = candidates[question.in_force]
    possible = [one for one in candidates if one is present or _has_knobs(one, snapshot, rule)]
    return choose(snapshot, possible, possible.index(present), rule, question.at_ms, seconds=seconds)


def _has_knobs(candidate: Candidate, snapshot: Snapshot, rule: Rule) -> bool:
    """Queues may have changed since somebody asked the ResourceManager."""
    try:
        refuse_without_knobs(
            candidate.policy, Futures(snapshot, rule.horizon_ms, 1).future(0).workload, snapshot.cluster
        )
    except RunRefused:
        return False
    return True
