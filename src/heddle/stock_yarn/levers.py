"""The levers of stock YARN: those of a policy that YARN has itself, and node sizes that somebody posts."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from heddle.model.view import EVENT_NODE_RETURNED
from heddle.policy.lever import Ordering, Placement, Question, Sizing, State, per_resource
from heddle.policy.levers.leaf_order import LEAF_ORDER
from heddle.policy.levers.partition import SHARED
from heddle.policy.levers.placement import MOST_FREE
from heddle.policy.policy import Policy, Setup
from heddle.policy.presets import PRESETS
from heddle.sim.memory.tables import Sim


def _prepare(setup: Setup) -> None:
    setup.state.node["posted"] = setup.view.node["allowance"]


def _returned(view, state, params, kind, node, stage, container, value):  # type: ignore[no-untyped-def]
    """A node that returns registers with its own size."""
    for r in range(view.shape["demand"].shape[1]):
        state.node["posted"][node, r] = view.node["allowance"][node, r]
    return 0


def _total(view, state, params, node, r):  # type: ignore[no-untyped-def]
    return state.node["posted"][node, r]


def posted(sim: Sim) -> npt.NDArray[np.int64]:
    """What was posted for each node, in a run that has the lever below."""
    sizes: npt.NDArray[np.int64] = sim.levers[Question.SIZING].state.node["posted"]
    return sizes


POSTED: Final = Sizing(
    name="posted",
    summary="what was posted last to the ResourceManager",
    total=_total,
    on_event=_returned,
    state=State(node=per_resource("posted")),
    listens=(EVENT_NODE_RETURNED,),
    prepare=_prepare,
    depends_on="reports",  # so that they are kept, for the policy outside
)


def stock_policy(policy: Policy, tabled: Ordering | None = None, vetoed: Placement = MOST_FREE) -> Policy:
    """What decides in a YARN that is driven by this policy from outside. `tabled`, `vetoed`: with the bridge, who goes
    by its tables."""
    own = {lever.question: lever for lever in policy.levers if lever.of_yarn}
    queues = policy.queues
    preset = PRESETS[queues.name if queues.by_queue else "capacity"]
    stock = {lever.question: lever for lever in preset} | own
    if Question.ORDERING in own:  # YARN's queues have an order of their own, which may be fifo, and never blocks
        default = own[Question.ORDERING].values.get("default", LEAF_ORDER.parameter("default"))
        stock[Question.ORDERING] = LEAF_ORDER.with_values({"default": default})
    if tabled is not None:
        stock[Question.ORDERING] = tabled.with_values(stock[Question.ORDERING].values)
        if queues.reserving == "none" and not queues.by_queue:  # a table says whether nodes are reserved
            stock[Question.QUEUES] = stock[Question.QUEUES].with_values({"reserve": False})
    stock |= {
        Question.SIZING: POSTED,
        Question.PARTITION: SHARED,
        Question.PLACEMENT: own.get(Question.PLACEMENT, vetoed),
    }
    return Policy(f"stock YARN driven by {policy.name}", tuple(stock[question] for question in Question))
