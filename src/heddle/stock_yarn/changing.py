"""Several policies outside one simulated YARN: all of them look and learn, one of them turns the knobs.

When another takes over, knobs of which it does not speak are put back as they were found, in the same instant; those
of which it does speak go from where they stand to where it wants them. No lever hears of any of this.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Protocol

from heddle.model.cluster import Cluster
from heddle.model.errors import BadInput
from heddle.model.workload import Workload
from heddle.policy.policy import Policy
from heddle.sim.codes import FOREVER
from heddle.sim.handle import SimHandle
from heddle.sim.loading import Engine
from heddle.sim.memory.tables import Sim
from heddle.sim.run import Ended, Keeper, run_engine
from heddle.stock_yarn.levers import stock_policy
from heddle.stock_yarn.mind import SimulatedMind
from heddle.stock_yarn.outside import OutsidePolicy, stock_cluster
from heddle.stock_yarn.tabling import Named
from heddle.yarn.live.applying.putting_back import put_back
from heddle.yarn.live.applying.standing import Standing
from heddle.yarn.live.applying.wanted import Wanted, pool_leaves
from heddle.yarn.live.snapshot import Snapshot


class Chooser(Protocol):
    def __call__(self, snapshot: Snapshot, sim: Sim) -> int:
        """After each look: the number of the policy that is to act from now on."""
        ...


def run_changing(
    workload: Workload,
    cluster: Cluster,
    policies: Sequence[Policy],
    seed: int,
    logging: bool,
    chooser: Chooser,
    until_ms: int = int(FOREVER),
    keeper: Keeper | None = None,
) -> Ended:
    """One run of stock YARN that one of these policies drives at a time, at first the first."""
    stock = common_stock(policies)
    outside = ChangingPolicy(workload, cluster, policies, stock, seed, chooser)
    return run_engine(workload, stock_cluster(cluster), stock, seed, logging, until_ms, outside, keeper)


def common_stock(policies: Sequence[Policy]) -> Policy:
    """What decides inside; BadInput if that is not the same for all, since nobody changes it while YARN runs."""
    first, *others = (stock_policy(policy) for policy in policies)
    for policy, stock in zip(policies[1:], others, strict=True):
        if stock.levers != first.levers:
            why = f"needs another scheduler than {policies[0].name}, and YARN's cannot change while it runs"
            raise BadInput.of("--candidate", f"{policy.name} {why}")
    return first


class ChangingPolicy(OutsidePolicy):
    """`in_force`: the number of the policy whose plans take effect."""

    def __init__(
        self,
        workload: Workload,
        cluster: Cluster,
        policies: Sequence[Policy],
        stock: Policy,
        seed: int,
        chooser: Chooser,
    ) -> None:
        leaves = max((pool_leaves(policy) for policy in policies), key=len)
        super().__init__(workload, cluster, policies[0], stock, seed, bridge=False, moves_to=leaves)
        self._minds = [self._mind, *(SimulatedMind(cluster, policy, stock, False, workload) for policy in policies[1:])]
        self._chooser, self.in_force = chooser, 0

    def _decide(self, snapshot: Snapshot, engine: Engine, handle: SimHandle) -> tuple[Wanted, Named | None]:
        plans = [mind.decide(snapshot)[1] for mind in self._minds]
        chosen = self._chooser(snapshot, handle.sim)
        wanted = self._minds[chosen].wanted(plans[chosen])
        if chosen != self.in_force:
            self.in_force = chosen
            self._hand_over(wanted.standing, engine, handle)
        return wanted, None

    def _hand_over(self, wanted: Standing, engine: Engine, handle: SimHandle) -> None:
        """What the last one has decided and is still to take effect is dropped."""
        self._due.clear()
        self._knobs.at(engine, handle)
        put_back(self._knobs, self._applier.ownership.found.without(wanted.every_part()), time)
        self._knobs.settle()
