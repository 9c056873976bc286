"""Text from outside on its way to people: what a terminal, a browser or a reader of logs would obey is shown instead.

Control characters (C0, DEL, C1: with ESC and its like a name could clear the screen, set the title, or fill the
clipboard), marks that turn the direction of writing, ends of lines that are none of ours, and half surrogates, which
cannot be written at all.
"""

from __future__ import annotations

import re
from typing import Final

_MARKS: Final = "\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
_OBEYED: Final = re.compile(f"[\x00-\x1f{_MARKS}]")
_OBEYED_IN_LINES: Final = re.compile(f"[\x00-\x08\x0b-\x1f{_MARKS}]")
_OBEYED_IN_JSON: Final = re.compile(f"[{_MARKS}]")  # which escapes the others itself


def visible(text: str) -> str:
    r"""As one line: ESC is `\x1b`, a line's end `\n`."""
    return _OBEYED.sub(_escaped, text)


def visible_lines(text: str) -> str:
    """The same, with the tabs and the ends of lines that it has."""
    return _OBEYED_IN_LINES.sub(_escaped, text)


def visible_json(document: str) -> str:
    """JSON that means the same."""
    return _OBEYED_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", document)


def _escaped(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode("ascii")
