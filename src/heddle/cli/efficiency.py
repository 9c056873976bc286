"""`heddle efficiency`: how much of what was reserved was used, and who wasted most."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from heddle.cli.inputs import workload_for
from heddle.cli.output import Json, print_json, print_tables, say, table
from heddle.cli.waste_report import record_at, write_waste_report
from heddle.model.errors import BadInput
from heddle.report.amounts import hours, hours_unit, in_hours

if TYPE_CHECKING:
    from rich.table import Table

    from heddle.analysis.waste.efficiency import Containers, Efficiency, Received
    from heddle.record.run import Run


def efficiency(
    source: Annotated[
        str, typer.Argument(metavar="OUT", help="A workload (imported trace, built-in name, CSV) or a record's folder.")
    ],
    by: Annotated[Literal["container", "job", "user", "queue", "node"], typer.Option(help="What to group by.")] = "job",
    top: Annotated[int, typer.Option(help="Number of largest wasters to show.", min=0, max=1000)] = 10,
    report: Annotated[Path | None, typer.Option(help="Write an HTML report to this file.")] = None,
    json: Json = False,
) -> None:
    """Show how much of what was reserved was used: sums over time, not means of ratios.

    Containers without recorded use are counted and shown, never assumed empty or full. The report has the
    distributions, everybody who wasted, what the import set aside and, of a record, where the capacity went.

    \b
    Examples:
      heddle efficiency trace.parquet
      heddle efficiency run/ --by node --json
      heddle efficiency trace.parquet --by user --top 20
      heddle efficiency run/ --report waste.html
    """
    from heddle.analysis.waste.efficiency import document, received
    from heddle.analysis.waste.efficiency import efficiency as compute
    from heddle.analysis.waste.run_waste import run_waste

    run = record_at(source)
    containers = _containers(source, run)
    if by == "node" and not containers.has_nodes:
        raise BadInput.of("--by", "a trace does not say where its tasks ran; a record (`simulate --record`) does")
    found = compute(containers, by)
    if report is not None:
        told = run is not None and run.manifest["complete_attempts"] and run.has_events
        waste = run_waste(run) if run is not None and told else None
        write_waste_report(report, source, run, waste, containers, by)
    network = received(containers, by)
    if json:
        print_json(document(found, network, by))
        return
    for one in found:
        print_tables([_summary(one, by), *([_wasters(one, by, top)] if top and one.groups.height else [])])
        if one.unrecorded_containers:
            reserved = in_hours(one.unrecorded_reserved, one.resource)
            say(f"{one.unrecorded_containers} containers ({reserved}) have no recorded use and are not included here")
    if top and network.containers:
        print_tables([_receivers(network, by, top)])


def _containers(source: str, run: Run | None) -> Containers:
    from heddle.analysis.waste.efficiency import containers_of_run, containers_of_workload

    return containers_of_workload(workload_for(source)) if run is None else containers_of_run(run)


def _summary(one: Efficiency, by: str) -> Table:
    from heddle.model.resources import display_name

    name = display_name(one.resource)
    if one.ratio is None:
        return table(("", ""), [("use", "not recorded for any container: `heddle yarn track` measures it")], title=name)
    rows = [
        ("reserved", in_hours(one.reserved, one.resource)),
        ("used", f"{in_hours(one.used, one.resource)} ({100 * one.ratio:.1f} %)"),
    ]
    if one.count > 1:
        rows += [
            (f"{100 * q:.0f} % of {one.count} {by}s", f"below {100 * value:.1f} %")
            for q, value in one.quantiles.items()
        ]
    return table(("", ""), rows, title=f"{name}: used of what was reserved")


def _wasters(one: Efficiency, by: str, top: int) -> Table:
    rows = [
        (
            str(row["group"]),
            f"{row['containers']:,}",
            *(f"{hours(row[column], one.resource):,.2f}" for column in ("reserved", "used", "wasted")),
            f"{100 * row['efficiency']:.1f}",
        )
        for row in one.groups.head(top).to_dicts()
    ]
    headings = (by, "containers", "reserved", "used", "wasted", "used (%)")
    return table(headings, rows, title=f"most wasted, in {hours_unit(one.resource)}")


def _receivers(network: Received, by: str, top: int) -> Table:
    rows = [
        (str(row["group"]), f"{row['containers']:,}", f"{row['received_bytes'] / 1e9:,.3f}")
        for row in network.groups.head(top).to_dicts()
    ]
    rows.append(("all", f"{network.containers:,}", f"{network.total_bytes / 1e9:,.3f}"))
    return table((by, "containers", "GB"), rows, title="received from other nodes")
