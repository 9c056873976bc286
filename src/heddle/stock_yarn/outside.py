"""The policy outside a simulated YARN: it looks now and then, decides as a live controller does, and turns knobs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy.typing as npt

from heddle.model.cluster import Cluster, Observation
from heddle.model.draw import STREAM_OBSERVATION, draw
from heddle.model.errors import RunRefused
from heddle.model.workload import PERMYRIAD, Workload
from heddle.policy.lever import Question
from heddle.policy.policy import Policy
from heddle.sim.codes import FOREVER
from heddle.sim.handle import SimHandle
from heddle.sim.loading import Engine
from heddle.sim.memory.queue_tree import QueueTree
from heddle.sim.run import Ended, Keeper, run_engine
from heddle.stock_yarn.levers import posted, stock_policy
from heddle.stock_yarn.mind import SimulatedMind
from heddle.stock_yarn.sight import Sight
from heddle.stock_yarn.tabled import TABLED, TABLED_BY_KEY
from heddle.stock_yarn.tabling import Named, SimulatedBridge
from heddle.stock_yarn.turning import SimulatedKnobs
from heddle.stock_yarn.vetoed import vetoed_as
from heddle.yarn.live.applying.applier import Applier
from heddle.yarn.live.applying.ownership import Ownership
from heddle.yarn.live.applying.seen import Seen
from heddle.yarn.live.applying.wanted import Wanted, from_outside, has_opinion, pool_leaves, without_knob
from heddle.yarn.live.levers import unfit
from heddle.yarn.live.live_memory import N_RESOURCES
from heddle.yarn.live.snapshot import Snapshot
from heddle.yarn.live.steering.bridging import TABLES_PER_S

DEFAULT_POLL_MS: Final = 1000
SMALLEST_GAP_MS: Final = 1000 // TABLES_PER_S  # live, tables may follow one another sooner, if not more often
_SEEN: Final = Seen()  # what guards go by, of which there are none
FIRST_LOSS: Final = 1 << 60  # looks draw from the stream of lost reports, behind them


def run_by_knobs(
    workload: Workload,
    cluster: Cluster,
    policy: Policy,
    seed: int,
    logging: bool,
    until_ms: int = int(FOREVER),
    keeper: Keeper | None = None,
) -> Ended:
    """One run of stock YARN that this policy drives from outside; without an opinion of its own, of stock YARN."""
    return _run(workload, cluster, policy, stock_policy(policy), seed, logging, until_ms, keeper)


def run_by_bridge(
    workload: Workload,
    cluster: Cluster,
    policy: Policy,
    seed: int,
    logging: bool,
    until_ms: int = int(FOREVER),
    keeper: Keeper | None = None,
) -> Ended:
    """The same, of a YARN that has the bridge: it orders requests, and keeps them off nodes, as far as the policy says
    anything of that."""
    vetoes = _vetoes(policy)
    if not has_opinion(policy.ordering) and not vetoes:
        return run_by_knobs(workload, cluster, policy, seed, logging, until_ms, keeper)
    all_at_once = cluster.timing.node_heartbeat_ms == 0 and policy.ordering.fit is None
    tabled = TABLED_BY_KEY if all_at_once else TABLED
    stock = stock_policy(policy, tabled, vetoed_as(policy.placement)) if vetoes else stock_policy(policy, tabled)
    return _run(workload, cluster, policy, stock, seed, logging, until_ms, keeper, bridge=True)


def _vetoes(policy: Policy) -> bool:
    return has_opinion(policy.placement) and policy.placement.allows is not None


def _run(
    workload: Workload,
    cluster: Cluster,
    policy: Policy,
    stock: Policy,
    seed: int,
    logging: bool,
    until_ms: int,
    keeper: Keeper | None,
    bridge: bool = False,
) -> Ended:
    outside = None
    if any(has_opinion(lever) for lever in policy.levers):
        outside = OutsidePolicy(workload, cluster, policy, stock, seed, bridge, pool_leaves(policy))
    return run_engine(workload, stock_cluster(cluster), stock, seed, logging, until_ms, outside, keeper)


def stock_cluster(cluster: Cluster) -> Cluster:
    """Observation is how the policy sees the cluster: YARN itself needs no reports. Sizes are as posted, to the MB."""
    return replace(cluster, observation=Observation(), increment=(1,) * len(cluster.resources))


def refuse_without_knobs(policy: Policy, workload: Workload, cluster: Cluster, bridge: bool = False) -> None:
    """RunRefused if stock YARN, or one that has the bridge, cannot be driven by this policy on this cluster."""
    missing = unfit(from_outside(policy), declared=True) + without_knob(policy, bridge)
    if bridge and _vetoes(policy) and not policy.placement.is_by_vetoes:
        missing.append(f"{policy.placement.name} vetoes nodes, which the simulated bridge does not act on")
    if bridge and policy.placement.is_by_vetoes and cluster.timing.node_heartbeat_ms == 0:
        missing.append(
            f"{policy.placement.name} ranks nodes where all are offered at once, of which the bridge is shown one at a "
            "time: the cluster's timing needs a node_heartbeat_s"
        )
    if len(cluster.resources) > N_RESOURCES:
        unseen = ", ".join(cluster.resources[N_RESOURCES:])
        missing.append(f"{unseen}: a controller outside sees memory and vcores only")
    names = QueueTree.of(cluster, workload).names
    leaves = [name for name in pool_leaves(policy) if name not in names]
    amounts = [
        queue.name
        for queue in cluster.queues
        if queue.name in pool_leaves(policy) and (queue.guarantee or queue.maximum)
    ]
    if amounts:
        missing.append(f"{' and '.join(amounts)} must have a share, not an amount: pools are shares of the cluster")
    if leaves:
        partition = policy.by_question[Question.PARTITION].name
        missing.append(f"{partition} needs the queues {' and '.join(leaves)}, which the cluster does not have")
    if missing:
        raise RunRefused("; ".join(missing))


class OutsidePolicy:
    """Looks at all multiples of the poll interval; what it decides takes effect after the lag.

    With the bridge it also looks soon after requests have come, though no sooner than tables may follow one another.
    """

    def __init__(
        self,
        workload: Workload,
        cluster: Cluster,
        policy: Policy,
        stock: Policy,
        seed: int,
        bridge: bool,
        moves_to: tuple[str, ...],
    ) -> None:
        """`stock`: what decides inside. Whoever calls has seen to it that the policy is not refused."""
        queues = QueueTree.of(cluster, workload)
        self.moves_to = moves_to
        self._seed, self._observation = seed, cluster.observation
        self._poll_ms = cluster.observation.poll_ms or DEFAULT_POLL_MS
        self._sight = Sight(workload, cluster, queues, self.moves_to, posted)
        self._knobs = SimulatedKnobs(queues, stock.queues)
        # Without guards: those are for a cluster in which a person, a fault or a hanging node may get in the way.
        self._applier = Applier(self._knobs, Ownership(), guards=())
        self._mind = SimulatedMind(cluster, policy, stock, bridge, workload)
        self._bridge = SimulatedBridge(from_outside(policy), self._poll_ms) if bridge else None
        self.hears_in_ms = cluster.observation.latency_ms if bridge else 0
        self._due: list[tuple[int, Wanted, Named | None]] = []  # (when it takes effect, what)
        self._looked_at_ms = -SMALLEST_GAP_MS

    def look(self, engine: Engine, handle: SimHandle) -> npt.NDArray[Any]:
        """What is due takes effect; then, if it is time, one look and one decision."""
        control, now = handle.sim.control, int(handle.sim.shown.clock["now_ms"][0])
        self._take_effect(now, engine, handle)
        in_turn = now % self._poll_ms == 0 and not self._fails(now // self._poll_ms)
        if in_turn or self._hears_at(control) <= now:
            self._looked_at_ms, control["hears_at_ms"], control["began_to_wait"] = now, FOREVER, 0
            engine.report(handle)
            wanted, table = self._decide(self._sight.snapshot(handle), engine, handle)
            self._due.append((now + self._observation.lag_ms, wanted, table))
            self._take_effect(now, engine, handle)
        next_tick = now - now % self._poll_ms + self._poll_ms
        let_go = self._bridge.let_go(handle.sim, now) if self._bridge else FOREVER
        control["look_at_ms"] = min([next_tick, self._hears_at(control), let_go, *(at for at, *_ in self._due)])
        return self._knobs.log(now)

    def _decide(self, snapshot: Snapshot, engine: Engine, handle: SimHandle) -> tuple[Wanted, Named | None]:
        _, plan = self._mind.decide(snapshot)
        table = self._bridge.name(plan, self._mind.live, handle.sim) if self._bridge else None
        return self._mind.wanted(plan), table

    def _hears_at(self, control: npt.NDArray[Any]) -> int:
        """When it looks because requests have come."""
        return max(int(control["hears_at_ms"][0]), self._looked_at_ms + SMALLEST_GAP_MS)

    def _fails(self, tick: int) -> bool:
        if not self._observation.loss_permyriad:
            return False
        chance = int(draw(self._seed, STREAM_OBSERVATION, FIRST_LOSS + tick)) % PERMYRIAD
        return chance < self._observation.loss_permyriad

    def _take_effect(self, now: int, engine: Engine, handle: SimHandle) -> None:
        ready = [(wanted, table) for at, wanted, table in self._due if at <= now]
        if not ready:
            return
        self._due = [one for one in self._due if one[0] > now]
        self._knobs.at(engine, handle)
        for wanted, table in ready:
            self._applier.apply(wanted.standing, _SEEN, ams=wanted.ams)
            self._knobs.settle()
            if self._bridge and table:
                self._bridge.put(table, engine, handle)
