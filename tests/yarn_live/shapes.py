"""The shape of a payload: for every path the kind of value, without the values."""

from typing import Any


def shape_of(payload: Any, path: str = "") -> dict[str, str]:
    """Paths like `nodes.node[].id`; the entries of a list are taken together."""
    if isinstance(payload, dict):
        found: dict[str, str] = {}
        for key, value in payload.items():
            found |= shape_of(value, f"{path}.{key}" if path else key)
        return found
    if isinstance(payload, list):
        found = {}
        for value in payload:
            found |= shape_of(value, f"{path}[]")
        return found
    return {path: {bool: "flag", int: "number", float: "number", str: "text", type(None): "null"}[type(payload)]}
