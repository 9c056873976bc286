"""Stock YARN's sizing: a node may promise its allowance, whatever is really used."""

from __future__ import annotations

from heddle.policy.lever import Sizing


def total(view, state, params, node, r):
    return view.node["allowance"][node, r]


RESERVATION = Sizing(
    name="reservation",
    summary="reservations count, not use: stock YARN",
    total=total,
    depends_on="nothing",
    of_yarn=True,
)
