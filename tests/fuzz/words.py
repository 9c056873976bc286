"""A dictionary for the fuzzer: the words of the inputs that it begins with, and those that their reader looks for.

Which modules those are shows when the reader reads: each that runs is searched for short literals.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import FrameType

SOURCES = Path(__file__).resolve().parents[2] / "src" / "heddle"
WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{1,39}")
TOO_LONG = 40  # a sentence for people, no word of a format


def dictionary(read: Callable[[bytes], object], inputs: Iterable[bytes]) -> str:
    """As libFuzzer reads it: a word in quotes on each line."""
    found: set[str] = set()
    ran: set[Path] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            ran.add(Path(frame.f_code.co_filename))

    sys.setprofile(note)
    try:
        for data in inputs:
            found.update(WORD.findall(data.decode("utf-8", "replace")))
            read(data)
    finally:
        sys.setprofile(None)
    for file in ran:
        if file.is_relative_to(SOURCES):
            found.update(_literals(file))
    return "".join(f'"{_escaped(word)}"\n' for word in sorted(found))


def _literals(file: Path) -> Iterable[str]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
            if text and len(text) <= TOO_LONG and not any(character.isspace() for character in text):
                yield text


def _escaped(text: str) -> str:
    return "".join(
        chr(byte) if 32 < byte < 127 and chr(byte) not in '"\\' else f"\\x{byte:02x}" for byte in text.encode()
    )
