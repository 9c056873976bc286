"""All pieces of a soak together: each figure, its target, and whether it was met."""

import json
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from heddle.yarn.observe.journal import read_lines

from .figures import (
    Look,
    Slope,
    beside_jobs,
    common_slope,
    is_lost_to_us,
    lives_of,
    node_minutes,
    percentile,
    steps_of,
    times_begun_anew,
)
from .piece import FILE, LOOKS
from .trouble import Kind

MOST_ABOVE = 0.001  # of all node-minutes
MOST_MB_PER_H = 1.0
MOST_HANDLES_PER_H = 1.0
BEYOND_LEASE_S = 5.0


@dataclass(frozen=True)
class Figure:
    """`met`: None where there is no target, or nothing to hold against it."""

    what: str
    measured: str
    target: str
    met: bool | None

    @property
    def verdict(self) -> str:
        return {True: "met", False: "MISSED", None: "" if not self.target else "not known"}[self.met]


@dataclass(frozen=True)
class Kept:
    """A complete piece and what was seen in it."""

    piece: dict[str, Any]
    looks: list[Look]


def kept_in(folder: Path) -> list[Kept]:
    """The complete pieces, in the order in which they were run."""
    files = sorted(folder.glob(f"piece-*/{FILE}"))
    return [Kept(json.loads(file.read_text()), list(read_lines(file.with_name(LOOKS)))) for file in files]


def figures_of(pieces: list[Kept]) -> list[Figure]:
    """The issue's targets first, then what has none."""
    return [
        _above_capacity(pieces),
        _count("containers killed by us", sum(len(one.piece["killed_by_us"]) for one in pieces)),
        _jobs_lost(pieces),
        _grows(pieces, "controller's memory", "rss_mb", "MB", MOST_MB_PER_H),
        _at_equal_load(pieces),
        _grows(pieces, "controller's open files", "handles", "handles", MOST_HANDLES_PER_H),
        _record(pieces),
        _put_back(pieces, Kind.CONTROLLER_KILLED),
        _put_back(pieces, Kind.CONTROLLER_HANGS),
        _count("changes of a person's overwritten", sum(one.piece["overwritten"] for one in pieces)),
        _count("controllers that ended unasked", sum(len(one.piece["unexpected_ends"]) for one in pieces)),
        _resumed(pieces),
        *_latency(pieces),
    ]


def document_of(pieces: list[Kept]) -> dict[str, Any]:
    """Everything as one document; lists of what went wrong in full."""
    faults = Counter(fault["kind"] for one in pieces for fault in one.piece["faults"])
    lost = [job for one in pieces for job in one.piece["jobs"] if job["outcome"] != "SUCCEEDED"]
    return {
        "pieces": [_of_piece(one) for one in pieces],
        "hours": round(sum(one.piece["seen_s"] for one in pieces) / 3600, 2),
        "figures": [{**asdict(figure), "verdict": figure.verdict} for figure in figures_of(pieces)],
        "faults": dict(faults),
        "put_back_s": {
            str(kind): sorted(back["s"] for back in _put_backs(pieces, kind) if back["s"] is not None)
            for kind in (Kind.CONTROLLER_KILLED, Kind.CONTROLLER_HANGS)
        },
        "unsuccessful_jobs": [{key: job[key] for key in ("name", "outcome", "diagnostics")} for job in lost],
        "killed_by_us": [container for one in pieces for container in one.piece["killed_by_us"]],
        "unexpected_ends": [end for one in pieces for end in one.piece["unexpected_ends"]],
        "over_their_own": sum(one.piece["over_their_own"] for one in pieces),
        "unseen_changes_of_a_person": sum(one.piece["unseen"] for one in pieces),
    }


def text_of(document: dict[str, Any]) -> str:
    """As Markdown, for a terminal and for docs/soak.md alike."""
    lines = [f"{document['hours']} h in {len(document['pieces'])} pieces", "", "| what | measured | target | |"]
    lines += ["|---|---|---|---|"]
    for figure in document["figures"]:
        lines.append(f"| {figure['what']} | {figure['measured']} | {figure['target']} | {figure['verdict']} |")
    lines += ["", "Faults: " + ", ".join(f"{kind}: {number}" for kind, number in document["faults"].items()) + "."]
    lines += [f"{job['name']}: {job['outcome']}: {job['diagnostics'][:200]}" for job in document["unsuccessful_jobs"]]
    lines += document["unexpected_ends"]
    return "\n".join(lines)


def _of_piece(one: Kept) -> dict[str, Any]:
    names = ("seed", "code", "policy", "for_s", "warm_up_s", "kills_s", "lease_s", "seen_s", "loads")
    capacity_mb_s = one.piece["nodes"] * one.piece["node_mb"] * one.piece["for_s"]
    reserved = sum(job["memory_mb_seconds"] or 0 for job in one.piece["jobs"])
    return {
        **{name: one.piece[name] for name in names},
        "jobs": dict(Counter(job["kind"] for job in one.piece["jobs"])),
        "reserved_share": round(reserved / capacity_mb_s, 3),
        "steps": len(steps_of(one.looks)),
    }


def _count(what: str, number: int) -> Figure:
    return Figure(what, str(number), "0", number == 0)


