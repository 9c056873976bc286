"""What the observer's journal must say in the end: every application that ended, once, as it ended, and every container
that was there to be seen; and the record that is made of it adds up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Final

from heddle.analysis.waste.ledger import waste_ledger
from heddle.stock_yarn.sight import app_id
from heddle.storm.yarn import EPOCH_MS, Life, SimulatedYarn
from heddle.yarn.observe.live_record import record_of
from heddle.yarn.observe.seen import ContainerLife, Seen

LATE_MS: Final = 2000  # the simulated YARN is looked at once a second; an answer is as old as it took


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


def wrongly_held(yarn: SimulatedYarn, seen: Seen, entries: Sequence[dict[str, Any]], misled_ms: int) -> Iterator[str]:
    """Containers that the journal leaves out, or has held for as long as nobody held them. `seen`: what entries say.
    `misled_ms`: since the storm began, when the observer was last told something else than the truth; what began later
    counts."""
    polls_ms = [one["at_ms"] - EPOCH_MS for one in entries if one["what"] == "poll"]
    polls = [*pairwise(polls_ms)]  # containers are asked for between the first of a pair and the second
    for name, life in yarn.lives.items():
        if life.began_ms <= misled_ms:
            continue
        recorded = seen.containers.get(name)
        if recorded is None:
            until_ms = max(polls_ms, default=0) if life.gone_ms is None else life.gone_ms
            if any(life.began_ms + LATE_MS < at_ms and next_ms < until_ms - LATE_MS for at_ms, next_ms in polls):
                yield f"{name} is not in the journal: {life}"
        elif wrong := _wrong_with(life, recorded, polls_ms):
            yield f"{name} {wrong}: it is {life}, and by the journal {recorded}"


def seen_in(entries: Iterable[dict[str, Any]]) -> Seen:
    seen = Seen()
    for entry in entries:
        seen.take(entry)
    return seen


def _wrong_with(life: Life, recorded: ContainerLife, polls_ms: Sequence[int]) -> str:
    if recorded.app != app_id(life.job) or recorded.size != life.size:
        return "is another's, or of another size"
    if recorded.began_at_ms != EPOCH_MS + life.began_ms:
        return "did not begin then"
    if recorded.ended_at_ms is None or recorded.ended_between_ms is None:
        return ""  # still there, at the last look
    first_ms, last_ms = (at_ms - EPOCH_MS for at_ms in recorded.ended_between_ms)
    if not first_ms <= recorded.ended_at_ms - EPOCH_MS <= last_ms:
        return "did not end between the looks that say so"
    # Containers are asked for after applications, whose answer tells the time: at the latest just before the next poll.
    last_ms = min((at_ms for at_ms in polls_ms if at_ms > last_ms), default=max(polls_ms))
    if life.gone_ms is None or not first_ms - LATE_MS <= life.gone_ms <= last_ms + LATE_MS:
        return "did not end then"
    return ""


def wrong_with_ledger(seen: Seen) -> Iterator[str]:
    """Of the record that `heddle yarn observe` would write. Every MB-millisecond is in one of its lines."""
    if not seen.containers:
        return
    found = waste_ledger(record_of(seen, policy="stock", workload="storm", started_by=["storm"]))
    for r, name in enumerate(found.resources):
        lines = sum(line.amounts[r] for line in found.lines)
        if lines != found.total[r]:
            yield f"the lines of the record's ledger add up to {lines} of {name}, not to {found.total[r]}"
        if found.reserved[r] != found.reserved_by_engine[r]:
            says = found.reserved_by_engine[r]
            yield f"the record's containers held {found.reserved[r]} of {name}, and it says {says}"
        if any(line.amounts[r] < 0 for line in found.lines):
            yield f"a line of the record's ledger is less than nothing: {found.lines}"
