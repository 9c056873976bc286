"""`heddle policies`: what can be asked for with --policy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from heddle.cli.output import Json, print_json, print_line, print_tables, table

if TYPE_CHECKING:
    from heddle.policy.lever import Lever, Parameter


def policies(
    name: Annotated[
        str | None, typer.Argument(help="A lever, a preset, or a whole policy such as drf+n-sigma(n=5).")
    ] = None,
    json: Json = False,
) -> None:
    """List the policies, or explain one.

    A policy is one lever for each of six questions (queues, ordering, admission, sizing, partition, placement), joined
    by +. Omitted questions use their default; if two levers answer the same question, the right-most wins. Your
    own: ./mine.py:my_lever.

    \b
    Examples:
      heddle policies
      heddle policies tetris
      heddle policies "drf+n-sigma(n=3)" --json
    """
    from heddle.policy.parse import parse_policy
    from heddle.policy.presets import DEFAULTS, LEVERS, PRESETS

    if name is not None:
        chosen = parse_policy(name)
        if name in LEVERS and name not in PRESETS:
            shown: tuple[Lever, ...] = (LEVERS[name],)
        else:
            shown = PRESETS.get(name, chosen.levers)
        if json:
            document = {"policy": chosen.name, "canonical": str(chosen), "levers": [_as_json(lever) for lever in shown]}
            print_json(document | {"may_deadlock": chosen.may_deadlock, "clairvoyant": list(chosen.clairvoyant)})
            return
        print_line(f"{name} = {chosen}")
        for lever in shown:
            for line in ("", f"{lever.question}: {lever}", f"  {lever.summary}"):
                print_line(line)
            for note in _notes(lever):
                print_line(f"  ({note})")
            for parameter in lever.parameters:
                print_line(
                    f"  {parameter.name}={lever.parameter(parameter.name)}   {parameter.meaning}{_bounds(parameter)}"
                )
        return
    if json:
        print_json(
            {
                "levers": [_as_json(lever) for lever in LEVERS.values()],
                "presets": {preset: [str(lever) for lever in levers] for preset, levers in PRESETS.items()},
                "defaults": {question.value: lever.name for question, lever in DEFAULTS.items()},
            }
        )
        return
    rows = []
    for question, default in DEFAULTS.items():
        for lever in (one for one in LEVERS.values() if one.question is question):
            values = ", ".join(f"{one.name}={lever.parameter(one.name)}" for one in lever.parameters)
            mark = " (default)" if lever.name == default.name else ""
            rows.append((question.value, lever.name + (f"({values})" if values else "") + mark, _in_short(lever)))
    rows += [("preset", preset, " + ".join(map(str, levers))) for preset, levers in PRESETS.items()]
    print_tables([table(("question", "policy", "what it does"), rows)])


def _in_short(lever: Lever) -> str:
    return "; ".join([lever.summary, *_notes(lever)])


def _notes(lever: Lever) -> list[str]:
    notes = ["clairvoyant: cannot run on a live cluster"] if lever.clairvoyant else []
    return notes + (["can deadlock"] if lever.trait(lever.may_deadlock) else [])


def _bounds(parameter: Parameter) -> str:
    if parameter.choices and parameter.low is None:
        return f" (one of {', '.join(parameter.choices)})"
    ends = [f"from {parameter.low:g}"] if parameter.low is not None else []
    ends += [f"to {parameter.high:g}"] if parameter.high is not None else []
    return f" ({' '.join(ends)})" if ends else ""


def _as_json(lever: Lever) -> dict[str, Any]:
    return {
        "name": lever.name,
        "question": lever.question.value,
        "summary": lever.summary,
        "clairvoyant": lever.clairvoyant,
        "may_deadlock": lever.trait(lever.may_deadlock),
        "parameters": [
            {
                "name": one.name,
                "default": one.default,
                "value": lever.parameter(one.name),
                "meaning": one.meaning,
                "low": one.low,
                "high": one.high,
                "choices": list(one.choices),
            }
            for one in lever.parameters
        ],
    }
