"""What the runs themselves say about why one placement is slower than another, or has nothing to gain."""

from __future__ import annotations

from collections.abc import Mapping

from heddle.reproduce.verdicts import SAME_PCT, Ensemble, over_seeds

ByBandwidth = Mapping[int, Ensemble]  # changes in percent


def where_slower(spans: ByBandwidth, fetching: ByBandwidth) -> str:
    """Where execution surely takes longer: is more time spent fetching there?"""
    slower = {mbps: _mean(fetching[mbps]) for mbps, values in spans.items() if _surely_above_0(values)}
    if not slower:
        return ""
    low, high = min(slower.values()), max(slower.values())
    changes = f"{low:+.0f} %" if len(slower) == 1 else f"{low:+.0f} to {high:+.0f} %"
    where = ", ".join(f"{mbps:g}" for mbps in slower)
    text = f"Where it is slower ({where} Mbit/s), time spent fetching changes by {changes}"
    if high < -SAME_PCT:
        return f"{text}: tasks wait for their hosts, not for data."
    if low > SAME_PCT:
        return f"{text}: data takes longer to come."
    return f"{text}: that does not explain it."


def same_work(spans: ByBandwidth, use: ByBandwidth) -> str:
    """Whether use is only another view of the execution time: then their product does not change."""
    products = {
        mbps: 100 * ((1 + _mean(values) / 100) * (1 + _mean(use[mbps]) / 100) - 1) for mbps, values in spans.items()
    }
    most = max(products.values(), key=abs)
    if abs(most) <= SAME_PCT:
        return f"Use times execution time changes by {most:+.1f} % at most: it is the same work in another time."
    return f"Use times execution time changes by up to {most:+.1f} %: more than another view of the execution time."


def what_there_is_to_gain(fetching_part: Mapping[int, float], local_part: Mapping[str, float]) -> str:
    """How much of their time hosts fetch under the rival, and how much of what is read is at hand, by policy."""
    fetch = ", ".join(f"{100 * part:.0f} % at {mbps:g}" for mbps, part in fetching_part.items())
    local = ", ".join(f"{100 * part:.0f} % under {policy}" for policy, part in local_part.items())
    return (
        f"Part of the hosts' time spent fetching under the latter: {fetch} Mbit/s. "
        f"Part of what is read that lies on the task's own host: {local}."
    )


def _mean(values: Ensemble) -> float:
    return over_seeds(values)[0] or 0.0


def _surely_above_0(values: Ensemble) -> bool:
    interval = over_seeds(values)[1]
    return interval is not None and interval[0] > 0
