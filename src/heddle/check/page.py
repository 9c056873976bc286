"""The report of a check: one HTML page, the verdict first, then what it rests on."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from heddle.check.checked import Checked
from heddle.check.deadlock import DEFAULT_SHARE
from heddle.check.findings import Finding, simulation_off, verdict
from heddle.check.next_step import next_steps
from heddle.check.policies import Tried
from heddle.check.since import Since
from heddle.check.unknown import Unknown, use_told_by
from heddle.model.resources import MEMORY_MB
from heddle.report.amounts import hours
from heddle.report.figures import change_figure
from heddle.report.gantt import delayed_figure
from heddle.report.page import page
from heddle.report.tables import Cell, sortable_table
from heddle.report.waste import ledger_table
from heddle.report.waste_figures import ledger_figures
from heddle.report.wording import LEAD, stalled, write_s
from heddle.report.wording import verdict as compared
from heddle.report.worse import worse_section

_BADGE = {"high": "worse", "medium": "worse", "low": "low"}


def check_html(
    checked: Checked,
    address: str,
    found: list[Finding],
    unknown: Sequence[Unknown],
    changes: Sequence[Since] | None,
    command: str,
) -> str:
    gathered = checked.gathered
    accounts = checked.accounts
    where = (
        f"Hadoop {gathered.manager.version}, {gathered.now.nodes:,} nodes, {gathered.present.policy} scheduler; "
        f"{accounts.applications:,} applications finished in the last {write_s(3600 * accounts.hours)}."
    )
    body = (
        f'<p class="quiet">{escape(where)}</p><p class="verdict">{escape(verdict(checked, found))}</p>'
        f'<div class="tiles">{_tiles(checked)}</div>'
        + _findings(found)
        + _since(changes)
        + _next(checked, address, command)
        + _policies(checked)
        + _waste(checked)
        + _waiting(checked)
        + _deadlock(checked)
        + _requests(checked)
        + _unknown(unknown)
        + _rests_on(checked)
        + f"<h2>How to reproduce this</h2><pre>{escape(command)}</pre>"
    )
    slots = 1 if checked.tried is None else len(checked.tried.comparison.policies)
    return page(f"Check of {address}", body, slots)


def _tiles(checked: Checked) -> str:
    accounts, tiles = checked.accounts, []
    if accounts.capacity_mb_h:
        share = accounts.reserved_mb_h / accounts.capacity_mb_h
        detail = (
            f"{accounts.reserved_mb_h / 1024:,.1f} of {accounts.capacity_mb_h / 1024:,.1f} GB-h, by "
            "YARN's own accounting"
        )
        tiles.append(("Memory reserved", f"{100 * share:.1f} %", detail))
    if checked.use is not None and checked.use.ratio is not None:
        idle = hours(checked.use.reserved - checked.use.used, MEMORY_MB)
        cost = "" if checked.price is None else f", {checked.price * idle:,.2f} at the given price"
        tiles.append(("Memory used of reserved", f"{100 * checked.use.ratio:.1f} %", f"{idle:,.1f} GB-h idle{cost}"))
    waiting = sum(one.applications for one in checked.gathered.now.waiting)
    tiles.append(("Applications waiting now", f"{waiting:,}", f"{checked.gathered.now.running:,} running"))
    if checked.tried is not None and not simulation_off(checked):
        said = compared(checked.tried.comparison, checked.tried.cluster)
        tiles.append((f"{said.headlines[0].title}, best policy", said.headlines[0].figure, said.headlines[0].detail))
    return "".join(
        f'<div class="tile"><span>{escape(title)}</span><b>{escape(figure)}</b><span>{escape(detail)}</span></div>'
        for title, figure, detail in tiles
    )


def _findings(found: Sequence[Finding]) -> str:
    if not found:
        return ""
    rows = "".join(
        f'<tr><th scope="row"><span class="{_BADGE[one.severity]}">{one.severity}</span></th>'
        f"<td>{escape(one.says)}{''.join(f'<small>Based on: {escape(why)}.</small>' for why in one.rests_on[:4])}"
        f"{_more(one)}</td></tr>"
        for one in found
    )
    return (
        '<h2>Findings</h2><div class="scroll" tabindex="0" role="region" aria-label="findings">'
        f'<table class="said findings"><tbody>{rows}</tbody></table></div>'
    )


def _more(one: Finding) -> str:
    left = len(one.rests_on) - 4
    return f"<small>And {left} more: see the assumptions below.</small>" if left > 0 else ""


def _since(changes: Sequence[Since] | None) -> str:
    if changes is None:
        return ""
    rows: list[list[Cell]] = [
        [
            Cell(one.key.replace("-", " "), one.key),
            Cell(one.change, one.change),
            _number(one.before),
            _number(one.now),
            Cell(one.says, one.says),
        ]
        for one in changes
    ]
    nothing = "<h2>Since the last check</h2><p>No findings, then or now.</p>"
    heads = ("Finding", "Since", "Was", "Is", "What")
    table = sortable_table("Better, worse, new, gone", heads, rows, "since the last check", "text")
    return f"<h2>Since the last check</h2>{table}" if rows else nothing


def _number(value: float | None) -> Cell:
    return Cell("–", "") if value is None else Cell(f"{value:,.3g}", value)


def _next(checked: Checked, address: str, command: str) -> str:
    steps = next_steps(checked, address, command)
    if not steps:
        return ""
    listed = "".join(f"<p>{escape(one.why)}:</p><pre>{escape(one.command)}</pre>" for one in steps)
    return f"<h2>What to do next</h2>{listed}"


def _policies(checked: Checked) -> str:
    tried = checked.tried
    if tried is None or checked.jobs is None:
        return ""
    said = compared(tried.comparison, tried.cluster)
    how = (
        "Simulated as heddle yarn steer would apply it to this YARN, by turning its knobs."
        if tried.by_knobs
        else "Simulated as if the policy were built into the scheduler; heddle yarn steer comes close to "
        "that by turning knobs."
    )
    if checked.simulated_s is not None:
        how += (
            f" Under the present policy these jobs take {write_s(checked.simulated_s)} on average in the simulation;"
            f" in reality they took {write_s(checked.jobs.mean_s)}."
        )
    cautions = "".join(f"<p><small>{escape(caution)}</small></p>" for caution in (how, *said.cautions))
    refused = "".join(f"<li>{escape(name)}: {escape(why)}</li>" for name, why in tried.refused.items())
    changes = "".join(change_figure(tried.comparison, tried.cluster, name) for name in (LEAD, "makespan_s"))
    return (
        f"<h2>What other policies would have changed</h2><p>{escape(said.sentence)}</p>"
        + f'<div class="figures">{changes}</div>'
        + _stalls(tried)
        + cautions
        + (f"<p>Not possible here:</p><ul>{refused}</ul>" if refused else "")
        + (worse_section(tried.comparison, tried.cluster, said.policy) if tried.best() is not None else "")
    )


def _stalls(tried: Tried) -> str:
    rows = [tried.comparison.row(tried.cluster, name, LEAD) for name in tried.comparison.policies]
    listed = "".join(f"<li>{escape(row['policy'])}: {escape(stalled(row))}</li>" for row in rows if stalled(row))
    return f'<ul class="worse">{listed}</ul>' if listed else ""


def _waste(checked: Checked) -> str:
    if checked.waste is None:
        return ""
    what = (
        "Observed while heddle watched."
        if checked.ledger_is_real
        else "From a simulation of these jobs under the present policy; heddle did not observe the past itself."
    )
    told = use_told_by(checked)
    return (
        f"<h2>Where the capacity went</h2><p>{what} {told[0].upper()}{escape(told[1:])}.</p>"
        f'<div class="figures">{ledger_figures({"": checked.waste.over_time})}</div>'
        + ledger_table(checked.waste.ledger, checked.price)
    )


def _waiting(checked: Checked) -> str:
    now: list[list[Cell]] = [
        [
            Cell(one.queue, one.queue),
            Cell("to start" if one.to_start else "for more", str(one.to_start)),
            Cell(f"{one.applications:,}", float(one.applications)),
            Cell(f"{one.wanted_mb / 1024:,.1f}", float(one.wanted_mb)),
            Cell(write_s(one.longest_s), one.longest_s),
            Cell(one.why, one.why),
        ]
        for one in checked.gathered.now.waiting
    ]
    past: list[list[Cell]] = [
        [
            Cell(queue, queue),
            Cell(f"{count:,}", float(count)),
            Cell(write_s(middle), middle),
            Cell(write_s(late), late),
        ]
        for queue, (count, middle, late) in checked.accounts.am_wait_by_queue_s.items()
    ]
    heads = ("Queue", "Wait", "Applications", "Requested (GB)", "Longest since submission", "Because")
    tried = checked.tried
    lives = "" if tried is None else delayed_figure(tried.comparison, tried.cluster, tried.comparison.baseline)
    return (
        "<h2>Who waits, and why</h2>"
        + ("" if now else "<p>Nothing is waiting at the moment.</p>")
        + sortable_table("Now", heads, now, "who waits now", "text")
        + sortable_table(
            "How long finished applications waited for their application master",
            ("Queue", "Applications", "Median", "95th percentile"),
            past,
            "waits for application masters",
        )
        + (f'<div class="figures">{lives}</div>' if lives else "")
    )


def _deadlock(checked: Checked) -> str:
    risk = checked.risk
    if risk is None:
        return ""
    if risk.possible:
        outcome = (
            f"In a simulation with today's settings, {risk.tried:,} of these jobs submitted at once "
            f"deadlocked: {risk.stalled}."
            if risk.stalled
            else f"In a simulation, {risk.tried:,} of these jobs submitted at once all finished."
            if risk.tried
            else "That many at once are too many to simulate here."
        )
        said = f"Possible: {risk.jobs:,} application masters of {risk.am_mb:,} MB fill every node. {outcome}"
    else:
        said = (
            f"Not at the sizes seen: application masters may hold at most {100 * min(1.0, risk.share):.0f} % of the "
            f"memory ({risk.jobs:,} of {risk.am_mb:,} MB each), and tasks fit beside them."
        )
    share = DEFAULT_SHARE[checked.gathered.present.policy] // 10
    assumed = f" The AM share of {', '.join(risk.assumed)} is assumed to be {share} %." if risk.assumed else ""
    return f"<h2>Can application masters deadlock?</h2><p>{escape(said + assumed)}</p>"


def _requests(checked: Checked) -> str:
    rows: list[list[Cell]] = [
        [
            Cell(one.kind, one.kind),
            Cell(f"{one.tasks:,}", float(one.tasks)),
            Cell(f"{one.reserved_mb:,}", float(one.reserved_mb)),
            Cell(f"{one.request_mb:,}", float(one.request_mb)),
            Cell(f"{hours(one.saved, MEMORY_MB):,.2f}", hours(one.saved, MEMORY_MB)),
            Cell(f"{one.missed} of {one.predicted}", one.risk_high),
        ]
        for one in checked.advice
        if one.saved > 0
    ]
    heads = ("Kind of task", "Tasks", "Requested (MB)", "Enough (MB)", "Saved (GB-h)", "Would have failed")
    rule = f"The {checked.rule.percentile:g}th percentile of past peaks + {100 * checked.rule.head_room:g} %."
    none = "No recurring kind of task with known use requests too much." if not rows else rule
    left = f" No advice on {checked.no_advice:,} tasks: they recur too rarely, or their use is unknown."
    return f"<h2>Requests that are too large</h2><p>{none}{left if checked.no_advice else ''}</p>" + sortable_table(
        "By kind of task", heads, rows, "requests that are too large"
    )


def _unknown(unknown: Sequence[Unknown]) -> str:
    rows: list[list[Cell]] = [[Cell(one.what, one.what), Cell(one.tells, one.tells)] for one in unknown]
    heads = ("What", "What would reveal it")
    table = sortable_table("Each with the setting or option that would reveal it", heads, rows, "gaps", "text said")
    return f"<h2>What heddle could not find out</h2>{table}" if rows else ""


def _rests_on(checked: Checked) -> str:
    jobs, gathered = checked.jobs, checked.gathered
    facts = []
    if gathered.mapreduce:
        facts.append(
            f"{len(gathered.sample):,} of {gathered.mapreduce:,} MapReduce jobs were read in detail, chosen at random."
        )
    if gathered.spark:
        facts.append(f"{gathered.spark_read:,} of {gathered.spark:,} Spark applications were read in detail.")
    if jobs is not None:
        facts += [f"{count:,} jobs are known {how}." for how, count in jobs.known.items()]
    facts += [f"{count:,} jobs are left out: {why}." for why, count in checked.left_out.items()]
    rows: list[list[Cell]] = [
        [Cell(text, text) for text in (one.setting, one.value, one.why)] for one in gathered.present.assumed
    ]
    listed = "".join(f"<li>{escape(fact)}</li>" for fact in facts)
    return f"<h2>Assumptions and sources</h2><ul>{listed}</ul>" + sortable_table(
        "Settings assumed or not modelled", ("Setting", "Value", "Why"), rows, "settings", "text"
    )
