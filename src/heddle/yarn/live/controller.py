"""The controller: observe, let the levers decide, act on a live cluster; one step at a time.

What levers decide is applied in applying/. Of several policies all look and learn, one acts; when another takes over,
what it does not speak of is put back (applying/handing_over.py). In shadow mode, the default, it decides and records
and never posts. It puts nothing back by itself: steering/session.py runs it with a lease, a watchdog and a baseline.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from heddle.model.cluster import Calculator
from heddle.model.errors import RunRefused
from heddle.model.plan import Plan
from heddle.model.resources import MEMORY, MILLI, VCORES
from heddle.policy.policy import Policy
from heddle.yarn.live.applying.applier import Applier
from heddle.yarn.live.applying.handing_over import HandingOver
from heddle.yarn.live.applying.ownership import Ownership
from heddle.yarn.live.applying.rm_knobs import RmKnobs, may_preempt, shown_by
from heddle.yarn.live.applying.seen import Limits, Seen
from heddle.yarn.live.applying.standing import AM_SHARE, GUARANTEE, MAXIMUM, QueueSettings, Standing
from heddle.yarn.live.applying.tables import table_of
from heddle.yarn.live.applying.turn import Turn
from heddle.yarn.live.applying.wanted import DEAD_BAND, WHOLE, Wanted
from heddle.yarn.live.bridge.listening import NewRequest
from heddle.yarn.live.bridge.table import Table
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.columns import NOT_TOLD, Rows
from heddle.yarn.live.declared_data import DeclaredData
from heddle.yarn.live.differ import Changes
from heddle.yarn.live.live_view import CapacityOf, LiveView
from heddle.yarn.live.metrics_age import MetricsAge
from heddle.yarn.live.mind import Mind
from heddle.yarn.live.newcomers import with_newcomers
from heddle.yarn.live.polling import take_snapshot
from heddle.yarn.live.snapshot import Snapshot
from heddle.yarn.live.start_delay import StartDelay
from heddle.yarn.live.things_seen import Size
from heddle.yarn.live.world import REAL, Clock


@dataclass(frozen=True)
class Step:
    """One step: what was seen, what happened since the last, what was decided, what was done."""

    snapshot: Snapshot
    changes: Changes
    plan: Plan
    turns: list[Turn]  # every knob that the plan speaks of
    observe_s: float  # polling and reading, wall time
    decide_s: float  # from two snapshots to a plan
    act_s: float
    metrics_age_ms: dict[str, int]  # for how long a node's figures have not moved
    in_full_ms: int | None  # for how long new containers count in full; None: that is not learnt, or they do not
    start_reports: int  # how many reports it takes until containers have started; 0: that is not learnt

    def of(self, *whats: str) -> list[Turn]:
        """The turns of these kinds of knobs."""
        return [turn for turn in self.turns if turn.what in whats]


@dataclass(frozen=True)
class Settings:
    """How the controller looks at a cluster and how gently it acts."""

    report_ms: int = 1000  # how often nodes report use: the levers' unit of time
    calculator: Calculator = "dominant"
    increment: Size = WHOLE  # node sizes are multiples of this; YARN knows whole vcores only
    dead_band: Size = DEAD_BAND  # smaller changes than this are not posted
    shadow: bool = True
    limits: Limits = field(default_factory=Limits)
    learn_starts: bool = False  # new containers count in full for as long as starts take; else as the policy says

    def __post_init__(self) -> None:
        if self.report_ms <= 0:
            raise RunRefused(f"report_ms must be positive, not {self.report_ms}")
        if self.increment[MEMORY] < 1 or self.increment[VCORES] < MILLI or self.increment[VCORES] % MILLI:
            raise RunRefused(f"increment must be whole MB and whole vcores, not {self.increment}")


class Controller:
    """Runs one policy against one ResourceManager; `others` are those that may take its place."""

    def __init__(
        self,
        client: RmClient,
        policy: Policy,
        capacity_of: CapacityOf,
        settings: Settings,
        applier: Applier | None = None,
        clock: Clock = REAL.clock,
        own_size_of: CapacityOf = lambda seen: seen.total,
        ages: MetricsAge | None = None,
        others: Sequence[Policy] = (),
        declared: DeclaredData | None = None,
    ) -> None:
        """`applier`, `ages`: those of an earlier controller know what it changed and saw; by default new ones.

        `own_size_of`: what a node may promise without us; by default, what it may when it is first seen.
        `declared`: what is known of the applications' data; None: nothing.
        """
        self._client, self._clock = client, clock
        self.settings = settings
        self._applier = applier or Applier(RmKnobs(client), Ownership(), settings.dead_band)
        self._ages = ages or MetricsAge()
        self._bridged = self._applier.bridge is not None
        self._minds = [
            Mind(
                one,
                LiveView(
                    capacity_of,
                    report_ms=settings.report_ms,
                    n_pools=one.partition.n_pools,
                    calculator=settings.calculator,
                    own_size_of=own_size_of,
                    declared=declared,
                ),
                settings.increment,
                settings.report_ms,
                self._bridged,
            )
            for one in (policy, *others)
        ]
        self._in_force, self._handing_over = 0, HandingOver()
        self._seen: Snapshot | None = None  # the last look, as the ResourceManager reported it
        self._starts = StartDelay() if settings.learn_starts else None

    @property
    def live(self) -> LiveView:
        """As the policy in force sees the cluster."""
        return self._minds[self._in_force].live

    def put_in_force(self, number: int) -> None:
        """The policy of this number acts from the next step on; 0 is the first."""
        if number != self._in_force:
            self._in_force = number
            self._handing_over.begin(self._applier.ownership)

    def step(self) -> Step:
        """One poll, one decision. Raises YarnError, with nothing changed, if the RM cannot be polled."""
        began_s = self._clock.monotonic()
        mind = self._minds[self._in_force]
        self._seen = seen = take_snapshot(self._client, round(1000 * began_s), mind.before)
        snapshot = self._as_found(seen)
        observed_s = self._clock.monotonic()
        changes, plan = [one.decide(snapshot) for one in self._minds][self._in_force]
        start_reports, in_full_ms = self._learn_starts(snapshot, changes)
        decided_s = self._clock.monotonic()
        ages_ms = self._ages.look(snapshot.nodes.values(), snapshot.at_ms)
        table = table_of(plan, mind.live, mind.policy, seen.apps) if self._bridged else None
        turns = self._act(mind.wanted(plan), table, seen, ages_ms)
        spans_s = observed_s - began_s, decided_s - observed_s, self._clock.monotonic() - decided_s
        return Step(snapshot, changes, plan, turns, *spans_s, ages_ms, in_full_ms, start_reports)

    def name_newcomers(self, new: Sequence[NewRequest]) -> Turn | None:
        """A table that also names requests which have come since the last look. None: that takes another look.

        No time passes for the levers: what they know of nodes and containers is as old as the last look, and is not
        told twice.
        """
        seen = with_newcomers(self._seen, new) if self._seen is not None else None
        if seen is None:
            return None
        self._seen, mind = seen, self._minds[self._in_force]
        snapshot = self._as_found(seen)
        _, plan = [one.decide(snapshot) for one in self._minds][self._in_force]
        table = table_of(plan, mind.live, mind.policy, seen.apps)
        limits = Seen(limits=self.settings.limits)
        return None if table is None else self._applier.put_table(table, limits, self.settings.shadow)

    def _learn_starts(self, snapshot: Snapshot, changes: Changes) -> tuple[int, int | None]:
        """How long starts take, and for how long the policy in force then counts new containers in full."""
        if self._starts is None:
            return 0, None
        self._starts.learn(snapshot, changes)
        report_ms = self.settings.report_ms
        reports = -(-self._starts.in_full_ms(snapshot.at_ms) // report_ms)
        charged = [mind.levers.charge_young(reports) for mind in self._minds]
        return reports, report_ms * charged[self._in_force] or None

    def _as_found(self, seen: Snapshot) -> Snapshot:
        """Levers see what applications came with, not what we gave them; and may ask how queues were found."""
        found, names = self._applier.ownership.found, seen.names
        if not (found.priorities or found.leaves or found.queues):
            return seen
        apps, queues = seen.columns.apps.copy(), seen.columns.queues.copy()
        for name, priority in found.priorities.items():
            apps["priority"][apps["app"] == names.apps.number(name)] = priority
        for name, leaf in found.leaves.items():
            apps["submitted_to"][apps["app"] == names.apps.number(name)] = names.queues.number(leaf)
        for name, settings in found.queues.items():
            for row in np.flatnonzero(queues["queue"] == names.queues.number(name)).tolist():
                _as_found(queues, row, settings)
        return replace(seen, columns=seen.columns._replace(apps=apps, queues=queues))

    def _act(self, wanted: Wanted, table: Table | None, snapshot: Snapshot, ages_ms: dict[str, int]) -> list[Turn]:
        own, shown = self._own_sizes(), shown_by(snapshot)
        ownership = self._applier.ownership
        ownership.find(Standing(sizes=self._sizes_found(own, snapshot)))
        ownership.forget_ended(snapshot.ended)
        ownership.kill_below |= {name for name, node in snapshot.nodes.items() if node.state == "DECOMMISSIONING"}
        seen = Seen(
            limits=self.settings.limits,
            nodes=snapshot.nodes,
            own=own,
            ages_ms=ages_ms,
            queue_of=self._queue_of(),
            queues=snapshot.queues,
            may_preempt=lambda: may_preempt(self._client),
        )
        owed = self._handing_over.still(wanted.standing)
        turns = self._applier.apply(wanted.standing, seen, shown, self.settings.shadow, owed, wanted.ams)
        if owed:
            self._handing_over.saw(turns)
        if table is not None:
            turns.append(self._applier.put_table(table, seen, self.settings.shadow))
        return turns

    def _sizes_found(self, own: dict[str, Size], snapshot: Snapshot) -> dict[str, Size]:
        """Of nodes in service. One that is first seen while it is decommissioned shows what it holds: it is found as it
        stands when it is taken back."""
        left = self._applier.ownership.kill_below
        there = {name: node.total for name, node in snapshot.nodes.items() if node.resizable}
        return {name: size if name in left else own[name] for name, size in there.items()}

    def _queue_of(self) -> dict[str, str]:
        name_of = {row: name for name, row in self.live.leaves().items()}
        return {app: name_of[int(self.live.view.job["queue"][job])] for app, job in self.live.job_row.items()}

    def _own_sizes(self) -> dict[str, Size]:
        """Every node with the size that it has without us."""
        allowance = self.live.view.node["allowance"]
        return {
            name: (int(allowance[row, MEMORY]), int(allowance[row, VCORES])) for name, row in self.live.node_row.items()
        }


def _as_found(queues: Rows, row: int, settings: QueueSettings) -> None:
    """What a queue had before us, as far as we have set it. An AM share that it had from elsewhere nobody tells."""
    am_share, guarantee, maximum = (_number(settings.get(key)) for key in (AM_SHARE, GUARANTEE, MAXIMUM))
    if AM_SHARE in settings:
        queues["am_share_permille"][row] = NOT_TOLD if am_share is None else round(MILLI * am_share)
    if guarantee is not None:
        most = 100.0 if maximum is None else maximum
        queues["found_permille"][row] = round(10 * guarantee), round(10 * most)


def _number(setting: str | None) -> float | None:
    """None also for weights and amounts, which are no shares."""
    try:
        return None if setting is None else float(setting)
    except ValueError:
        return None
