"""Which node: most free, best fit, first fit, a random one. They choose among nodes that are offered together."""

from __future__ import annotations

from heddle.model.compilable import callable_too
from heddle.model.draw import STREAM_POLICY, draw
from heddle.model.resources import ONE
from heddle.policy.lever import Placement


def first(view, state, params, node, stage):
    return -node


@callable_too
def most_free(view, state, params, node, stage):
    """The smallest part, over the resources that count, of its allowance that the node has free."""
    least = 1 << 40
    for r in range(view.shape["demand"].shape[1]):
        allowance = view.node["allowance"][node, r]
        if view.clock["counts"][0, r] and allowance > 0:
            free = view.node["total"][node, r] - view.node["allocated"][node, r]
            least = min(least, free * ONE // allowance)
    return least


def best_fit(view, state, params, node, stage):
    """Minus what would remain free on the node, each resource as a part of the allowance."""
    shape = view.stage_spec["shape"][stage]
    left = 0
    for r in range(view.shape["demand"].shape[1]):
        allowance = view.node["allowance"][node, r]
        if view.clock["counts"][0, r] and allowance > 0:
            free = view.node["total"][node, r] - view.node["allocated"][node, r]
            left += (free - view.shape["demand"][shape, r]) * ONE // allowance
    return -left


def random_node(view, state, params, node, stage):
    return draw(view.clock["seed"][0], STREAM_POLICY, view.clock["allocations"][0] * 65536 + node)


FIRST_FIT = Placement(
    name="first-fit",
    summary="the node with the smallest number",
    score=first,
    score_by="node",
)

MOST_FREE = Placement(
    name="most-free",
    summary="the node with the most of its scarcest resource free",
    score=most_free,
    score_by="node",
    of_yarn=True,
)

BEST_FIT = Placement(
    name="best-fit",
    summary="the node that would have least left over",
    score=best_fit,
)

RANDOM_NODE = Placement(
    name="random-node",
    summary="a random node, from the seed",
    score=random_node,
)
