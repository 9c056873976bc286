"""Beyond the paper: nodes ranked by how long a task would fetch, against the paper's ranking."""

from __future__ import annotations

from heddle.reproduce import verdicts
from heddle.reproduce.claims import Claim, Source
from heddle.reproduce.network_aware.measurements import MAKESPAN, MOVED, OURS, Measurements, negative

FETCH = "fetch"  # its name among the policies of the constants
RIVALS = {"late": "the paper's ranking, bound late too", "paper": "the paper's own form, bound early"}


def by_fetch_time(measured: Measurements, rival: str, kind: str = "") -> list[Claim]:
    """Sooner, nowhere later and fewer bytes: over all members and bandwidths. `kind`: of recorded DAGs."""
    own, other = (str(measured.known[f"policy.{name}"]) for name in (FETCH, rival))
    spans, moved = (_by_setting(measured, own, other, path) for path in (MAKESPAN, MOVED))
    subject = f"{own} against {other}, {RIVALS[rival]}"
    time, bytes_ = "Execution time", "Fewer bytes"
    if kind:
        time, bytes_ = f"Recorded {kind}: execution time", f"Recorded {kind}: fewer bytes"
    id_ = f"{kind}-{FETCH}-{rival}" if kind else f"{FETCH}-{rival}"
    by_bandwidth = "; ".join(
        f"{mbps} Mbit/s {verdicts.over_seeds(measured.change(mbps, own, other, MAKESPAN))[0] or 0:+.1f} %"
        for mbps in measured.bandwidths
    )
    return [
        Claim(
            f"{id_}.1", f"{time} is shorter ({subject})", OURS, "% sooner, the mean of all",
            verdicts.order({"": negative(spans)}), f"{by_bandwidth}. {_surely_later(spans)}", Source.OURS,
        ),
        Claim(
            f"{id_}.2", f"{time} is nowhere longer by {verdicts.SAME_PCT:g} % ({subject})", OURS,
            "% change where it gains least",
            verdicts.limit_everywhere({name: {name: seeds} for name, seeds in spans.items()}, verdicts.SAME_PCT),
            f"Each of {len(spans)} members and bandwidths alone.", Source.OURS,
        ),
        Claim(
            f"{id_}.3", f"{bytes_} move ({subject})", OURS, "% fewer, the mean of all",
            verdicts.order({"": negative(moved)}), "", Source.OURS,
        ),
    ]  # fmt: skip


def _by_setting(measured: Measurements, own: str, other: str, path: str) -> dict[str, dict[int, float]]:
    """Changes in percent of each member at each bandwidth, by seed."""
    return {
        f"{member}, {mbps} Mbit/s": seeds
        for mbps in measured.bandwidths
        for member, seeds in measured.change(mbps, own, other, path).items()
    }


def _surely_later(spans: dict[str, dict[int, float]]) -> str:
    """Where the whole interval is above 0, with the mean."""
    found = {name: verdicts.over_seeds({name: seeds}) for name, seeds in spans.items()}
    later = [f"{name} ({mean:+.1f} %)" for name, (mean, span) in found.items() if span is not None and span[0] > 0]
    return f"Surely later: {'; '.join(later) or 'nowhere'}."
