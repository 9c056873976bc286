"""What the observer's journal must say in the end: every application that ended, once, as it ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from heddle.stock_yarn.sight import app_id
from heddle.storm.yarn import EPOCH_MS, SimulatedYarn


def wrongly_recorded(yarn: SimulatedYarn, entries: Iterable[dict[str, Any]], until_ms: int) -> Iterator[str]:
    """`until_ms`: what ended before then, since the storm began, was there to be seen."""
    ends = [entry for entry in entries if entry["what"] == "app" and entry["ended_at_ms"] is not None]
    times = Counter(entry["id"] for entry in ends)
    told = {entry["id"]: entry for entry in ends}
    for job in yarn.ended_apps():
        name, ended_at_ms = app_id(job), yarn.ended_at_ms(job)
        if ended_at_ms > until_ms:
            continue
        if times[name] != 1:
            yield f"{name} ended at {ended_at_ms / 1000:.1f} s, and the journal says so {times[name]} times"
        elif told[name]["ended_at_ms"] != EPOCH_MS + ended_at_ms:
            yield f"{name} ended at {ended_at_ms / 1000:.1f} s, not as the journal says: {told[name]}"
        elif (told[name]["final_status"] == "SUCCEEDED") != yarn.has_succeeded(job):
            yield f"{name} did not end as the journal says: {told[name]}"
