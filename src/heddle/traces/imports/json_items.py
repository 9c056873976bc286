"""JSON that may hold anything: concatenated documents, JSON lines, and values asked for by the type they must have."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from heddle.model.nested_text import from_json
from heddle.traces.imports.source import Source

LARGEST: Final = 10**14  # beyond any time in milliseconds or size in bytes that a trace can mean

Object = dict[str, Any]


def documents(source: Source) -> Iterator[tuple[int, Any]]:
    """(line, value) of each JSON document of a file that holds one or several, one after the other.

    What is no JSON is a row that is set aside; reading ends there, since nobody can say where the next begins.
    """
    text = source.text()
    decoder = json.JSONDecoder()
    place, line = 0, 1
    while True:
        start = place
        while place < len(text) and text[place].isspace():
            place += 1
        line += text.count("\n", start, place)
        if place == len(text):
            return
        try:
            value, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError) as error:
            at = line + text.count("\n", place, getattr(error, "pos", place))
            row = source.rows.add_one(at, text[place : place + 200])
            source.rows.set_aside(row, "not JSON from here to the end of the file")
            return
        yield line, value
        line += text.count("\n", place, end)
        place = end


def json_lines(source: Source) -> Iterator[tuple[int, Object]]:
    """(row, object) of each line; empty lines are metadata, lines that are no JSON object are set aside."""
    for lines in source.chunks():
        stripped = lines.text.str.strip_chars()
        full = stripped != ""
        source.rows.metadata(lines.rows[~full.to_numpy()], "empty lines")
        for row, text in zip(lines.rows[full.to_numpy()].tolist(), stripped.filter(full), strict=True):
            try:
                value = from_json(text)
            except ValueError:
                value = None
            if isinstance(value, dict):
                yield row, value
            else:
                source.rows.set_aside(row, "not a JSON object")


def real(item: Any, key: str) -> float | None:
    """A number, also where it stands as text; None where there is none or it means nothing."""
    value = item.get(key) if isinstance(item, dict) else None
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not -LARGEST < value < LARGEST:  # NaN too
        return None
    return value


def integer(item: Any, key: str) -> int | None:
    """The same as a whole number."""
    value = real(item, key)
    return None if value is None else round(value)


def word(item: Any, key: str, default: str = "") -> str:
    """Text; numbers count as text."""
    value = item.get(key) if isinstance(item, dict) else None
    return str(value) if isinstance(value, str | int | float) and value != "" else default


def inner(item: Any, key: str) -> Object:
    """An object below, or an empty one."""
    value = item.get(key) if isinstance(item, dict) else None
    return value if isinstance(value, dict) else {}


def items(item: Any, key: str) -> list[Any]:
    """A list below, or an empty one."""
    value = item.get(key) if isinstance(item, dict) else None
    return value if isinstance(value, list) else []


def shown(value: Any) -> str:
    """A value as it is shown among rows that were set aside."""
    return json.dumps(value, ensure_ascii=False)[:500]
