"""A random order, fixed by the seed: the null hypothesis of orderings."""

from __future__ import annotations

from heddle.model.draw import STREAM_POLICY, draw
from heddle.policy.lever import Ordering


def key(view, state, params, stage):
    return draw(view.clock["seed"][0], STREAM_POLICY, stage)


RANDOM_ORDER = Ordering(
    name="random-order",
    summary="requests in random order, from the seed",
    key=key,
    needs_all_jobs=True,
)
