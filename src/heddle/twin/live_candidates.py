"""Which policies a live cluster can be chosen to go on under."""

from __future__ import annotations

from collections.abc import Sequence

from heddle.model.errors import RunRefused
from heddle.policy.parse import parse_policy
from heddle.policy.policy import Policy
from heddle.stock_yarn.changing import common_stock
from heddle.twin.choosing import usual_candidates
from heddle.yarn.live.applying.rm_knobs import missing_knobs
from heddle.yarn.live.applying.wanted import from_outside, without_knob
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.levers import unfit
from heddle.yarn.live.rm_answers import read_queues
from heddle.yarn.live.things_seen import QueueSeen
from heddle.yarn.observe.cluster_import import queues_of


def live_candidates(client: RmClient, present: str, named: Sequence[str] | None) -> tuple[list[Policy], dict[str, str]]:
    """The present policy, the others, and YARN alone, each on the queues that the cluster has; and why usual ones are
    left out. RunRefused if the present one cannot be brought about here, or one that somebody has named."""
    scheduler = queues_of(client).scheduler
    queues = read_queues(client.scheduler(), client.address)
    wanted = [present, *(named if named is not None else usual_candidates(scheduler)), scheduler]
    found: dict[str, Policy] = {}
    refused = {}
    for number, name in enumerate(wanted):
        policy = _on(scheduler, name)
        why_not = _why_not(client, policy, queues)
        if not why_not:
            found.setdefault(policy.name, policy)
        elif number and named is None:
            refused[policy.name] = why_not
        else:
            raise RunRefused(f"{policy.name} cannot be chosen here: {why_not}")
    common_stock(list(found.values()))
    return list(found.values()), refused


def _on(scheduler: str, name: str) -> Policy:
    """A policy that names no scheduler stands behind the one that the cluster has."""
    policy = parse_policy(name)
    return policy if policy.queues.by_queue else parse_policy(f"{scheduler}+{name}")


def _why_not(client: RmClient, policy: Policy, queues: tuple[QueueSeen, ...]) -> str:
    missing = unfit(from_outside(policy)) + without_knob(policy)
    return "; ".join([*missing, knobs] if (knobs := missing_knobs(client, policy, queues)) else missing)
