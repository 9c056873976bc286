"""A comparison on the terminal."""

from __future__ import annotations

from typing import Any

from rich import box
from rich.markup import escape
from rich.table import Table

from heddle.analysis.compare import Comparison
from heddle.report.wording import LEAD, NO_DIFFERENCE, Scale, judgement, pct, scales

_COLUMNS = (
    ("makespan_s", "makespan"),
    ("jct_s.mean", "mean JCT"),
    ("jct_s.p95", "p95 JCT"),
    ("wait_s.mean", "wait"),
    ("allocation_efficiency.memory", "eff."),
    ("crashed_tasks", "crashes"),
)


def comparison_tables(comparison: Comparison) -> list[Table]:
    """One table per cluster; JCT is a job's completion time, efficiency is memory used of what was reserved."""
    return [_cluster_table(comparison, cluster) for cluster in comparison.clusters]


def change_words(row: dict[str, Any]) -> str:
    """The change against the baseline with half of its interval, or that none is shown."""
    change, interval = row["vs_baseline_pct"], row["vs_ci95"]
    if change is None:
        return "not known"
    if interval is None:
        return f"{pct(change)} % (one seed)"
    half = pct((interval[1] - interval[0]) / 2).removeprefix("+")
    says = judgement(row)
    if says == NO_DIFFERENCE:
        return f"{NO_DIFFERENCE} ({pct(change)} ± {half} %)"
    colour = {"better": "green", "worse": "red"}[says]
    return f"[{colour}]{pct(change)} ± {half} %[/{colour}]"


def _cluster_table(comparison: Comparison, cluster: str) -> Table:
    seeds = len(comparison.seeds)
    title = escape(f"cluster {cluster}, {seeds} seed{'s' if seeds > 1 else ''}")
    caption = "means over seeds; ± half of the 95 % interval; changes are paired on the seed"
    table = Table(title=title, title_justify="left", caption=caption, caption_justify="left", box=box.SIMPLE_HEAD)
    table.collapse_padding, table.pad_edge = True, False  # with this, all columns fit a terminal of 80
    table.add_column("policy", overflow="fold", min_width=12)
    scale = scales(comparison, cluster)
    for metric, heading in _COLUMNS:
        unit = scale[metric].unit
        table.add_column(heading + (f"\n({unit})" if unit else ""), justify="right", no_wrap=True)
    table.add_column(escape(f"mean JCT vs\n{comparison.baseline}"), min_width=len("no difference"))
    for policy in comparison.policies:
        rows = {name: comparison.row(cluster, policy, name) for name, _ in _COLUMNS}
        stalled = rows[LEAD]["stalled_runs"]
        name = escape(policy) + (f"\n[yellow]stalled: {stalled}[/yellow]" if stalled else "")
        cells = [_value(row, scale[metric]) for metric, row in rows.items()]
        change = "baseline" if policy == comparison.baseline else change_words(rows[LEAD])
        table.add_row(name, *cells, change)
    return table


def _value(row: dict[str, Any], scale: Scale) -> str:
    text = scale.write_bare(row["mean"])
    return f"{text} {scale.half_width(row['ci95'])}".rstrip() if row["metric"] == LEAD else text
