"""Stock YARN's sizing: a node may promise its allowance, whatever is really used."""

from __future__ import annotations

from heddle.policy.lever import Lever, Question


def total(view, state, params, node, r):
    return view.node["allowance"][node, r]


RESERVATION = Lever(
    name="reservation",
    question=Question.SIZING,
    summary="what is promised counts, not what is used: stock YARN",
    hooks={"total": total},
    of_yarn=True,
)
