"""The report's section on who got worse: queues, users and jobs, by how much and why."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final

from heddle.analysis.comparison.compare import Comparison, cluster_of
from heddle.analysis.comparison.losers import Group, Losers
from heddle.report.tables import Cell, Says, sortable_table
from heddle.report.wording import covers_zero, number, range_pct, signed_pct, write_s

_ROWS: Final = 15


def worse_section(comparison: Comparison, cluster: str, first: str) -> str:
    """Tables for one policy, the others folded; empty where nothing was compared."""
    found = {one.policy: one for one in comparison.losers if one.cluster == cluster}
    if not found:
        return ""
    shown = found.get(first) or next(iter(found.values()))
    rest = [one for one in found.values() if one is not shown]
    folded = "".join(
        f"<details><summary>{escape(f'{one.policy}: {_in_short(one)}')}</summary>{_tables(comparison, one)}</details>"
        for one in rest
    )
    head = f"<h2>Who got worse</h2><p>Under {escape(shown.policy)}, {escape(_in_short(shown))}.</p>"
    return head + _tables(comparison, shown) + folded


def _in_short(one: Losers) -> str:
    if one.later_pct is None:
        return "no jobs can be compared"
    if not one.jobs:
        return "no job completes later than under the baseline"
    spread = f" (95 % interval {_range(one.later_interval)})" if one.later_interval is not None else ""
    said = f"{number(one.later_pct)} % of jobs complete later by more than 1 %{spread}"
    said += f", on average by {write_s(one.mean_later_s)}" if one.mean_later_s is not None else ""
    said += f"; {number(one.sooner_pct or 0.0)} % complete sooner"
    gone = one.no_longer_finish
    return said + (f"; {gone} job{'s' if gone > 1 else ''} no longer finish" if gone else "")


def _range(interval: tuple[float, float]) -> str:
    low, high = max(0.0, interval[0]), min(100.0, interval[1])
    return f"{number(low)} to {number(high)} %"


def _tables(comparison: Comparison, one: Losers) -> str:
    why = {
        life.job: life.main_wait
        for run in comparison.runs
        if run.policy == one.policy and cluster_of(run.metrics) == one.cluster and run.seed == 0
        for life in run.delayed
    }
    jobs: list[list[Cell]] = []
    for job in one.jobs:
        after = "does not finish" if job.policy_s is None else write_s(job.policy_s)
        reason = why.get(job.job, "") if job.seed == 0 else ""
        later = "" if job.policy_s is None else f"+{write_s(job.later_s)}"
        jobs.append(
            [
                Cell(job.name, job.name), Cell(later, min(job.later_s, 1e12)), Cell(job.queue, job.queue),
                Cell(job.user, job.user), Cell(str(job.seed), float(job.seed)),
                Cell(write_s(job.baseline_s), job.baseline_s),
                Cell(after, "" if job.policy_s is None else job.policy_s),
                Cell(reason, reason),
            ]
        )  # fmt: skip
    why_known = any(row[-1].text for row in jobs)
    columns = ("Mean completion", "Jobs in a run", comparison.baseline, one.policy)
    titles = ("Job", "Later by", "Queue", "User", "Seed", comparison.baseline, one.policy, "Main reason")
    tables: dict[str, tuple[Sequence[str], list[list[Cell]]]] = {
        "Queues": (("Queue", *columns), _group_rows(one.queues)),
        "Users": (("User", *columns), _group_rows(one.users)),
        "Jobs": (titles, jobs) if why_known else (titles[:-1], [row[:-1] for row in jobs]),
    }
    return "".join(
        sortable_table(title, heads, rows, f"{title} that got worse", "text") for title, (heads, rows) in tables.items()
    )


def _group_rows(groups: Sequence[Group]) -> list[list[Cell]]:
    rows: list[list[Cell]] = []
    for group in groups[:_ROWS]:
        change, says = "–" if group.change_pct is None else signed_pct(group.change_pct), None
        if group.interval is not None and group.change_pct is not None:
            says = Says.NOTHING if covers_zero(group.interval) else Says.WORSE if group.change_pct > 0 else Says.BETTER
            change += f" ({range_pct(group.interval)})"
        rows.append(
            [
                Cell(group.name, group.name), Cell(change, "" if group.change_pct is None else group.change_pct, says),
                Cell(number(group.jobs), group.jobs), Cell(write_s(group.baseline_s), group.baseline_s),
                Cell(write_s(group.policy_s), group.policy_s),
            ]
        )  # fmt: skip
    return rows
