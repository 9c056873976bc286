"""The controller: observe, let the levers decide, act on a live cluster; one step at a time.

It turns the knobs that YARN has: sizes of nodes here, those of queues and applications in steering/turning.py. In
shadow mode, the default, it decides and records and never posts. It puts nothing back by itself: steering/session.py
runs it with a lease, a watchdog and a baseline.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from time import perf_counter

from heddle.model.cluster import Calculator
from heddle.model.errors import RunRefused
from heddle.model.plan import Plan
from heddle.model.resources import MEMORY, MILLI, VCORES
from heddle.policy.lever import Question
from heddle.policy.policy import Policy
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.decider import Decider
from heddle.yarn.live.differ import Change
from heddle.yarn.live.knobs import DEAD_BAND, WHOLE, Turns, from_outside, turns_of, worth_posting
from heddle.yarn.live.levers import LiveLevers
from heddle.yarn.live.live_view import CapacityOf, LiveView
from heddle.yarn.live.snapshot import NodeSeen, Size, Snapshot, take_snapshot
from heddle.yarn.live.start_delay import StartDelay
from heddle.yarn.live.steering.limits import Cause, Guards, Limits, keep_one_large, within_queues
from heddle.yarn.live.steering.turning import Turn, Turner
from heddle.yarn.live.verdicts import Verdict
from heddle.yarn.live.wire import YarnError


@dataclass(frozen=True)
class Resize:
    """A node's size as it was, as decided, and what was done about it."""

    node: str
    before: Size
    wanted: Size
    verdict: Verdict
    cause: Cause = Cause.LEVER
    problem: str = ""


@dataclass(frozen=True)
class Step:
    """One step: what was seen, what happened since the last, what was decided, what was done."""

    snapshot: Snapshot
    changes: list[Change]
    plan: Plan
    resizes: list[Resize]
    turns: list[Turn]
    observe_s: float  # polling and reading, wall time
    decide_s: float  # from two snapshots to a plan
    act_s: float
    metrics_age_ms: dict[str, int]  # for how long a node's figures have not moved
    in_full_ms: int | None  # for how long new containers count in full, where that is learnt


@dataclass(frozen=True)
class Settings:
    """How the controller looks at a cluster and how gently it acts."""

    report_ms: int = 1000  # how often nodes report use: the levers' unit of time
    calculator: Calculator = "dominant"
    increment: Size = WHOLE  # node sizes are multiples of this; YARN knows whole vcores only
    dead_band: Size = DEAD_BAND  # smaller changes than this are not posted
    shadow: bool = True
    limits: Limits = field(default_factory=Limits)
    in_full_ms: int = 0  # learn for how long new containers count in full, at least so long; 0: the policy says it

    def __post_init__(self) -> None:
        if self.report_ms <= 0:
            raise RunRefused(f"report_ms must be positive, not {self.report_ms}")
        if self.increment[MEMORY] < 1 or self.increment[VCORES] < MILLI or self.increment[VCORES] % MILLI:
            raise RunRefused(f"increment must be whole MB and whole vcores, not {self.increment}")


