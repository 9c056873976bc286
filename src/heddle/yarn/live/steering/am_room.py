"""Whether ApplicationMasters could fill the nodes once their own sizes are back."""

from __future__ import annotations

from collections.abc import Sequence

from heddle.model.resources import MILLI
from heddle.policy.policy import Policy
from heddle.yarn.live.applying.wanted import has_opinion
from heddle.yarn.live.things_seen import QueueSeen


def note_on_ams(policy: Policy, queues: Sequence[QueueSeen], overcommit: float) -> str:
    """An AM share is one of what nodes promise, so that YARN starts more AMs on nodes that we enlarge. "": no danger,
    or one that is there without us."""
    if not has_opinion(policy.sizing) or has_opinion(policy.admission):
        return ""
    parents = {queue.name.rpartition(".")[0] for queue in queues}
    leaves = [queue for queue in queues if queue.name not in parents and queue.am_share_permille >= 0]
    share = sum(queue.am_share_permille * queue.maximum_permille for queue in leaves) / MILLI**2
    if share >= 1 or share * overcommit < 1:
        return ""
    return (
        f"ApplicationMasters may hold {100 * share:.0f} % of what nodes promise, which at --overcommit {overcommit:g} "
        f"can be {100 * share * overcommit:.0f} % of the nodes' own sizes. With that many running when sizes are "
        "restored, no task fits until some of them end. Add admission-control to the policy, or use a smaller "
        "--overcommit"
    )
