"""A comparison on the terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from rich import box
from rich.markup import escape
from rich.table import Table

from heddle.analysis.comparison.compare import Comparison
from heddle.analysis.comparison.losers import Group, WorseJob
from heddle.report.wording import (
    LEAD,
    NO_DIFFERENCE,
    Scale,
    baseline_note,
    best_possible,
    covers_zero,
    edges_note,
    judgement,
    pct,
    runs_phrase,
    scales,
    stalled,
    write_s,
)

_CAPTION_WIDTH = 78
_COLUMNS = (
    ("makespan_s", "makespan"),
    ("jct_s.mean", "mean JCT"),
    ("jct_s.p95", "p95 JCT"),
    ("wait_s.mean", "wait"),
    ("allocation_efficiency.memory", "eff."),
    ("crashed_tasks", "crashes"),
)


def comparison_tables(comparison: Comparison) -> list[Table]:
    """Per cluster the numbers and who got worse; JCT is a job's completion time, efficiency memory used of reserved."""
    found = []
    for cluster in comparison.clusters:
        found.append(_cluster_table(comparison, cluster))
        if any(one.cluster == cluster for one in comparison.losers):
            found.append(_losers_table(comparison, cluster))
    return found


def notes(comparison: Comparison) -> list[str]:
    """What must be said below the tables."""
    told = (baseline_note(comparison), comparison.sampling.caution, edges_note(comparison))
    return [note for note in told if note]


def change_words(row: dict[str, Any]) -> str:
    """The change against the baseline with half of its interval, or that none is shown."""
    change, interval = row["vs_baseline_pct"], row["vs_ci95"]
    if stalled(row):
        return f"[red]{stalled(row)}[/red]"
    if change is None:
        return "not known"
    if interval is None:
        return f"{pct(change)} % (no interval)"
    half = pct((interval[1] - interval[0]) / 2).removeprefix("+")
    says = judgement(row)
    if says == NO_DIFFERENCE:
        return f"{NO_DIFFERENCE} ({pct(change)} ± {half} %)"
    colour = {"better": "green", "worse": "red"}[says]
    return f"[{colour}]{pct(change)} ± {half} %[/{colour}]"


def _cluster_table(comparison: Comparison, cluster: str) -> Table:
    title = escape(f"cluster {cluster}, {runs_phrase(comparison)}")
    what = "the trace itself" if comparison.sampling.kind == "blocks" else "means over seeds"
    caption = f"{what}; ± half of the 95 % interval; changes are paired on the seed\n" + textwrap.fill(
        best_possible(comparison, cluster),
        _CAPTION_WIDTH,  # rich would wrap it later than it cuts it off
    )
    table = Table(title=title, title_justify="left", caption=caption, caption_justify="left", box=box.SIMPLE_HEAD)
    table.collapse_padding, table.pad_edge = True, False  # with this, all columns fit a terminal of 80
    table.add_column("policy", overflow="fold", min_width=12)
    scale = scales(comparison, cluster)
    for metric, heading in _COLUMNS:
        unit = scale[metric].unit
        table.add_column(heading + (f"\n({unit})" if unit else ""), justify="right", no_wrap=True)
    table.add_column(escape(f"mean JCT vs\n{comparison.baseline}"), min_width=len("difference"))
    for policy in comparison.policies:
        rows = {name: comparison.row(cluster, policy, name) for name, _ in _COLUMNS}
        cells = [_value(row, scale[metric]) for metric, row in rows.items()]
        change = change_words(rows[LEAD])
        if policy == comparison.baseline:
            change = f"baseline, {change}" if stalled(rows[LEAD]) else "baseline"
        table.add_row(escape(policy), *cells, change)
    return table


def _losers_table(comparison: Comparison, cluster: str) -> Table:
    title = escape(f"who got worse than under {comparison.baseline}, on {cluster}")
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    table.collapse_padding, table.pad_edge = True, False
    table.add_column("policy", overflow="fold", min_width=12)
    for heading in ("jobs\nlater", "by, on\naverage"):
        table.add_column(heading, justify="right", no_wrap=True)
    for heading in ("worst queue", "worst user", "worst job"):
        table.add_column(heading, overflow="fold")
    for one in comparison.losers:
        if one.cluster != cluster:
            continue
        share = "–" if one.later_pct is None else f"{one.later_pct:.0f} %"
        by = "–" if one.mean_later_s is None else write_s(one.mean_later_s)
        table.add_row(
            escape(one.policy),
            share,
            by,
            escape(_worst_group(one.queues)),
            escape(_worst_group(one.users)),
            escape(_worst_job(one.jobs)),
        )
    return table


def _worst_group(groups: Sequence[Group]) -> str:
    if not groups or groups[0].change_pct is None or groups[0].change_pct <= 0:
        return "none"
    worst = groups[0]
    unsure = "" if worst.interval is None or not covers_zero(worst.interval) else " (?)"
    return f"{worst.name} {pct(worst.change_pct or 0.0)} %{unsure}"


def _worst_job(jobs: Sequence[WorseJob]) -> str:
    if not jobs:
        return "none"
    worst = jobs[0]
    if worst.policy_s is None:
        return f"{worst.name} no longer finishes"
    return f"{worst.name} +{write_s(worst.later_s)}"


def _value(row: dict[str, Any], scale: Scale) -> str:
    text = scale.write_bare(row["mean"])
    return f"{text} {scale.half_width(row['ci95'])}".rstrip() if row["metric"] == LEAD else text
