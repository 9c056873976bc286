"""The trials of a search on disk: a line each, so that a search that was killed goes on where it was.

The search itself is not kept. It is a function of its seed and of what trials showed, so that going through it again
with the trials that are known leads to where it was, without running anything twice.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from heddle.model.access import opened_to_append
from heddle.model.nested_text import from_json
from heddle.model.whole_files import or_bad_input
from heddle.tune.trial import Tried

TRIALS: Final = "trials.jsonl"


class Journal:
    """Trials by their key; without a folder they are kept in memory only."""

    def __init__(self, folder: Path | None) -> None:
        self._file = None if folder is None else folder / TRIALS
        self._known: dict[str, Tried] = {}
        if self._file is None:
            return
        with or_bad_input(self._file):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            content = self._file.read_bytes() if self._file.exists() else b""
        for line in content.splitlines():
            try:
                one = Tried.from_json(from_json(line))
            except (ValueError, KeyError, TypeError, OverflowError):
                continue  # torn when the search was killed: that trial runs again
            self._known[one.key] = one
        self._ends_torn = bool(content) and not content.endswith(b"\n")

    @property
    def known(self) -> Mapping[str, Tried]:
        return self._known

    def put(self, some: Iterable[Tried]) -> None:
        """Keep them; on disk when this returns."""
        new = list(some)
        self._known |= {one.key: one for one in new}
        if self._file is None or not new:
            return
        lines = "".join(f"{json.dumps(one.as_json())}\n" for one in new)
        with or_bad_input(self._file), os.fdopen(opened_to_append(self._file, 0o666), "a") as out:
            out.write(("\n" if self._ends_torn else "") + lines)
            out.flush()
            os.fsync(out.fileno())
        self._ends_torn = False
