"""`heddle ledger`: where every GB-hour and vcore-hour of a run went."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heddle.cli.output import DONE, FAILED, Json, print_json, print_tables, say, say_wrapped, table
from heddle.cli.records import recorded_run
from heddle.cli.waste_report import write_waste_report
from heddle.report.amounts import hours, hours_unit

if TYPE_CHECKING:
    from rich.table import Table

    from heddle.analysis.waste.ledger import Ledger
    from heddle.analysis.waste.yarn_accounts import YarnAccounts

MOST_JOBS = 20  # that are listed one by one


def ledger(
    record: Annotated[Path, typer.Argument(metavar="RECORD", help="A folder that `--record` wrote.")],
    report: Annotated[Path | None, typer.Option(help="Write an HTML report to this file.")] = None,
    json: Json = False,
) -> int:
    """Split every GB-hour and vcore-hour of a recorded run into what was used and what was lost, and why.

    The lines add up to the capacity of all nodes over the time of the run, to the last MB-millisecond; exit code 1
    would mean that they do not. A line marked * rests on a cause that is inferred, not recorded.

    \b
    Examples:
      heddle simulate mix --policy capacity --record run && heddle ledger run
      heddle ledger run --report waste.html
      heddle ledger run --json
    """
    from heddle.analysis.waste.efficiency import containers_of_run
    from heddle.analysis.waste.ledger import waste_ledger
    from heddle.analysis.waste.run_waste import run_waste

    run = recorded_run(record)
    waste = None if report is None else run_waste(run)
    found = waste_ledger(run) if waste is None else waste.ledger
    if report is not None:
        write_waste_report(report, str(record), run, waste, containers_of_run(run), "job")
    sums = [sum(line.amounts[r] for line in found.lines) for r in range(len(found.resources))]
    if json:
        print_json(found.document())
    else:
        print_tables([_table(found)])
        if (moved := run.manifest["totals"]["moved_bytes"]) is not None:
            say(f"containers received {moved / 1e9:,.3f} GB from other nodes")
        if any(line.inferred and any(line.amounts) for line in found.lines):
            say_wrapped(
                "* inferred: the record does not say which stages hold containers early; those named map "
                "and reduce are "
                "assumed to"
            )
        if found.yarn is not None:
            print_tables([_against_yarn(found.yarn)])
            if found.yarn.unseen:
                say(
                    f"containers of {found.yarn.unseen} were not observed: the lines above count what they held as free"
                )
    if sums != list(found.total):
        say(f"check failed: the lines add up to {sums}, not to {list(found.total)}")
        return FAILED
    return DONE


def _table(found: Ledger) -> Table:
    """Lines with something in them, in hours of each resource and per cent of the capacity."""
    from heddle.model.resources import display_name
    from heddle.report.wording import write_s

    headings = ["where it went"]
    for name in found.resources:
        headings += [hours_unit(name), f"% of {display_name(name)}"]
    rows = [
        _row(line.what + ("*" if line.inferred else ""), line.amounts, found)
        for line in found.lines
        if any(line.amounts)
    ]
    rows.append(_row("all", found.total, found))
    rows += [_row(f"(beside it: {memo.what})", memo.amounts, found) for memo in found.memos if any(memo.amounts)]
    return table(headings, rows, title=f"capacity over {write_s((found.end_ms - found.begin_ms) / 1000)}")


def _against_yarn(accounts: YarnAccounts) -> Table:
    """What YARN itself counted, in records of a real one: of each application, the furthest off first."""
    from heddle.analysis.waste.yarn_accounts import off_by
    from heddle.model.resources import display_name

    headings = ["application"]
    for name in accounts.resources:
        headings += [f"{display_name(name)}: {hours_unit(name)} here", "by YARN", "off"]
    jobs = sorted(
        (one for one in accounts.jobs if any(map(any, one.amounts))), key=lambda one: one.furthest_off, reverse=True
    )
    shown = [(one.name, one.amounts) for one in jobs[:MOST_JOBS]]
    if len(jobs) > MOST_JOBS:
        shown.append((f"... {len(jobs) - MOST_JOBS} more, nearer", ()))
    rows = []
    for title, amounts in [*shown, ("all", accounts.total)]:
        cells = [title]
        for name, pair in zip(accounts.resources, amounts, strict=False):
            off = off_by(pair)
            cells += [*(f"{hours(amount, name):,.4f}" for amount in pair), "" if off is None else f"{100 * off:+.2f} %"]
        rows.append(cells + [""] * (len(headings) - len(cells)))
    return table(headings, rows, title="against YARN's own memorySeconds and vcoreSeconds")


def _row(what: str, amounts: tuple[int, ...], found: Ledger) -> list[str]:
    cells = [what]
    for r, name in enumerate(found.resources):
        cells += [
            f"{hours(amounts[r], name):,.2f}",
            f"{100 * amounts[r] / found.total[r]:.1f}" if found.total[r] else "",
        ]
    return cells
