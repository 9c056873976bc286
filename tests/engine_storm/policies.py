"""Random policies: any lever of every question, with any values of its parameters."""

from __future__ import annotations

from golden.draws import Draws
from heddle.policy.lever import Lever, Parameter, Question
from heddle.policy.parameter import literal
from heddle.policy.presets import LEVERS

AS_THEY_ARE = 500  # permille of parameters that keep their default

ALL = frozenset(LEVERS)
# By knobs, and with the bridge, the reference's levers see what nobody outside does: a job's number, what it will want,
# how large tasks are that nobody has asked for. These look at nothing of it, if they count what is asked.
_QUEUES = {"one-leaf", "capacity"}
_ADMISSIONS = {"admit-all", "am-share", "max-running"}
_SIZINGS = {"reservation", "usage-feedback", "borg-default", "n-sigma"}
SEEN_ALIKE = {
    "yarn-knobs": frozenset(
        {"fair", "drf", "fifo", "smallest-first", "leaf-order", "fair-am-share", "shared", "small-pool", "most-free"}
        | _QUEUES
        | _ADMISSIONS
        | _SIZINGS
    ),
    "bridge": frozenset(
        {"smallest-first", "ffd-dp", "haste", "haste-a", "shared", "most-free"} | _QUEUES | _ADMISSIONS | _SIZINGS
    ),
}
WHAT_IS_ASKED = frozenset({"demand"})  # parameters that say whether a lever counts it


def any_policy(draws: Draws) -> str:
    return _policy(draws, ALL, frozenset())


def policy_of_the_reference(draws: Draws, executor: str) -> str:
    """Of those levers by which the engine and the reference must do the same."""
    if executor == "native":
        return _policy(draws, ALL - {"network-aware"}, frozenset())
    return _policy(draws, SEEN_ALIKE[executor], WHAT_IS_ASKED)


def with_network_aware(draws: Draws, policy: str) -> str:
    return with_placement(policy, _with_values(draws, LEVERS["network-aware"], frozenset()))


def with_placement(policy: str, placement: str) -> str:
    """In place of the one that a drawn policy has, which is its last lever."""
    return "+".join([*policy.split("+")[:-1], placement])


def _policy(draws: Draws, names: frozenset[str], fixed: frozenset[str]) -> str:
    """One lever for each question."""
    named = []
    # The queues come first: the presets of their names bring an ordering and an admission along.
    for question in (Question.QUEUES, *(one for one in Question if one is not Question.QUEUES)):
        levers = [lever for name, lever in LEVERS.items() if lever.question is question and name in names]
        named.append(_with_values(draws, draws.pick(*levers), fixed))
    return "+".join(named)


def _with_values(draws: Draws, lever: Lever, fixed: frozenset[str]) -> str:
    given = [
        f"{parameter.name}={_value(draws, parameter)}"
        for parameter in lever.parameters
        if not draws.often(AS_THEY_ARE) and parameter.name not in fixed
    ]
    return f"{lever.name}({','.join(given)})" if given else lever.name


def _value(draws: Draws, parameter: Parameter) -> str:
    """Near its default, at its bounds, and one of its words."""
    if parameter.choices and (parameter.low is None or draws.often(300)):
        return draws.pick(*parameter.choices)
    default = parameter.default
    if isinstance(default, bool):
        return literal(draws.often(500))
    usual = 1.0 if isinstance(default, str) else float(default)
    low = 0.0 if parameter.low is None else parameter.low
    high = max(4 * usual, low + 2) if parameter.high is None else parameter.high
    high = min(high, max(4 * usual, low + 2))
    part = draws.pick(0, 1, 10, 100, 300, 500, 700, 900, 1000)
    value = low + (high - low) * part / 1000
    if isinstance(default, int) or draws.often(300):
        value = float(min(int(high), max(int(-(-low // 1)), round(value))))
    return literal(int(value) if value == int(value) else round(value, 3))
