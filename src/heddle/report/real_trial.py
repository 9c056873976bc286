"""The HTML report of a trial on a real YARN: what each policy took, what changed, and for whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np

from heddle.analysis.comparison.real_trial import Floats, JobShown, PolicyShown, Spread
from heddle.report.charts import Axis, Bar, Line, bar_chart, figure, line_chart, nice_step, nice_top, stairs
from heddle.report.page import page
from heddle.report.wording import covers_zero, range_pct, signed_pct, write_s

Curve = tuple[Floats, Floats]


def trial_html(
    about: str, rounds: int, policies: Sequence[PolicyShown], jobs: Sequence[JobShown],
    running: Mapping[str, Curve], command: str,
) -> str:  # fmt: skip
    """The text of the report. `running`: containers over time in one round, by policy."""
    slots = {one.policy: slot for slot, one in enumerate(policies)}
    figures = "".join(
        _change_figure(what, [(one.policy, getattr(one, field)) for one in policies[1:]], slots)
        for what, field in (("Makespan", "makespan_change_pct"), ("Mean completion time", "jct_change_pct"))
    )
    times = f"{rounds} round{'s' * (rounds > 1)}"
    body = (
        f'<p class="quiet">Real containers on a real YARN: {escape(about)}; {times}; each policy'
        " ran once in every one, in alternating order.</p>"
        f'<p class="verdict">{escape(" ".join(_sentence(one, policies[0].policy) for one in policies[1:]))}</p>'
        f"{_policies_table(policies)}"
        f'<h2>Against {escape(policies[0].policy)}</h2><div class="figures">{figures}{_running_figure(running, slots)}'
        f"</div>{_jobs_table(jobs, list(slots))}"
        f"<h2>How to reproduce this</h2><pre>{escape(command)}</pre>"
    )
    return page(f"{len(policies)} policies on a real YARN", body, len(policies))


def _sentence(one: PolicyShown, baseline: str) -> str:
    change = one.makespan_change_pct
    stuck = f" {one.stuck_jobs} of {one.jobs} jobs got stuck." if one.stuck_jobs else ""
    if change is None:
        return f"{one.policy} cannot be compared yet.{stuck}"
    spread = f" ({range_pct(change.ci95)})" if change.ci95 is not None else ""
    unsure = change.ci95 is None or covers_zero(change.ci95)
    shown = ", which these rounds cannot distinguish from no change" if unsure else ""
    return f"{one.policy} changed the makespan by {signed_pct(change.mean)}{spread} against {baseline}{shown}.{stuck}"


def _policies_table(policies: Sequence[PolicyShown]) -> str:
    links = any(one.moved_mb for one in policies)  # of their own, between nodes; elsewhere nothing is known of it
    heads = (
        "Policy", "Makespan", "Mean completion", "Failed jobs", "Stuck jobs", "Peak use of a node",
        *(("Moved between nodes", "CPU use") if links else ()),
    )  # fmt: skip
    rows = []
    for one in policies:
        name = escape(one.policy, quote=True)
        rows.append(
            f'<tr><th scope="row" data-v="{name}">{name}</th>{_time_cell(one.makespan_s)}{_time_cell(one.jct_mean_s)}'
            f'<td data-v="{one.failed_jobs}">{one.failed_jobs}</td><td data-v="{one.stuck_jobs}">{one.stuck_jobs}</td>'
            f'<td data-v="{one.peak_used_share!r}">{100 * one.peak_used_share:.0f} %</td>'
            f"{_links_cells(one) if links else ''}</tr>"
        )
    note = (
        "± half of the 95 % interval over rounds. Peak use: the most memory that containers really held, of what the "
        "node may promise by itself. Jobs that got stuck count as if they had ended when the run was given up."
    )
    return f"{_sortable(heads, rows, 'policies')}<p><small>{note}</small></p>"


def _links_cells(one: PolicyShown) -> str:
    moved, cpu = one.moved_mb, one.cpu_share
    shown = "<td></td>" if moved is None else f'<td data-v="{moved.mean!r}">{moved.mean:.0f} MB</td>'
    return shown + ("<td></td>" if cpu is None else f'<td data-v="{cpu.mean!r}">{100 * cpu.mean:.2f} %</td>')


def _time_cell(value: Spread) -> str:
    half = "" if value.ci95 is None else f" <span>± {(value.ci95[1] - value.ci95[0]) / 2:.1f}</span>"
    return f'<td data-v="{value.mean!r}">{value.mean:.1f} s{half}</td>'


def _change_figure(what: str, changes: Sequence[tuple[str, Spread | None]], slots: Mapping[str, int]) -> str:
    bars = [Bar(name, slots[name], one.mean, one.ci95, signed_pct(one.mean)) for name, one in changes if one]
    if not bars:
        return ""
    bounds = [bound for bar in bars for bound in (0.0, bar.value, *(bar.interval or ()))]
    step = nice_step(max(1.0, (max(bounds) - min(bounds)) / 5))
    low = float(max(-100.0, step * np.floor(min(bounds) / step)))
    high = max(low + step, float(step * np.ceil(max(bounds) / step)))
    axis = Axis(f"change of {what.lower()} (%)", low, high)
    caption = "Per round against the first policy; bar: the mean, whisker: its 95 % interval. Less is better."
    return figure(what, bar_chart(what, axis, bars), caption)


def _running_figure(running: Mapping[str, Curve], slots: Mapping[str, int]) -> str:
    if not running:
        return ""
    lines = []
    for policy, (at_s, count) in running.items():
        x, y = stairs(np.append(at_s, at_s[-1]), count)
        lines.append(Line(policy, slots[policy], x, y))
    top = nice_top(max(float(count.max()) for _, count in running.values()))
    end_s = max(float(at_s[-1]) for at_s, _ in running.values())
    key = "".join(f'<span class="s{slots[policy]}"><i></i>{escape(policy)}</span>' for policy in running)
    title = "Containers running"
    chart = line_chart(title, Axis("time (s)", 0.0, max(1.0, end_s)), Axis("containers (1)", 0.0, top), lines)
    return figure(title, f'<p class="key">{key}</p>{chart}', "In the last round, application masters included.")


def _jobs_table(jobs: Sequence[JobShown], policies: Sequence[str]) -> str:
    rows = []
    for job in jobs:
        name = escape(job.name, quote=True)
        cells = [f'<tr><th scope="row" data-v="{name}">{name}</th>']
        first = job.jct_s.get(policies[0])
        for policy in policies:
            jct_s = job.jct_s.get(policy)
            if jct_s is None:
                cells.append('<td data-v="">–</td>')
                continue
            change = signed_pct(100 * (jct_s / first - 1)) if first and policy != policies[0] else ""
            cells.append(f'<td data-v="{jct_s!r}">{write_s(jct_s)}<small>{change}</small></td>')
        rows.append("".join(cells) + "</tr>")
    table = _sortable(("Job", *policies), rows, "jobs")
    return f"<h2>Every job</h2>{table}<p><small>Mean completion time over rounds.</small></p>"


def _sortable(heads: Sequence[str], rows: Sequence[str], about: str) -> str:
    head = "".join(f'<th scope="col"><button>{escape(text)}</button></th>' for text in heads)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{about}"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )
