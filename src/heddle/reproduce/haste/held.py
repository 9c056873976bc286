"""Beyond the paper: reduces that are not urgent while maps of their own job wait, against HaSTE as it is."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import partial

import numpy as np

from heddle.reproduce import verdicts
from heddle.reproduce.claims import Claim, Source, Table, mean_text
from heddle.reproduce.haste.measures import Measured, idle, makespan, measure
from heddle.reproduce.haste.recorded import RecordedBatch
from heddle.reproduce.haste.scored import Scored
from heddle.reproduce.haste.settings import FIVE, ITERATIVE, SMALL, Settings, relative
from heddle.reproduce.lab import Findings, Work


def recorded_runs(
    settings: Settings, batches: Mapping[str, RecordedBatch], policies: Iterable[str]
) -> dict[Hashable, Work]:
    """Called as those of the five settings are, with the trace as setting."""
    known = settings.known
    seeds = settings.lab.scored(known["seeds.recorded"], known["seeds.recorded_quick"])
    cluster = settings.usual_cluster
    return {
        (name, "recorded", policy, seed): partial(measure, batch, cluster, policy, seed)
        for name, batch in batches.items()
        for policy in policies
        for seed in seeds
    }


def held_reduces(scored: Scored, recorded: Mapping[str, RecordedBatch], haste: str, haste_a: str) -> Findings:
    """`haste` and `haste_a` are those that hold reduces back."""
    held = {setting: haste_a if setting in (ITERATIVE, SMALL) else haste for setting in FIVE}
    five = {setting: _ahead(scored, setting, held[setting], scored.own(setting)) for setting in FIVE}
    real = {name: _ahead(scored, name, haste, scored.haste) for name in recorded}
    claims = [_claim("beyond.1", "in the paper's settings", haste, five)]
    rows = [_row(scored, setting, scored.own(setting), held[setting], five[setting]) for setting in FIVE]
    if real:
        claims.append(_claim("beyond.2", "on recorded MapReduce jobs", haste, real))
        rows += [_row(scored, name, scored.haste, haste, real[name]) for name in real]
    remarks = [] if real else ["The recorded traces are not here (--traces): claim beyond.2 was left out."]
    heads = ("batches", "policy", "makespan", "holding reduces back", "idle reduces", "holding them back", "sooner (%)")
    caption = f"Makespan and memory held by idle reduces in percent of {scored.reference}'s; the last column is paired."
    table = Table("Reduces held back while maps of their own job wait", heads, tuple(rows), caption)
    return Findings(claims=claims, tables=[table], remarks=remarks)


def _ahead(scored: Scored, setting: str, held: str, own: str) -> dict[int, float]:
    ratio = relative(scored.results, setting, held, own, makespan)
    return {seed: 100 * (1 - value) for seed, value in ratio.items()}


def _claim(id_: str, where: str, held: str, ahead: Mapping[str, Mapping[int, float]]) -> Claim:
    worse = [name for name, seeds in ahead.items() if _surely_behind(seeds)]
    return Claim(
        id_,
        f"HaSTE that holds reduces back while maps of their job wait ({held}) is ahead of the paper's form {where}",
        "not in the paper",
        "% sooner",
        verdicts.order({"": ahead}),
        "; ".join(f"{name} {mean_text(dict(seeds))}" for name, seeds in ahead.items())
        + f". Surely behind: {', '.join(worse) or 'nowhere'}.",
        Source.OURS,
    )


def _surely_behind(seeds: Mapping[int, float]) -> bool:
    interval = verdicts.over_seeds({"": seeds})[1]
    return interval is not None and interval[1] < 0


def _row(scored: Scored, setting: str, own: str, held: str, ahead: Mapping[int, float]) -> tuple[str, ...]:
    def mean(policy: str, of: Callable[[Measured], float]) -> str:
        values = relative(scored.results, setting, policy, scored.reference, of)
        return f"{100 * np.mean(list(values.values()) or [np.nan]):.1f}"

    both = [mean(policy, of) for of in (makespan, idle) for policy in (own, held)]
    return (setting, own, *both, mean_text(dict(ahead)))
