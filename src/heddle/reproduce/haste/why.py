"""Why claims did not come out: our model, our reading, or what is lost? One thing at a time is changed.

Every row of the tables is the batches of a setting with one change; every column a policy. What a change does not move
is not behind the verdict. Nothing here is scored.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from functools import partial

from heddle.model.cluster import Cluster, Timing
from heddle.reproduce.claims import Table, mean_text
from heddle.reproduce.haste.batches import Batch, JobKind
from heddle.reproduce.haste.measures import idle, makespan, measure
from heddle.reproduce.haste.settings import MIXED, SAME, Settings, reduces_text, relative
from heddle.reproduce.lab import Findings, Part, Work

Case = tuple[Batch, Cluster]
Change = Callable[[Case], Case]


def why(settings: Settings) -> Part:
    known = settings.known
    reference: str = known["policy.reference"]
    policies: list[str] = known["why.policies"]
    seeds = settings.lab.scored(known["why.seeds"], known["why.seeds_quick"])
    changes = changes_of(settings)
    plan: dict[Hashable, Work] = {
        (f"{setting}: {change}", name, policy, seed): partial(measure, *made(given), policy, seed)
        for (setting, name), given in settings.batches().items()
        if setting in (SAME, MIXED) and name.endswith(reduces_text(0.0))
        for change, made in changes.items()
        for policy in (reference, *policies)
        for seed in seeds
    }
    results = yield plan
    tables = []
    for setting in (SAME, MIXED):
        rows = []
        for change in changes:
            ratios = [relative(results, f"{setting}: {change}", policy, reference, makespan) for policy in policies]
            held = [relative(results, f"{setting}: {change}", policy, reference, idle) for policy in policies]
            cells = [
                f"{mean_text(_percent(span), 0)}; {mean_text(_percent(waste), 0).partition(' ')[0]}"
                for span, waste in zip(ratios, held, strict=True)
            ]
            rows.append((change, *cells))
        tables.append(
            Table(
                f"Why: {setting} with one thing changed",
                ("what is changed", *policies),
                tuple(rows),
                f"In percent of {reference}'s: makespan; then memory held by idle reduces. {len(seeds)} seeds.",
            )
        )
    return Findings(tables=tables)


def changes_of(settings: Settings) -> dict[str, Change]:
    """By what the row is called."""
    known = settings.known
    changes: dict[str, Change] = {
        "nothing": lambda case: case,
        "no reduce starts before the maps are done": partial(_batch, slow_start_permille=1000),
        "no heartbeats, no time to launch": _at_once,
        "no AMs": partial(_batch, am=None),
    }
    for count in known["why.reduces"]:
        changes[f"{count} reduces to a job"] = partial(_kinds, partial(_counted, count))
    return changes


def _percent(ratios: dict[int, float]) -> dict[int, float]:
    return {seed: 100 * value for seed, value in ratios.items()}


def _batch(case: Case, **values: object) -> Case:
    return replace(case[0], **values), case[1]  # type: ignore[arg-type]


def _at_once(case: Case) -> Case:
    return case[0], replace(case[1], timing=Timing())


def _kinds(change: Callable[[JobKind], JobKind], case: Case) -> Case:
    batch, cluster = case
    return replace(batch, kinds=tuple((name, change(kind)) for name, kind in batch.kinds)), cluster


def _counted(count: int, kind: JobKind) -> JobKind:
    return replace(kind, reduces=count)
