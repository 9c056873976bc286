"""Why the lead over stock need not be widest where bandwidth is smallest: by ranking, by member, and by time to fetch.

Once a task does little but fetch, halving the bandwidth doubles every policy's time, and a lead in percent stays.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from heddle.reproduce.claims import Table, mean_text
from heddle.reproduce.network_aware.measurements import FETCHING, MAKESPAN, Measurements, minus, negative
from heddle.reproduce.verdicts import Ensemble, order

FORMS: Final = ("paper", "paper_nearness", "late", "late_nearness", "fetch")  # names of policies in the constants
NEARLY_ALL: Final = 0.9


def widest(measured: Measurements) -> Table:
    """The lead in percent of stock's execution time, and whether it is widest at the smallest bandwidth."""
    known, stock = measured.known, str(measured.known["policy.stock"])
    rows = []
    for form in FORMS:
        policy = str(known[f"policy.{form}"])
        leads = {mbps: negative(measured.change(mbps, policy, stock, MAKESPAN)) for mbps in measured.bandwidths}
        rows.append((policy, "all", *_cells(leads)))
        if form == "paper":
            for member, caption in measured.members.items():
                rows.append((policy, caption, *_cells({mbps: {member: of[member]} for mbps, of in leads.items()})))
    work_s = known["task.seconds"]
    fetching = {}
    for mbps in measured.bandwidths:
        spent, tasks = (measured.mean(mbps, stock, path) for path in (FETCHING, "tasks"))
        fetching[mbps] = spent / max(1e-9, spent + work_s * tasks)
    heads = ("policy", "member", *(f"{mbps} Mbit/s" for mbps in measured.bandwidths), "widest at the smallest")
    caption = f"Lead over {stock} in percent of its execution time. {what_fetching_says(fetching)}"
    return Table("Why: the lead over stock by bandwidth", heads, tuple(rows), caption)


def what_fetching_says(parts: Mapping[int, float]) -> str:
    """Of a task's time under stock, the part that it fetches, by bandwidth: can a lead still grow?"""
    said = ", ".join(f"{100 * part:.0f} % at {mbps:g}" for mbps, part in sorted(parts.items()))
    full = [f"{mbps:g}" for mbps, part in sorted(parts.items()) if part >= NEARLY_ALL]
    text = f"Of their time, tasks under stock fetch for {said} Mbit/s:"
    if len(full) > 1:
        return f"{text} at {', '.join(full)} they do little else, times go with the bandwidth, and a lead cannot widen."
    return f"{text} fetching leaves room for a lead to widen, and does not explain why it does not."


def _cells(leads: Mapping[int, Ensemble]) -> list[str]:
    low, *larger = sorted(leads)
    wider = {f"{mbps}": minus(leads[low], leads[mbps]) for mbps in larger}
    judged = order({f"ahead at {mbps}": of for mbps, of in leads.items()} | wider)
    return [*(mean_text(_over_members(of)) for of in leads.values()), judged.verdict.value]


def _over_members(values: Ensemble) -> dict[int, float]:
    shared = set.intersection(*(set(seeds) for seeds in values.values()))
    return {seed: sum(seeds[seed] for seeds in values.values()) / len(values) for seed in sorted(shared)}
