"""When applications will end, as a twin that runs beside has said last: the file of forecasts that it keeps.

A line of it is one forecast of one application: `app`, `at_ms` by the ResourceManager's clock, and `told`, the least,
middle and most milliseconds until it ends; null is later than the twin looks ahead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

from heddle.model.nested_text import from_json
from heddle.yarn.live.rm_answers import MOST
from heddle.yarn.live.things_seen import AppSeen

FILE: Final = "forecasts.jsonl"
SHOWN: Final = 60
LINE_END: Final = b"\n"


class Forecasts:
    """Reads what was added since it last looked."""

    def __init__(self, folder: Path, clock: Callable[[], float]) -> None:
        """`clock`: that of the machine, as files have it."""
        self._file, self._clock = folder / FILE, clock
        self._at = 0
        self._last: dict[str, tuple[int, list[float | None]]] = {}
        self._made_at_ms = 0

    def look(self, now_s: float) -> dict[str, Any]:
        """Of each application the last forecast, made at a time of the board's clock, which `now_s` is.

        Whose clock is right nobody knows; but the last lines were written when the file was.
        """
        try:
            with self._file.open("rb") as file:
                written_ago_s = max(0.0, self._clock() - self._file.stat().st_mtime)
                file.seek(self._at)
                added = file.read()
        except OSError:
            return {}
        whole = added[: added.rfind(LINE_END) + 1]
        self._at += len(whole)
        for line in whole.splitlines():
            self._take(line)
        return {
            app: {"at_s": round(now_s - written_ago_s - (self._made_at_ms - at_ms) / 1000, 1), "told_ms": told}
            for app, (at_ms, told) in self._last.items()
        }

    def _take(self, line: bytes) -> None:
        """What is no forecast is left out: of a file that another program writes, nothing is promised here."""
        try:
            one = from_json(line)
            app, at_ms = str(one["app"]), int(one["at_ms"])
            low, middle, high = (None if ms is None else float(ms) for ms in one["told"])
        except (ValueError, KeyError, TypeError, OverflowError):
            return
        if abs(at_ms) < MOST:
            self._last[app] = at_ms, [low, middle, high]
            self._made_at_ms = max(self._made_at_ms, at_ms)


def eta_rows(last: dict[str, Any], apps: Iterable[AppSeen]) -> list[dict[str, Any]]:
    """Of applications that are still there, the soonest first."""
    rows = [{"id": app.id, "user": app.user, "queue": app.queue, **last[app.id]} for app in apps if app.id in last]
    return sorted(rows, key=lambda row: (row["told_ms"][1] is None, row["told_ms"][1], row["id"]))[:SHOWN]
