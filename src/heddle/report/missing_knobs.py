"""Which knob YARN lacks where a policy does something else by knobs than by itself, as far as its waits show it.

Jobs that complete later, or sooner, by knobs wait longer, or shorter, for something. A knob is named only if the waits
for what it would move make up half of that difference; a difference that nothing here explains has no known cause.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from heddle.analysis.comparison.effects import Beside
from heddle.analysis.waiting.by_reason import BEHIND, Waits
from heddle.model.reasons import Reason

ROOM: Final = "for room on a node"
STARTING: Final = "to start their AMs"
LIMITS: Final = "for a limit of their queue, user or pool"
REASONS: Final = {
    ROOM: (Reason.NO_ROOM, Reason.RESERVED, Reason.LABEL),
    STARTING: (Reason.NOT_ADMITTED, Reason.AM_SHARE, Reason.MAX_RUNNING),
    LIMITS: (Reason.QUEUE_LIMIT, Reason.USER_LIMIT, Reason.POOL_LIMIT),
}
HALF: Final = 0.5


@dataclass(frozen=True)
class MissingKnob:
    """What YARN does not let a lever do, and how that shows: jobs wait longer (1) or shorter (-1) for something."""

    lever: str
    waits: str
    sign: int
    text: str


KNOWN: Final = (
    MissingKnob(
        "usage-feedback", ROOM, -1,
        "a size that falls when a container ends: the posted size stays until the next look, so on the heartbeat that "
        "reports the end YARN reallocates all that the container had reserved, while the estimate would fall slowly",
    ),
    MissingKnob(
        "usage-feedback", ROOM, 1,
        "sizes between two looks: nodes are resized once a second, in whole vcores, and not by less than 256 MB",
    ),
    *(
        MissingKnob(
            "admission-control", STARTING, sign,
            "a way to name the applications that may start: an AM share lets in as many, in the scheduler's own order",
        )
        for sign in (-1, 1)
    ),
    MissingKnob(
        "dress", STARTING, 1,
        "an AM share that counts AMs of other leaf queues: what pools free goes to waiting jobs only once a second; "
        "and nobody outside knows what a job will want before its AM has asked for it",
    ),
    *(
        MissingKnob(
            "dress", LIMITS, sign,
            "pools across queues: once its AM has asked for containers, an application is moved to its pool's leaf "
            "queue, away from its own queue and its limits",
        )
        for sign in (-1, 1)
    ),
)  # fmt: skip


def seconds_by_kind(waits: Waits) -> dict[str, float]:
    """What a job waited for on average, those behind others counted with what they were behind for."""
    return {
        kind: sum(waits.seconds_for(phrase) + waits.seconds_for(f"{BEHIND} {phrase}") for phrase in _phrases(reasons))
        for kind, reasons in REASONS.items()
    }


def _phrases(reasons: tuple[Reason, ...]) -> list[str]:
    return [reason.phrase for reason in reasons]


@dataclass(frozen=True)
class Difference:
    """What of the waiting differs between a policy itself and its knobs."""

    longer_s: float  # a job's waiting by knobs, less than 0: shorter
    waits: str  # for what most of that is; empty: for nothing in particular
    waits_longer_s: float
    lacking: tuple[str, ...]  # knobs, lever by lever; empty: no known cause

    @property
    def words(self) -> str:
        what = f"Jobs wait {_longer(self.longer_s)} by knobs"
        if self.waits:
            what += f", {_longer(self.waits_longer_s)} {self.waits}"
        if not self.lacking:
            return f"{what}. **No known cause.**"
        return f"{what}. What YARN lacks: {'; '.join(self.lacking)}."


def _longer(seconds: float) -> str:
    return f"{abs(seconds):,.1f} s {'longer' if seconds >= 0 else 'shorter'}"


def _later_s(one: Beside) -> float:
    """How much later a job completes by knobs, on average."""
    return 0.0 if one.native_s is None or one.change.pct is None else one.native_s * one.change.pct / 100


def difference(one: Beside, native: Waits, knobs: Waits) -> Difference:
    """Why the two differ. Where only one of them stalls, waits say nothing about it."""
    longer_s = knobs.mean_s - native.mean_s
    if any(one.stalled_runs):
        return Difference(longer_s, "", 0.0, ())
    before, after = seconds_by_kind(native), seconds_by_kind(knobs)
    of_kind = {kind: after[kind] - before[kind] for kind in REASONS}
    sign = 1 if _later_s(one) > 0 else -1
    kind = max(of_kind, key=lambda kind: sign * of_kind[kind])
    if sign * longer_s < HALF * sign * _later_s(one) or sign * of_kind[kind] < HALF * abs(longer_s):
        return Difference(longer_s, "", 0.0, ())
    levers = one.policy.split("+")[1:]
    lacking = tuple(
        f"{knob.lever}: {knob.text}"
        for knob in KNOWN
        if knob.lever in levers and (knob.waits, knob.sign) == (kind, sign)
    )
    return Difference(longer_s, kind, of_kind[kind], lacking)
