"""The shape of a payload: for every path the kind of value, without the values."""

import json
import os
from pathlib import Path
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


def check_recorded(shapes: dict[str, dict[str, str]], record: Path) -> None:
    """Of real answers: none has another kind of value than was recorded. HEDDLE_RECORD_SHAPES=1: they are recorded."""
    if os.environ.get("HEDDLE_RECORD_SHAPES") == "1":
        record.write_text(json.dumps(shapes, indent=1, sort_keys=True) + "\n")
    recorded = json.loads(record.read_text())
    for name in recorded:
        gone = {path: kind for path, kind in recorded[name].items() if shapes[name].get(path, kind) != kind}
        assert gone == {}, name