def _above_capacity(pieces: list[Kept]) -> Figure:
    each = [node_minutes(one.looks, one.piece["node_mb"]) for one in pieces]
    seen, above = sum(minutes for minutes, _ in each), sum(minutes for _, minutes in each)
    measured = f"{above:.2f} of {seen:.0f} ({above / seen:.3%})" if seen else "nothing seen"
    return Figure("node-minutes above capacity", measured, "<= 0.1 %", above <= MOST_ABOVE * seen if seen else None)


def _jobs_lost(pieces: list[Kept]) -> Figure:
    jobs = [(job, one.piece["faults"]) for one in pieces for job in one.piece["jobs"]]
    unsuccessful = sum(job["outcome"] != "SUCCEEDED" for job, _ in jobs)
    ours = sum(is_lost_to_us(job, faults) for job, faults in jobs)
    measured = f"{ours} of {len(jobs)}; {unsuccessful - ours} more to killed daemons"
    return Figure("jobs lost to us", measured, "0", ours == 0)


def _grows(pieces: list[Kept], what: str, column: str, unit: str, most_per_h: float) -> Figure:
    slope = common_slope(life for one in pieces for life in lives_of(one.looks, column, one.piece["warm_up_s"]))
    target = f"<= {most_per_h:g} {unit}/h, or the interval holds 0"
    if slope is None:
        return Figure(what, "no controller lived for long enough", target, None)
    return Figure(what, _slope(slope, unit), target, slope.is_at_most(most_per_h))


def _at_equal_load(pieces: list[Kept]) -> Figure:
    """A controller that sees more applications knows more of them: how its memory grows beside that."""
    slope = common_slope(
        beside_jobs(life, one.piece["jobs"])
        for one in pieces
        for life in lives_of(one.looks, "rss_mb", one.piece["warm_up_s"])
    )
    return Figure("the same, at an equal number of applications", _slope(slope, "MB") if slope else "", "", None)


def _slope(slope: Slope, unit: str) -> str:
    shown = f"{slope.per_h:+.2f} {unit}/h"
    within = f" [{slope.ci95[0]:+.2f}, {slope.ci95[1]:+.2f}]" if slope.ci95 is not None else ", no interval"
    return f"{shown}{within}, {slope.blocks} means"


def _record(pieces: list[Kept]) -> Figure:
    seen = [(one.piece["record_mb"], look["record"]) for one in pieces for look in one.looks if look["record"]]
    largest = max((max(files["bytes"], files["older_bytes"]) / 1e6 / limit for limit, files in seen), default=None)
    anew = sum(times_begun_anew(one.looks) for one in pieces)
    desk = max((look["desk_bytes"] for one in pieces for look in one.looks), default=0)
    if largest is None:
        return Figure("controller's record", "none seen", "bounded and rotated", None)
    measured = f"largest file {largest:.0%} of its limit, {anew} times begun anew; state folder {desk / 1e6:.2f} MB"
    met = largest <= 1 if largest > 1 or anew else None  # a record that never came near its limit shows nothing
    return Figure("controller's record", measured, "bounded and rotated", met)


def _put_backs(pieces: list[Kept], kind: Kind) -> list[dict[str, Any]]:
    return [back for one in pieces for back in one.piece["put_backs"] if back["after"] == str(kind)]


def _put_back(pieces: list[Kept], kind: Kind) -> Figure:
    what, backs = f"put back after: {kind}", _put_backs(pieces, kind)
    lease_s = min((one.piece["lease_s"] for one in pieces), default=0.0)
    target = f"p99 <= lease + 5 s = {lease_s + BEYOND_LEASE_S:g} s"
    if not backs:
        return Figure(what, "never happened", target, None)
    took_s = [float("inf") if back["s"] is None else back["s"] for back in backs]
    shown = ", ".join(f"p{percent:g} {percentile(took_s, percent):.1f}" for percent in (50, 90, 99))
    measured = f"{len(took_s)} times: {shown}, most {max(took_s):.1f} s"
    worst = percentile(took_s, 99)
    assert worst is not None
    return Figure(what, measured, target, worst <= lease_s + BEYOND_LEASE_S)


def _resumed(pieces: list[Kept]) -> Figure:
    """Every fault that a controller lived through."""
    after = [fault["resumed_s"] for one in pieces for fault in one.piece["faults"] if "resumed_s" in fault]
    if not after:
        return Figure("steps again after a fault", "no fault", "always", None)
    came = [seconds for seconds in after if seconds is not None]
    measured = f"{len(came)} of {len(after)}" + (f", at most {max(came):.1f} s after it" if came else "")
    return Figure("steps again after a fault", measured, "always", len(came) == len(after))


def _latency(pieces: list[Kept]) -> list[Figure]:
    steps = [step for one in pieces for step in steps_of(one.looks)]
    if not steps:
        return [Figure("latency of decisions", "no step seen", "", None)]
    found = []
    for what, parts in (("deciding", ("decide_ms",)), ("a whole step", ("observe_ms", "decide_ms", "act_ms"))):
        values = [sum(step[part] for part in parts) for step in steps]
        shown = ", ".join(f"p{percent:g} {percentile(values, percent):.0f} ms" for percent in (50, 99))
        found.append(Figure(f"latency: {what}", f"{len(values)} steps: {shown}", "", None))
    return found
