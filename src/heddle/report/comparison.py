"""The HTML report of a comparison: one file, no network, nothing to install."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from heddle.analysis.comparison.compare import Comparison, cluster_of
from heddle.report.figures import (
    change_figure,
    count_figure,
    distribution_figure,
    level_figures,
    queue_figures,
    slots,
)
from heddle.report.gantt import delayed_figure
from heddle.report.numbers import numbers_table
from heddle.report.page import page, write_page
from heddle.report.set_aside import set_aside_section
from heddle.report.style import repeats
from heddle.report.waste import efficiency_section, ledger_table
from heddle.report.waste_figures import ledger_figures, node_figures
from heddle.report.wording import LEAD, best_possible, runs_phrase, verdict
from heddle.report.worse import worse_section


def write_comparison_report(path: str | Path, comparison: Comparison, account: Mapping[str, Any] | None = None) -> None:
    """Write the report; the file appears whole or not at all. BadInput if the place cannot be written."""
    write_page(path, comparison_html(comparison, account))


def comparison_html(
    comparison: Comparison, account: Mapping[str, Any] | None = None, *, title: str = "", lead: str = ""
) -> str:
    """The text of the report; `account` is of the import that made the workload. The same gives the same text.

    `lead` is what another command says first, in HTML, under a title of its own.
    """
    workloads = ", ".join(dict.fromkeys(str(run.metrics["workload"]) for run in comparison.runs))
    n_policies = len(comparison.policies)
    what = f"{n_policies} policies" if n_policies > 1 else comparison.baseline
    sections = [_cluster_section(comparison, cluster) for cluster in comparison.clusters]
    body = f"{lead}{''.join(sections)}{set_aside_section(account)}{_reproduce(comparison)}"
    return page(title or f"{what} on {workloads}", body, n_policies)


def _cluster_section(comparison: Comparison, cluster: str) -> str:
    said = verdict(comparison, cluster)
    tiles = "".join(
        f'<div class="tile"><span>{escape(one.title)}</span><b>{escape(one.figure)}</b>'
        f"<span>{escape(one.detail)}</span></div>"
        for one in said.headlines
    )
    cautions = "".join(f"<p><small>{escape(caution)}</small></p>" for caution in said.cautions)
    changes = "".join(change_figure(comparison, cluster, name) for name in (LEAD, "makespan_s"))
    distributions = "".join(distribution_figure(comparison, cluster, what) for what in ("completion", "wait"))
    counts = "".join(count_figure(comparison, cluster, what) for what in ("running", "pending"))
    first = list(dict.fromkeys([comparison.baseline, said.policy]))
    rest = [policy for policy in comparison.policies if policy not in first]
    shown, folded = ("".join(level_figures(comparison, cluster, policy) for policy in some) for some in (first, rest))
    more = f'<details><summary>The other policies</summary><div class="figures">{folded}</div></details>'
    lives = "".join(delayed_figure(comparison, cluster, policy) for policy in first)
    where = f'<p class="quiet">Cluster {escape(cluster)}; {escape(runs_phrase(comparison))}.</p>'
    best = best_possible(comparison, cluster)
    if len(comparison.clusters) > 1:
        where = f"<h2>On {escape(cluster)}</h2>{where}"
    legend = _legend(comparison)
    return (
        f'<section>{where}<p class="verdict">{escape(said.sentence)}</p><div class="tiles">{tiles}</div>'
        f"{f'<p>{escape(best)}</p>' if best else ''}{cautions}"
        f"{numbers_table(comparison, cluster)}"
        + _group("Against the baseline", "", changes)
        + worse_section(comparison, cluster, said.policy)
        + _group("All jobs", legend, distributions)
        + _group("Over time", legend, counts)
        + _group("Reserved and used", "", shown)
        + (more if folded else "")
        + _group("Shares of queues", "", queue_figures(comparison, cluster, first))
        + _group("Delayed jobs, and why", "", lives)
        + _waste(comparison, cluster, first)
        + "</section>"
    )


def _waste(comparison: Comparison, cluster: str, policies: Sequence[str]) -> str:
    """Where the capacity went under these policies, in the first run of each that kept everything."""
    over_time, details = {}, ""
    for policy in policies:
        for run in comparison.runs:
            if run.policy == policy and cluster_of(run.metrics) == cluster and run.waste is not None:
                over_time[f": {policy}"] = run.waste.over_time
                more = ledger_table(run.waste.ledger) + f'<div class="figures">{node_figures(run.waste.nodes)}</div>'
                more += efficiency_section(run.efficiency, "job")
                details += f"<details><summary>Ledger, nodes and wasters: {escape(policy)}</summary>{more}</details>"
                break
    return _group("Where the capacity went", "", ledger_figures(over_time)) + details


def _group(title: str, legend: str, figures: str) -> str:
    return f'<h2>{escape(title)}</h2>{legend}<div class="figures">{figures}</div>' if figures else ""


def _legend(comparison: Comparison) -> str:
    buttons = "".join(
        f'<button class="s{slot}" data-s="{slot}" aria-pressed="true"><i{" class=again" if repeats(slot) else ""}></i>'
        f"{escape(policy)}</button>"
        for policy, slot in slots(comparison).items()
    )
    return f'<div class="legend" role="group" aria-label="policies shown">{buttons}</div>'


def _reproduce(comparison: Comparison) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in comparison.versions.items())
    clusters = {cluster_of(run.metrics): str(run.metrics["cluster_hash"]) for run in comparison.runs}
    workloads = {f"seed {run.seed}": str(run.metrics["workload_hash"]) for run in comparison.runs}
    stalls = [
        f"{run.policy}, seed {run.seed}, {cluster_of(run.metrics)}: {run.metrics['reason']}"
        for run in comparison.runs
        if run.metrics["outcome"] == "stalled"
    ]
    rows = {
        "Seeds": ", ".join(map(str, comparison.seeds)),
        "Versions": versions,
        "Configuration": comparison.configuration_hash,
        "Clusters": ", ".join(f"{name} ({digest[:16]})" for name, digest in clusters.items()),
        "Workload": _workload_digests(workloads),
        "Stalled runs": "; ".join(stalls) or "none",
    }
    listed = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in rows.items() if value)
    return f"<h2>How to reproduce this</h2><pre>{escape(comparison.command)}</pre><dl>{listed}</dl>"


def _workload_digests(by_seed: dict[str, str]) -> str:
    """One digest where all seeds ran the same jobs, else one per seed."""
    distinct = set(by_seed.values())
    if len(distinct) == 1:
        return f"{distinct.pop()[:16]}, the same for every seed"
    return ", ".join(f"{seed}: {digest[:16]}" for seed, digest in by_seed.items())
