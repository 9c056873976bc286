"""What somebody who mistyped a name may have meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

CLOSE: Final = 0.65  # as difflib counts it: two letters of three swapped are close, a common ending is not

LONGEST: Final = 200


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`, did you mean "mix"?` for a word close to a known one, whatever its case; else nothing."""
    if len(word) > LONGEST:  # looking for its like takes time with the square of its length
        return ""
    names = {name.casefold(): name for name in known}
    near = get_close_matches(word.casefold(), names, n=1, cutoff=CLOSE)
    return f', did you mean "{names[near[0]]}"?' if near else ""
