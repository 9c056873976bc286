"""The grammar of policies: `name(parameter=value, ...)` joined by `+`.

If two levers answer the same question, the right-most one counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from heddle.model.errors import BadInput, Problem
from heddle.model.suggestion import did_you_mean
from heddle.policy.declaration import Lever
from heddle.policy.parameter import Parameter, Value
from heddle.policy.policy import Policy
from heddle.policy.presets import DEFAULTS, LEVERS, PRESETS
from heddle.policy.question import Question
from heddle.policy.users import load_user_lever

LONGEST: Final = 10_000  # characters; every lever with all of its parameters takes 1,400
_PART = re.compile(r"\s*(?P<name>[^()+]+?)\s*(?:\((?P<arguments>[^()]*)\))?\s*")


def parse_policy(text: str) -> Policy:
    """The policy that the string names. All that is wrong with it is reported at once."""
    if len(text) > LONGEST:
        raise BadInput.of(f"policy {text[:40]!r}...", f"{len(text):,} characters, and {LONGEST:,} are the most")
    chosen = dict(DEFAULTS)
    problems: list[Problem] = []
    for part in _split(text):
        match = _PART.fullmatch(part)
        if not match:
            problems.append(
                Problem(f"policy {text!r}", f"cannot read {part.strip()!r}; write name or name(parameter=value)")
            )
            continue
        try:
            for lever in _levers(match["name"], match["arguments"] or "", f"policy {text!r}"):
                chosen[lever.question] = lever
        except BadInput as error:
            problems.extend(error.problems)
    if problems:
        raise BadInput(problems)
    return Policy(text.strip(), tuple(chosen[question] for question in Question))


def _split(text: str) -> list[str]:
    """At every + that stands outside parentheses."""
    parts, depth = [""], 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "+" and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def _levers(name: str, arguments: str, where: str) -> list[Lever]:
    if ":" in name and name.partition(":")[0].endswith(".py"):
        levers: tuple[Lever, ...] = (load_user_lever(name),)
    elif name in PRESETS:
        levers = PRESETS[name]
    elif name in LEVERS:
        levers = (LEVERS[name],)
    else:
        known = sorted({*PRESETS, *LEVERS})
        raise BadInput.of(where, f"unknown policy {name!r}{did_you_mean(name, known) or ';'} known: {', '.join(known)}")
    values, problems = _values(levers, arguments, f"{where}: {name}")
    if problems:
        raise BadInput(problems)
    return [lever.with_values({k: v for k, v in values.items() if k in _names(lever)}) for lever in levers]


def _names(lever: Lever) -> set[str]:
    return {parameter.name for parameter in lever.parameters}


def _values(levers: Iterable[Lever], arguments: str, where: str) -> tuple[dict[str, Value], list[Problem]]:
    parameters = {parameter.name: parameter for lever in levers for parameter in lever.parameters}
    values: dict[str, Value] = {}
    problems: list[Problem] = []
    for argument in filter(None, (piece.strip() for piece in arguments.split(","))):
        name, equals, text = (piece.strip() for piece in argument.partition("="))
        if not equals or not text:
            problems.append(Problem(where, f"{argument!r} is not parameter=value"))
        elif name not in parameters:
            known = ", ".join(parameters) or "none"
            problems.append(
                Problem(where, f"unknown parameter {name!r}{did_you_mean(name, parameters) or ';'} known: {known}")
            )
        elif name in values:
            problems.append(Problem(where, "given twice", field=name))
        else:
            value = _value(parameters[name], text)
            if isinstance(value, Problem):
                problems.append(Problem(where, value.what, field=name))
            else:
                values[name] = value
    return values, problems


def _value(parameter: Parameter, text: str) -> Value | Problem:
    if parameter.choices:
        if text in parameter.choices:
            return text
        if parameter.low is not None:
            return _number(parameter, text)
        return Problem(
            "", f"{text!r} is not one of {', '.join(parameter.choices)}{did_you_mean(text, parameter.choices)}"
        )
    if isinstance(parameter.default, bool):
        words = {"true": True, "false": False, "1": True, "0": False, "yes": True, "no": False}
        return words.get(text.lower(), Problem("", f"{text!r} is neither true nor false"))
    return _number(parameter, text)


def _number(parameter: Parameter, text: str) -> Value | Problem:
    try:
        number = float(text)
    except ValueError:
        words = f" or one of {', '.join(parameter.choices)}" if parameter.choices else ""
        return Problem("", f"{text!r} is not a number{words}")
    if number != number or abs(number) > 1e12:
        return Problem("", f"{text!r} is not a usable number")
    if parameter.low is not None and number < parameter.low:
        return Problem("", f"{text} is below the minimum, {parameter.low:g}")
    if parameter.high is not None and number > parameter.high:
        return Problem("", f"{text} is above the maximum, {parameter.high:g}")
    if isinstance(parameter.default, int):
        return int(number) if number == int(number) else Problem("", f"{text!r} is not a whole number")
    return number
