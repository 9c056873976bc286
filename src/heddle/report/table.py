"""A comparison on the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich import box
from rich.console import Console, RenderableType
from rich.console import Group as Renderables
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from heddle.analysis.comparison.compare import Comparison
from heddle.analysis.comparison.losers import Group, WorseJob
from heddle.model.visible_text import visible
from heddle.report.fitted_table import fitted_table, wrapped
from heddle.report.wording import (
    LEAD,
    NO_DIFFERENCE,
    Scale,
    best_possible,
    covers_zero,
    judgement,
    pct,
    runs_phrase,
    scales,
    stalled,
    verdict,
    write_s,
)

_COLUMNS = {
    "makespan_s": "makespan",
    "jct_s.mean": "mean JCT",
    "jct_s.p95": "p95 JCT",
    "wait_s.mean": "wait",
    "allocation_efficiency.memory": "eff.",
    "crashed_tasks": "crashes",
}
_FIRST_TO_GO = ("allocation_efficiency.memory", "jct_s.p95", "wait_s.mean", "makespan_s")  # in a narrow terminal
_CRASHES = "crashed_tasks"  # goes before them all where there are none, and stays where there are any
_NAME_WIDTHS = (1000, 24, 18)  # names are written on one line, or broken between their parts


def verdict_sentences(comparison: Comparison) -> list[str]:
    """What the comparison shows, on each cluster."""
    several = len(comparison.clusters) > 1
    return [
        (f"On {cluster}: " if several else "") + verdict(comparison, cluster).sentence
        for cluster in comparison.clusters
    ]


def comparison_tables(comparison: Comparison, width: int) -> list[RenderableType]:
    """Per cluster the numbers and who got worse; JCT is a job's completion time, efficiency memory used of reserved."""
    found: list[RenderableType] = []
    for cluster in comparison.clusters:
        found.append(_numbers(comparison, cluster, width))
        if any(one.cluster == cluster for one in comparison.losers):
            found.append(_losers_table(comparison, cluster, width))
    return found


def notes(comparison: Comparison) -> list[str]:
    """What must be said below the tables."""
    return list(dict.fromkeys(note for on in comparison.clusters for note in verdict(comparison, on).cautions))


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


def _numbers(comparison: Comparison, cluster: str, width: int) -> Renderables:
    """The table with as many columns as fit, and footnotes that use the whole width; what is left out is said."""
    crashes = any(comparison.row(cluster, policy, _CRASHES)["mean"] for policy in comparison.policies)
    first_to_go = _FIRST_TO_GO if crashes else (_CRASHES, *_FIRST_TO_GO)
    left_out = [first_to_go[:count] for count in range(len(first_to_go) + 1)]
    table = _widest(
        (_cluster_table(comparison, cluster, names, dropped) for dropped in left_out for names in _NAME_WIDTHS), width
    )
    what = "the trace itself" if comparison.sampling.kind == "blocks" else "means over seeds"
    footnotes = [
        f"{what}; ± half of the 95 % interval; changes are paired on the seed",
        best_possible(comparison, cluster),
    ]
    shown = {str(column.header).partition("\n")[0] for column in table.columns}
    if missing := [heading for heading in _COLUMNS.values() if heading not in shown]:
        footnotes.append(f"not shown at this width (see --report or --json): {', '.join(missing)}")
    return Renderables(table, *(Text(visible(note)) for note in footnotes if note))


def _widest(tables: Iterable[Table], width: int) -> Table:
    """The first that fits; where none does the last, broken wherever it must be: nothing is cut off."""
    console = Console(width=10_000)
    for table in tables:
        if Measurement.get(console, console.options, table).maximum <= width:
            return table
    for column in table.columns:
        column.no_wrap, column.overflow = False, "fold"
    return table


def _cluster_table(comparison: Comparison, cluster: str, name_width: int, dropped: Sequence[str]) -> Table:
    named = cluster if cluster.startswith("the ") else f"cluster {cluster}"  # `heddle check` has but one
    table = _plain(f"{named}, {runs_phrase(comparison)}")
    scale = scales(comparison, cluster)
    table.add_column("policy", no_wrap=True)
    for metric, heading in _COLUMNS.items():
        if metric not in dropped:
            unit = scale[metric].unit
            table.add_column(heading + (f"\n({unit})" if unit else ""), justify="right", no_wrap=True)
    table.add_column(escape(f"mean JCT vs\n{_name(comparison.baseline, name_width)}"), no_wrap=True)
    for policy in comparison.policies:
        rows = {name: comparison.row(cluster, policy, name) for name in _COLUMNS}
        cells = [_value(row, scale[metric]) for metric, row in rows.items() if metric not in dropped]
        change = change_words(rows[LEAD])
        if policy == comparison.baseline:
            change = f"baseline, {change}" if stalled(rows[LEAD]) else "baseline"
        table.add_row(escape(_name(policy, name_width)), *cells, change)
    return table


def _name(policy: str, width: int) -> str:
    return "\n".join(wrapped(visible(policy), width))


def _plain(title: str) -> Table:
    table = Table(title=escape(visible(title)), title_justify="left", box=box.SIMPLE_HEAD)
    table.collapse_padding, table.pad_edge, table.show_edge = True, False, False
    return table


def _losers_table(comparison: Comparison, cluster: str, width: int) -> Table:
    later, by = "jobs\nlater", "by, on\naverage"
    rows = [
        (
            one.policy,
            "–" if one.later_pct is None else f"{one.later_pct:.0f} %",
            "–" if one.mean_later_s is None else write_s(one.mean_later_s),
            _worst_group(one.queues),
            _worst_group(one.users),
            _worst_job(one.jobs),
        )
        for one in comparison.losers
        if one.cluster == cluster
    ]
    headings = ("policy", later, by, "worst queue", "worst user", "worst job")
    title = f"who got worse than under {comparison.baseline}, on {cluster}"
    return fitted_table(headings, rows, title, width, right=(later, by))


def _worst_group(groups: Sequence[Group]) -> str:
    if not groups or groups[0].change_pct is None or groups[0].change_pct <= 0:
        return "none"
    worst = groups[0]
    unsure = "" if worst.interval is None or not covers_zero(worst.interval) else " (?)"
    return f"{worst.name} {_together(f'{pct(worst.change_pct or 0.0)} %{unsure}')}"


def _worst_job(jobs: Sequence[WorseJob]) -> str:
    if not jobs:
        return "none"
    worst = jobs[0]
    if worst.policy_s is None:
        return f"{worst.name} no longer finishes"
    return f"{worst.name} {_together(f'+{write_s(worst.later_s)}')}"


def _together(words: str) -> str:
    """Not broken between a number and its unit."""
    return words.replace(" ", "\N{NO-BREAK SPACE}")


def _value(row: dict[str, Any], scale: Scale) -> str:
    text = scale.write_bare(row["mean"])
    return f"{text} {scale.half_width(row['ci95'])}".rstrip() if row["metric"] == LEAD else text
