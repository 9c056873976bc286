"""Defaults of options from a file. Flags win over the file, the file over what is built in.

# heddle.toml
quiet = true
[compare]
policy = ["capacity", "drf"]
seeds = 10
[sweep.run]
on = "local:4"
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from heddle.model.access import why_not_ours
from heddle.model.errors import BadInput, Problem
from heddle.model.nested_text import from_toml
from heddle.model.suggestion import did_you_mean

SETTINGS_FILE: Final = "heddle.toml"
GLOBAL: Final = ("quiet",)


def read_settings_file(given: Path | None) -> tuple[Path | None, dict[str, Any]]:
    """The file in use and what it says: the one that was named, else heddle.toml of this folder, else none."""
    path = given or Path(SETTINGS_FILE)
    if given is None and not path.is_file():
        return None, {}
    if given is None and (why := why_not_ours(path.resolve())):
        # It can name a lever's file, which is code: whoever puts one into a folder would run as whoever works there.
        raise BadInput.of(str(path), f"{why}, so heddle does not read it; use --config {path} to read it anyway")
    try:
        return path, from_toml(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput.of(str(path), f"cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise BadInput.of(str(path), f"not TOML: {error}") from None


def option_defaults(path: Path, said: Mapping[str, Any], command: Any) -> dict[str, Any]:
    """The file's tables as defaults of the commands' options; BadInput names everything that no command knows."""
    problems: list[Problem] = []
    defaults = _defaults(path, {key: value for key, value in said.items() if key not in GLOBAL}, command, "", problems)
    if not isinstance(said.get("quiet", False), bool):
        problems.append(Problem(str(path), "must be true or false", field="quiet"))
    if problems:
        raise BadInput(problems)
    return defaults


def _defaults(path: Path, said: Mapping[str, Any], command: Any, above: str, problems: list[Problem]) -> dict[str, Any]:
    commands: dict[str, Any] = getattr(command, "commands", {})
    options = {} if commands else {parameter.name: parameter for parameter in command.params}
    found: dict[str, Any] = {}
    for key, value in said.items():
        place = f"{above}{key}"
        name = key if commands else key.replace("-", "_")
        if name in commands and isinstance(value, dict):
            found[name] = _defaults(path, value, commands[name], f"{place}.", problems)
        elif name in options and not isinstance(value, dict):
            found[name] = value
        else:
            known = list(commands or options)
            hint = did_you_mean(name, known) or f"; known: {', '.join(known)}"
            kind = "expected a table [command] of options here" if name in commands else "unknown"
            problems.append(Problem(str(path), kind + ("" if name in commands else hint), field=place))
    return found