class Controller:
    """Runs one policy against one ResourceManager. `clock_ms` gives the time of each poll, in ms from any origin."""

    def __init__(
        self,
        client: RmClient,
        policy: Policy,
        capacity_of: CapacityOf,
        clock_ms: Callable[[], int],
        settings: Settings,
        before_post: Callable[[str], None] = lambda _: None,
        own_size_of: CapacityOf = lambda seen: seen.total,
        guards: Guards | None = None,
        turner: Turner | None = None,
    ) -> None:
        """`before_post` is called with a node's name before each change of its size.

        `own_size_of`: what a node may promise without us; by default, what it may when it is first seen.
        `guards`, `turner`: those of an earlier controller, which know what it changed.
        """
        self._client = client
        self._clock_ms = clock_ms
        self.settings = settings
        self._turner = turner or Turner(client, lambda _: None, lambda _: None)
        n_pools = policy.by_question[Question.PARTITION].n_pools
        self._guards = guards or Guards(settings.limits)
        self._before_post = before_post
        self.live = LiveView(
            capacity_of,
            report_ms=settings.report_ms,
            n_pools=n_pools,
            calculator=settings.calculator,
            own_size_of=own_size_of,
        )
        self._levers = LiveLevers(from_outside(policy), settings.increment)
        self._decider = Decider(self._levers, self.live, settings.report_ms)
        self._starts = StartDelay(settings.in_full_ms) if settings.in_full_ms else None

    def step(self) -> Step:
        """One poll, one decision. Raises YarnError, with nothing changed, if the RM cannot be polled."""
        began = perf_counter()
        before = self._decider.before
        seen = take_snapshot(self._client, self._clock_ms(), before.apps if before else ())
        snapshot = self._as_found(seen)
        observed = perf_counter()
        changes, plan = self._decider.decide(snapshot)
        in_full_ms = self._learn_starts(snapshot, changes)
        decided = perf_counter()
        ages_ms = self._guards.look(snapshot.nodes.values(), snapshot.at_ms)
        turns = self._turner.turn(self._allowed(turns_of(plan, self.live)), seen, self.settings.shadow)
        resizes = self._act(snapshot, plan)
        acted = perf_counter()
        spans_s = observed - began, decided - observed, acted - decided
        return Step(snapshot, changes, plan, resizes, turns, *spans_s, metrics_age_ms=ages_ms, in_full_ms=in_full_ms)

    def _learn_starts(self, snapshot: Snapshot, changes: list[Change]) -> int | None:
        """For how long containers count in full from now on: as long as they take to start here."""
        if self._starts is None:
            return None
        self._starts.learn(snapshot, changes)
        in_full_ms = self._starts.in_full_ms(snapshot.at_ms)
        self._levers.charge_young(-(-in_full_ms // self.settings.report_ms))
        return in_full_ms

    def _allowed(self, turns: Turns) -> Turns:
        name_of = {row: name for name, row in self.live.leaves().items()}
        queue_of = {app: name_of[int(self.live.view.job["queue"][job])] for app, job in self.live.job_row.items()}
        return within_queues(turns, queue_of, self.settings.limits.queues)

    def _as_found(self, seen: Snapshot) -> Snapshot:
        """Levers see the priorities that applications came with, not those that we gave them."""
        found = self._turner.found_priorities()
        apps = {name: replace(app, priority=found.get(name, app.priority)) for name, app in seen.apps.items()}
        return replace(seen, apps=apps)

    def own_sizes(self) -> dict[str, Size]:
        """Every node with the size that it has without us."""
        allowance = self.live.view.node["allowance"]
        return {
            name: (int(allowance[row, MEMORY]), int(allowance[row, VCORES])) for name, row in self.live.node_row.items()
        }

    def _act(self, snapshot: Snapshot, plan: Plan) -> list[Resize]:
        if plan.node_totals is None:
            return []
        own = self.own_sizes()
        resizes: dict[str, Resize] = {}
        judged: dict[str, tuple[Size, Cause]] = {}
        for name, row in self.live.node_row.items():
            node = snapshot.nodes.get(name)
            decided = (int(plan.node_totals[row, MEMORY]), int(plan.node_totals[row, VCORES]))
            if node is None or not node.resizable:
                resizes[name] = Resize(name, node.total if node else decided, decided, Verdict.AWAY)
            else:
                judged[name] = self._guards.judge(node, decided, own[name], snapshot.at_ms)
        if self.settings.limits.keep_largest:
            lifted = keep_one_large({name: size for name, (size, _) in judged.items()}, own)
            judged |= {name: (size, Cause.LARGEST) for name, size in lifted.items()}
        resizes |= {name: self._settle(snapshot.nodes[name], *judgement) for name, judgement in judged.items()}
        return [resizes[name] for name in self.live.node_row]

    def _settle(self, node: NodeSeen, wanted: Size, cause: Cause) -> Resize:
        """Posts a size, unless it is not worth a call."""
        if cause in (Cause.STRANGE, Cause.FOREIGN, Cause.OUTSIDE):
            return Resize(node.id, node.total, wanted, Verdict.LEFT_ALONE, cause)
        if wanted == node.total:
            return Resize(node.id, node.total, wanted, Verdict.UNCHANGED, cause)
        small = not worth_posting(wanted, node.total, self.settings.dead_band)
        if small and cause in (Cause.LEVER, Cause.CAP, Cause.RISE):
            return Resize(node.id, node.total, wanted, Verdict.DEAD_BAND, cause)
        verdict, problem = self._post(node, wanted)
        return Resize(node.id, node.total, wanted, verdict, cause, problem)

    def _post(self, node: NodeSeen, wanted: Size) -> tuple[Verdict, str]:
        """The only place where levers change anything on the cluster."""
        if self.settings.shadow:
            return Verdict.SHADOW, ""
        self._before_post(node.id)
        self._guards.posting(node.id, wanted)
        try:
            self._client.resize_node(node.id, wanted[MEMORY], wanted[VCORES] // MILLI)
        except YarnError as error:
            return Verdict.FAILED, str(error)
        return Verdict.POSTED, ""
