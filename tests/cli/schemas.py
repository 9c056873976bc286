"""The published schemas of JSON documents (docs/schemas/), held against what commands print.

Published, they let documents have more keys than they name, because a later heddle may add some. Here they do not: a
key that no schema names fails. HEDDLE_WRITE_SCHEMAS=1 widens the files until what is printed fits, instead of failing.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

FOLDER = Path(__file__).parents[2] / "docs" / "schemas"
RESOURCES = {"memory", "vcores", "gpu", "memory_mb", "vcores_milli"}
# Objects whose keys are names that users or data give.
MAPS = {
    "about",
    "am_wait_by_queue_s",
    "assumptions",
    "by_workload",
    "causes_s",
    "left_out",
    "lost",
    "main_effects",
    "metadata",
    "modelled",
    "presets",
    "set_aside",
    "sums",
}
TYPES = ((bool, "boolean"), (int, "integer"), (float, "number"), (str, "string"), (list, "array"), (dict, "object"))


def schema_file(command: str) -> Path:
    """Of `heddle yarn status`, heddle-yarn-status.schema.json."""
    return FOLDER / f"heddle-{command.replace(' ', '-')}.schema.json"


def valid(command: str, document: Any) -> Any:
    """The document, which must be as its schema says."""
    path = schema_file(command)
    if os.environ.get("HEDDLE_WRITE_SCHEMAS") == "1":
        known = json.loads(path.read_text()) if path.exists() else {}
        about = {"$schema": Draft202012Validator.META_SCHEMA["$id"], "title": f"heddle {command} --json"}
        body = widened({key: value for key, value in known.items() if key not in about}, document, "")
        FOLDER.mkdir(exist_ok=True)
        path.write_text(json.dumps({**about, **body}, indent=1) + "\n")
    problems = [
        f"{command}: {error.json_path}: {error.message[:300]}"
        for error in Draft202012Validator(strict(json.loads(path.read_text()))).iter_errors(document)
    ]
    assert problems == [], f"{problems[:5]}: change {path.name}, or run this with HEDDLE_WRITE_SCHEMAS=1"
    return document


def strict(schema: Any) -> Any:
    """The same, without room for keys that it does not name."""
    if isinstance(schema, list):
        return [strict(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {key: strict(value) for key, value in schema.items()}
    return {"additionalProperties": False, **inner} if isinstance(schema.get("properties"), dict) else inner


def widened(schema: Mapping[str, Any], value: Any, name: str) -> dict[str, Any]:
    """The least change of the schema that lets the value through."""
    kind = next((word for python, word in TYPES if isinstance(value, python)), "null")
    known = schema.get("type", [])
    kinds = sorted({*([known] if isinstance(known, str) else known), kind})
    if "number" in kinds:
        kinds = [one for one in kinds if one != "integer"]
    made = {**schema, "type": kinds[0] if len(kinds) == 1 else kinds}
    if kind == "array":
        items = made.get("items", {})
        for one in value:
            items = widened(items, one, name)
        return {**made, "items": items}
    if kind != "object":
        return made
    if name in MAPS or set(value) <= RESOURCES or any(not re.fullmatch(r"[a-z]\w*", key) for key in value):
        inside = made.get("additionalProperties", {})
        for one in value.values():
            inside = widened(inside, one, "")
        return {**made, "additionalProperties": inside}
    properties = dict(made.get("properties", {}))
    required = [key for key in made.get("required", value) if key in value]
    for key, one in value.items():
        properties[key] = widened(properties.get(key, {}), one, key)
    return {**made, "required": required, "properties": properties}
