"""The levers of stock YARN: those of a policy that YARN has itself, and node sizes that somebody posts."""

from __future__ import annotations

from typing import Final

from heddle.model.view import EVENT_NODE_RETURNED, EVENT_REPORTED
from heddle.policy.lever import Columns, Lever, Question
from heddle.policy.levers.leaf_order import LEAF_ORDER
from heddle.policy.levers.partition import SHARED
from heddle.policy.levers.placement import MOST_FREE
from heddle.policy.policy import Policy, Setup
from heddle.policy.presets import PRESETS
from heddle.yarn.live.live_memory import N_RESOURCES


def _prepare(setup: Setup) -> None:
    setup.state.node[:] = setup.view.node["allowance"]


def _returned(view, state, params, kind, node, stage, container, value):  # type: ignore[no-untyped-def]
    """A node that returns registers with its own size. (Reports are listened to so that they are kept.)"""
    if kind == EVENT_NODE_RETURNED:
        for r in range(view.shape["demand"].shape[1]):
            state.node[node, r] = view.node["allowance"][node, r]
    return 0


def _total(view, state, params, node, r):  # type: ignore[no-untyped-def]
    return state.node[node, r]


POSTED: Final = Lever(
    name="posted",
    question=Question.SIZING,
    summary="what was posted last to the ResourceManager",
    hooks={"total": _total, "on_event": _returned},
    columns=Columns(node=N_RESOURCES),
    listens=(EVENT_NODE_RETURNED, EVENT_REPORTED),
    prepare=_prepare,
    changes="allocation",
)


def stock_policy(policy: Policy) -> Policy:
    """What decides in a YARN that is driven by this policy from outside."""
    own = {lever.question: lever for lever in policy.levers if lever.of_yarn}
    queues = policy.by_question[Question.QUEUES]
    preset = PRESETS[queues.name if queues.by_queue else "capacity"]
    stock = {lever.question: lever for lever in preset} | own
    if Question.ORDERING in own:  # YARN's queues have an order of their own, which may be fifo, and never blocks
        default = own[Question.ORDERING].values.get("default", LEAF_ORDER.parameter("default"))
        stock[Question.ORDERING] = LEAF_ORDER.with_values({"default": default})
    stock |= {
        Question.SIZING: POSTED,
        Question.PARTITION: SHARED,
        Question.PLACEMENT: own.get(Question.PLACEMENT, MOST_FREE),
    }
    return Policy(f"stock YARN driven by {policy.name}", tuple(stock[question] for question in Question))
