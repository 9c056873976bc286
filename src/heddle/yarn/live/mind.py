"""One policy outside a YARN, real or simulated: what it has learnt, and where it wants the knobs after a look."""

from __future__ import annotations

from heddle.model.plan import Plan
from heddle.policy.policy import Policy
from heddle.yarn.live.applying.wanted import Wanted, from_outside, wanted_by
from heddle.yarn.live.decider import Decider
from heddle.yarn.live.differ import Changes
from heddle.yarn.live.levers import LiveLevers
from heddle.yarn.live.live_view import LiveView
from heddle.yarn.live.snapshot import Snapshot
from heddle.yarn.live.things_seen import Size


class Mind:
    """`increment`: node sizes are multiples of it; `bridge`: it orders single requests."""

    def __init__(self, policy: Policy, live: LiveView, increment: Size, report_ms: int, bridge: bool) -> None:
        self.name, self.policy, self.live, self._bridge = policy.name, from_outside(policy), live, bridge
        self.levers = LiveLevers(self.policy, increment, per_request=bridge, declared=live.declared is not None)
        self._decider = Decider(self.levers, live, report_ms)

    @property
    def before(self) -> Snapshot | None:
        """The last look."""
        return self._decider.before

    def decide(self, snapshot: Snapshot) -> tuple[Changes, Plan]:
        """Sees what has happened, and decides: whether anybody acts on it makes no difference to what is learnt."""
        return self._decider.decide(snapshot)

    def wanted(self, plan: Plan) -> Wanted:
        return wanted_by(plan, self.live, self._bridge)
