"""Every forecast of a live cluster is kept, beside the journal of what was seen: so that it can be scored later."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from heddle.model.errors import BadInput
from heddle.twin.calibration import Calibration, Outcome
from heddle.twin.eta import Eta
from heddle.twin.forecast import Forecast
from heddle.twin.naive import naive_eta
from heddle.twin.scoring import Case, bucket_of, capped, first_of_each

FILE = "forecasts.jsonl"


@dataclass(frozen=True)
class Kept:
    """One forecast of one application, at an instant of the cluster's clock. `naive`: None where nobody had ended."""

    app: str
    at_ms: int
    horizon_ms: int
    told: Eta
    drawn: Eta
    naive: Eta | None


def entries(found: Forecast, policy: str, at_ms: int) -> Iterable[dict[str, Any]]:
    """Lines for the file: of the policy in force, since no other's outcome will ever be known."""
    for one in found.applications:
        if policy in one.etas:
            naive = naive_eta(one.app, found.snapshot)
            yield {
                "app": one.app.id,
                "at_ms": at_ms,
                "horizon_ms": found.horizon_ms,
                "told": _listed(one.etas[policy]),
                "drawn": _listed(one.drawn[policy]),
                "naive": None if naive is None else _listed(naive),
            }


def read_kept(lines: Iterable[Mapping[str, Any]], where: str) -> list[Kept]:
    made = []
    for number, line in enumerate(lines, 1):
        try:
            naive = line["naive"]
            made.append(
                Kept(
                    str(line["app"]), int(line["at_ms"]), int(line["horizon_ms"]), _eta(line["told"]),
                    _eta(line["drawn"]), None if naive is None else _eta(naive),
                )
            )  # fmt: skip
        except (KeyError, TypeError, ValueError, OverflowError):
            raise BadInput.of(where, "is no forecast", row=number) from None
    return made


def cases(kept: Iterable[Kept], ended_ms: Mapping[str, int | None], source: str) -> list[Case]:
    """Of those that had a rival and whose application has ended within the horizon; the first of each bucket."""
    made = []
    for one in kept:
        end_ms = ended_ms.get(one.app)
        if one.naive is not None and end_ms is not None and 0 <= end_ms - one.at_ms <= one.horizon_ms:
            told, naive = (capped(eta, one.horizon_ms) for eta in (one.told, one.naive))
            made.append(Case(source, one.app, end_ms - one.at_ms, told, naive))
    return first_of_each(made)


def calibration(kept: Iterable[Kept], ended_ms: Mapping[str, int | None], now_ms: int) -> Calibration:
    """From the outcomes that are known now, one of each application and bucket."""
    found: dict[tuple[str, str], tuple[int, Outcome]] = {}
    for one in kept:
        end_ms, age_ms = ended_ms.get(one.app), now_ms - one.at_ms
        over = end_ms is not None and end_ms <= now_ms
        if over or age_ms > one.drawn.median_ms:
            known_ms = end_ms if end_ms is not None and over else now_ms
            bucket = bucket_of(known_ms - one.at_ms if over else one.drawn.median_ms)
            found.setdefault((one.app, bucket), (known_ms, Outcome(one.drawn, known_ms - one.at_ms)))
    return Calibration([outcome for _, outcome in sorted(found.values(), key=lambda known: known[0])])


def _listed(eta: Eta) -> list[float | None]:
    """JSON has no infinity: null is later than the horizon."""
    return [None if ms == float("inf") else round(ms) for ms in (eta.low_ms, eta.median_ms, eta.high_ms)]


def _eta(listed: list[float | None]) -> Eta:
    low, median, high = (float("inf") if ms is None else float(ms) for ms in listed)
    return Eta(low, median, high)
