"""The paper's claims about FIFO with YARN's FifoScheduler in its place, which its authors' Hadoop had.

It passes what does not fit and counts memory only, so that vcores are promised more than once. For that to cost what it
costs, tasks use all that they ask for here, and share the vcores of their node; other policies promise none twice, and
their runs are the same with and without such use.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace
from functools import partial

from heddle.reproduce import verdicts
from heddle.reproduce.claims import Claim, Source
from heddle.reproduce.haste.measures import makespan, measure
from heddle.reproduce.haste.scored import Scored
from heddle.reproduce.haste.settings import FIVE, MIXED, SAME, Settings
from heddle.reproduce.lab import Work


def yarn_fifo_runs(settings: Settings, seeds: Iterable[int]) -> dict[Hashable, Work]:
    """Called as the runs of other policies are."""
    policy: str = settings.known["policy.yarn_fifo"]
    return {
        (setting, name, policy, seed): partial(measure, replace(batch, uses_demand=True), cluster, policy, seed)
        for (setting, name), (batch, cluster) in settings.batches().items()
        for seed in seeds
    }


def against_yarn_fifo(scored: Scored) -> list[Claim]:
    """Who is ahead of it, and whom it is ahead of."""
    fifo: str = scored.known["policy.yarn_fifo"]
    claims = [
        _ahead(scored, f"{FIVE[setting]}.1-yarn", setting, scored.own(setting), [fifo], "shortest of all")
        for setting in FIVE
    ]
    claims += [
        _ahead(scored, f"side.{number}-yarn", setting, fifo, ["fair", "drf"], "FIFO ahead")
        for number, setting in enumerate((SAME, MIXED), 1)
    ]
    claims.append(_ahead(scored, "side.3-yarn", SAME, fifo, ["ffd-dp"], "FFD-DP loses to FIFO"))
    claims.append(_ahead(scored, "side.7-yarn", MIXED, "ffd-dp", [fifo], "ahead; no number left"))
    return claims


def _ahead(scored: Scored, id_: str, setting: str, own: str, others: list[str], says: str) -> Claim:
    spans = {policy: scored.ratio(setting, policy, makespan) for policy in (own, *others)}
    ended = all(len(spans[policy]) == scored.n_seeds for policy in spans)
    means = ", ".join(f"{policy} {scored.mean_pct(setting, policy, makespan):.0f}" for policy in spans)
    return Claim(
        id_,
        f"{own} is ahead of {' and '.join(others)} ({setting})",
        says,
        "% ahead of the nearest",
        verdicts.only_if(verdicts.best(spans[own], {policy: spans[policy] for policy in others}), ended),
        f"Makespan in percent of {scored.reference}'s: {means}.",
        Source.OURS,
    )
