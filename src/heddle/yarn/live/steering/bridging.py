"""Whether a session decides through the bridge, and what users are told about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from heddle.model.errors import RunRefused
from heddle.policy.lever import Question
from heddle.policy.policy import Policy
from heddle.yarn.live.applying.wanted import has_opinion, without_knob
from heddle.yarn.live.bridge.endpoint import BridgeEndpoint
from heddle.yarn.live.bridge.leaves import bridged_leaves
from heddle.yarn.live.client import RmClient

TABLES_PER_S: Final = 4  # between steps: the bridge takes five a second, and one of them is the step's


def has_use_for_bridge(policy: Policy) -> bool:
    return has_opinion(policy.by_question[Question.ORDERING]) or policy.placement.allows is not None


def leaves_to_decide(
    client: RmClient, endpoint: BridgeEndpoint, policy: Policy, signs: bool, say: Callable[[str], None]
) -> frozenset[str]:
    """The leaves in which the bridge decides for this policy; empty: it does not, and why is said.

    `signs`: there is a secret to sign tables with. RunRefused where one is needed.
    """
    if not has_use_for_bridge(policy):
        return frozenset()
    state = endpoint.state()
    if state is None:
        if gained := [one for one in without_knob(policy) if one not in without_knob(policy, bridge=True)]:
            say(f"note: with the bridge in the ResourceManager, heddle could act on: {'; '.join(gained)}")
        return frozenset()
    if state.off:
        say(f"note: the bridge has turned itself off ({state.off}); `heddle yarn bridge check --on` turns it on again")
        return frozenset()
    leaves = bridged_leaves(client.scheduler(), client.address)
    if not leaves:
        say("note: the ResourceManager has the bridge, but no leaf uses it: `heddle yarn bridge install --leaf`")
        return frozenset()
    if state.needs_secret and not signs:
        raise RunRefused("the bridge takes signed tables only: --bridge-secret names the file with its secret")
    say(f"deciding through the bridge in {', '.join(sorted(leaves))}")
    return leaves
