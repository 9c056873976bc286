"""Inputs of just under 1 MB, grown out of small ones in every way that has ever made a reader slow.

None needs to make sense: a refusal must be as quick as a reading. Each way is deterministic.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import count, islice
from typing import Final

SIZE: Final = 1_000_000  # bytes, just under the 1 MB that is promised
_ROOM: Final = SIZE - 20_000  # for what is repeated: the rest is there once
_WORD: Final = re.compile(rb"[A-Za-z0-9_]+")
_NUMBER: Final = re.compile(rb"\d+")


def _repeated(data: bytes) -> bytes:
    """All of it again and again."""
    return data * (SIZE // max(1, len(data)))


def _each_line(data: bytes) -> bytes:
    """The longest line as the rows of a file, which keeps what stands before and behind it."""
    lines = data.splitlines(keepends=True) or [b""]
    place = max(range(len(lines)), key=lambda one: len(lines[one]))
    before, line, behind = b"".join(lines[:place]), lines[place], b"".join(lines[place + 1 :])
    return before + _numbered(line.rstrip(b"\n") + b"\n") + behind


def _each_element(data: bytes) -> bytes:
    """The first whole {...} or [...] inside another, with commas between: rows of JSON, or of a YAML list."""
    if (found := _inner(data)) is None:
        return _repeated(data)
    first, last = found
    return data[:first] + _numbered(data[first:last] + b",")[:-1] + data[last:]


def _inner(data: bytes) -> tuple[int, int] | None:
    opened: list[int] = []
    for place, byte in enumerate(data):
        if byte in b"[{":
            opened.append(place)
        elif byte in b"]}" and opened:
            first = opened.pop()
            if opened:
                return first, place + 1
    return None


def _many_keys(data: bytes) -> bytes:
    """What stands behind the first {, or the first line, with ever new names: columns, keys, attributes."""
    first = data.find(b"{") + 1
    if first:
        end = (
            min(place for sign in (b",", b"}", b"\n") if (place := data.find(sign, first)) >= 0)
            if data[first:]
            else first
        )
        return data[:first] + _numbered(data[first:end] + b",", b"k") + data[first:]
    line, _, rest = data.partition(b"\n")
    return line + _numbered(b"," + line, b"k") + b"\n" + rest


def _numbered(unit: bytes, letter: bytes = b"") -> bytes:
    """The unit often enough, the n-th time with n in its first number, or behind its first word: names that differ."""
    found = _NUMBER.search(unit) if not letter else None
    word = found or _WORD.search(unit)
    if word is None or len(unit) > SIZE // 8:
        return unit * (_ROOM // max(1, len(unit)))
    begin = word.start() if found else word.end()
    parts = (unit[:begin] + letter + str(n).encode() + unit[word.end() :] for n in count())
    return b"".join(islice(parts, _ROOM // (len(unit) + 7)))


def _long_value(data: bytes) -> bytes:
    """Its longest word goes on and on."""
    word = max(_WORD.finditer(data), key=lambda one: len(one[0]), default=None)
    at = word.end() if word else 0
    return data[:at] + b"x" * (SIZE - len(data)) + data[at:]


def _long_number(data: bytes) -> bytes:
    number = _NUMBER.search(data)
    at = number.end() if number else 0
    return data[:at] + b"7" * (SIZE - len(data)) + data[at:]


def _nested(opening: bytes, closing: bytes) -> Callable[[bytes], bytes]:
    def grown(data: bytes) -> bytes:
        """Around the first value, or all of it."""
        at = next((place + 1 for place, byte in enumerate(data) if byte in b":=" and place), 0)
        times = (SIZE - len(data)) // (len(opening) + len(closing))
        return data[:at] + opening * times + data[at:] + closing * times

    return grown


def _behind(filling: bytes) -> Callable[[bytes], bytes]:
    return lambda data: data + filling * ((SIZE - len(data)) // len(filling))


def _inside(filling: bytes) -> Callable[[bytes], bytes]:
    """In place of the first space or comma, or of the middle."""

    def grown(data: bytes) -> bytes:
        places = [place for sign in (b" ", b",", b"\t") if (place := data.find(sign)) >= 0]
        at = min(places, default=len(data) // 2)
        return data[:at] + filling * ((SIZE - len(data)) // len(filling)) + data[at:]

    return grown


WAYS: Final[dict[str, Callable[[bytes], bytes]]] = {
    "repeated": _repeated,
    "each-line": _each_line,
    "each-element": _each_element,
    "many-keys": _many_keys,
    "long-value": _long_value,
    "long-number": _long_number,
    "brackets": _nested(b"[", b"]"),
    "objects": _nested(b'{"a":', b"}"),
    "elements": _nested(b"<a>", b"</a>"),
    "dashes": _nested(b"- ", b""),
    "dots": _inside(b".a"),
    "quotes": _inside(b'"'),
    "commas": _inside(b","),
    "colons": _inside(b":1"),
    "parentheses": _inside(b"("),
    "backslashes": _inside(b"\\\\"),
    "spaces": _inside(b" "),
    "empty-lines": _behind(b"\n"),
    "separators": _behind(b"\n--\n"),
    "zeros": _behind(b"\0"),
}
