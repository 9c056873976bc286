"""The constants of a paper's experiments: one file each, every value with where it comes from.

    [cluster_a.nodes]
    value = 8
    from = "V-A"

The hash is of the file's bytes: two tables with the same hash rest on the same constants.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any


@dataclass(frozen=True)
class Constants:
    """Values by dotted name."""

    paper: str
    values: Mapping[str, Any]
    origins: Mapping[str, str]
    hash: str

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def of(self, group: str) -> dict[str, Any]:
        """All values of a group, by their last name."""
        start = f"{group}."
        return {name.removeprefix(start): value for name, value in self.values.items() if name.startswith(start)}


def read_constants(paper: str) -> Constants:
    """The constants of a paper by its name."""
    data = (resources.files("heddle.reproduce") / "constants" / f"{paper}.toml").read_bytes()
    return parse_constants(paper, data)


def parse_constants(paper: str, data: bytes) -> Constants:
    """ValueError if a value has no origin: then nobody could check it."""
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for name, entry in _entries(tomllib.loads(data.decode()), ""):
        if set(entry) != {"value", "from"} or not str(entry["from"]).strip():
            raise ValueError(f"{paper}.toml: {name} needs `value` and `from`, and has {sorted(entry)}")
        values[name] = entry["value"]
        origins[name] = entry["from"]
    return Constants(paper, values, origins, hashlib.sha256(data).hexdigest()[:16])


def _entries(tree: Mapping[str, Any], above: str) -> list[tuple[str, Mapping[str, Any]]]:
    """Tables without tables in them, by dotted name."""
    found = []
    for key, child in tree.items():
        name = f"{above}{key}"
        if not isinstance(child, dict):
            raise ValueError(f"{name} stands alone: write [{name}] with `value` and `from`")
        if any(isinstance(inner, dict) for inner in child.values()):
            found += _entries(child, f"{name}.")
        else:
            found.append((name, child))
    return found
