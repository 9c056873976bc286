"""docs/cli-reference.md, made of the functions behind the commands:

python -m heddle.cli.reference > docs/cli-reference.md

It reads signatures, not the parser's own objects, which are others in every version of typer.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Final, Literal, get_args, get_origin

import typer

from heddle.cli.main import COMMANDS, app_of, heddle

BEGINNING: Final = """\
# Commands

Every command with its arguments and options. (Written by `python -m heddle.cli.reference`.)

Exit codes: 0 success, 1 the run stalled or a check failed, 2 bad input, 130 interrupted. `--json` prints one document
on stdout; errors are then JSON on stderr ([documents and their schemas](json.md)). You can set default options in
`heddle.toml` ([guide](guide.md)).
"""
Command = tuple[str, Callable[..., Any]]


def page() -> str:
    """The text of docs/cli-reference.md."""
    found = [("heddle", heddle), *commands(app_of(COMMANDS), "heddle")]
    listed = [f"- [`{name}`](#{name.replace(' ', '-')}): {_paragraphs(one)[0]}" for name, one in found]
    sections = ["\n".join(_section(name, one)) for name, one in found]
    return "\n\n".join(["\n".join([BEGINNING, *listed]), *sections]) + "\n"


def commands(group: typer.Typer, name: str) -> Iterator[Command]:
    for command in group.registered_commands:
        assert command.callback is not None
        if not command.hidden:
            yield f"{name} {command.name or command.callback.__name__}", command.callback
    for below in group.registered_groups:
        assert below.typer_instance is not None
        yield from commands(below.typer_instance, f"{name} {below.name}")


def _paragraphs(command: Callable[..., Any]) -> list[str]:
    text = re.split(r"\n\s*\n", inspect.getdoc(command) or "")
    return [" ".join(one.split()) for one in text if "\b" not in one]


def _section(name: str, command: Callable[..., Any]) -> Iterator[str]:
    yield f"## {name}\n"
    yield "\n\n".join(_paragraphs(command)) + "\n"
    _, _, examples = (inspect.getdoc(command) or "").partition("Examples:\n")
    if examples:
        yield "\n".join(["```sh", *(line.strip() for line in examples.strip().splitlines()), "```\n"])
    yield "| | meaning | default |\n|---|---|---|"
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        if get_origin(parameter.annotation) is Annotated:
            yield _row(parameter)


def _row(parameter: inspect.Parameter) -> str:
    kind, about = get_args(parameter.annotation)
    meaning, default = _without_default(" ".join((about.help or "").split()))
    choices = _choices(kind)
    if choices:
        meaning += " One of " + ", ".join(f"`{one}`" for one in choices) + "."
    cells = (_names(parameter.name, about, choices, kind), meaning, default or _default(parameter.default))
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _names(name: str, about: Any, choices: tuple[str, ...], kind: Any) -> str:
    if isinstance(about, typer.models.ArgumentInfo):
        return f"`{(about.metavar or name.upper()).strip('[]')}`"
    first = about.default if isinstance(about.default, str) else None  # typer takes the first name for a default
    said = [one for one in (first, *(about.param_decls or ())) if one] or [f"--{name.replace('_', '-')}"]
    words = sorted((word for one in said for word in one.split("/")), key=lambda word: not word.startswith("--"))
    flag = kind is bool or get_args(kind)[:1] == (bool,)
    value = "" if flag else f" {about.metavar or name.upper()}"
    return ", ".join(f"`{word}{value if word.startswith('--') and not choices else ''}`" for word in words)


def _choices(kind: Any) -> tuple[str, ...]:
    for one in (kind, *get_args(kind)):
        if get_origin(one) is Literal:
            return get_args(one)
    return ()


def _without_default(text: str) -> tuple[str, str]:
    """Help that says its default itself, in brackets at the end."""
    found = re.fullmatch(r"(.*?)\.?\s*\[default: (.*)\]\.?", text)
    return (f"{found[1]}.", found[2]) if found else (text, "")


def _default(value: object) -> str:
    if value is inspect.Parameter.empty:
        return "required"
    return "" if value is None or isinstance(value, bool) else f"`{value}`"


if __name__ == "__main__":
    print(page(), end="")
