"""What came of choices on a live cluster: how many applications there were until the horizon, counted step by step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from heddle.twin.choosing import Choice

MOST_GAP_MS: Final = 10_000  # between two steps: nobody knows how many applications there were in a longer one
MOST_UNSEEN: Final = 0.1  # of the horizon: if more of it was not seen, nobody knows what came


@dataclass(frozen=True)
class Outcome:
    """Of the choice of that instant. `came`: applications on average until its horizon; None: nobody has seen it.

    `policy`: what acted from then on; `predicted`: what was expected of it, None: it was not rolled out.
    """

    at_ms: int
    policy: str
    predicted: float | None
    came: float | None

    def as_json(self) -> dict[str, Any]:
        return dict(vars(self))


@dataclass
class _Open:
    at_ms: int
    policy: str = ""
    predicted: float | None = None
    there: float = 0.0  # applications, times ms
    seen_ms: int = 0


class Outcomes:
    def __init__(self, horizon_ms: int) -> None:
        self._horizon_ms = horizon_ms
        self._open: dict[int, _Open] = {}
        self._stepped_ms: int | None = None

    def begin(self, at_ms: int) -> None:
        """Somebody has asked what to choose."""
        self._open[at_ms] = _Open(at_ms)

    def chosen(self, choice: Choice, acts: str) -> None:
        """A choice without prospects has predicted nothing."""
        if not choice.prospects:
            self._open.pop(choice.at_ms, None)
        elif choice.at_ms in self._open:
            one = self._open[choice.at_ms]
            one.policy = acts
            one.predicted = next((two.present for two in choice.prospects if two.policy == acts), None)

    def step(self, now_ms: int, applications: int | None) -> tuple[Outcome, ...]:
        """So many run or wait now, None: nobody has answered. What has come of choices whose horizon is over."""
        since_ms = self._stepped_ms
        if applications is not None:
            self._stepped_ms = now_ms
            if since_ms is not None and now_ms - since_ms <= MOST_GAP_MS:
                for one in self._open.values():
                    until_ms = min(now_ms, one.at_ms + self._horizon_ms)
                    ms = max(0, until_ms - max(since_ms, one.at_ms))
                    one.there += applications * ms
                    one.seen_ms += ms
        over = [one for one in self._open.values() if now_ms >= one.at_ms + self._horizon_ms]
        for one in over:
            del self._open[one.at_ms]
        return tuple(self._outcome(one) for one in over if one.policy)

    def _outcome(self, one: _Open) -> Outcome:
        is_seen = one.seen_ms >= (1 - MOST_UNSEEN) * self._horizon_ms
        return Outcome(one.at_ms, one.policy, one.predicted, one.there / one.seen_ms if is_seen else None)
