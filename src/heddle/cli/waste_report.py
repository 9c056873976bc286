"""The report on waste that `heddle efficiency` and `heddle ledger` write."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from heddle.cli.output import say
from heddle.cli.records import recorded_run

if TYPE_CHECKING:
    from heddle.analysis.waste.efficiency import Containers
    from heddle.analysis.waste.run_waste import Waste
    from heddle.record.run import Run


def record_at(source: str) -> Run | None:
    """The record in this folder; None if it is something else."""
    from heddle.record.files import is_record_or_partial

    return recorded_run(Path(source)) if is_record_or_partial(Path(source)) else None


def write_waste_report(
    report: Path, source: str, run: Run | None, waste: Waste | None, containers: Containers, by: str
) -> None:
    """Everything that this trace or record tells about waste, as one page; `waste` of a record that tells it."""
    from heddle.analysis.waste.run_waste import efficiencies
    from heddle.cli.rerun import named_inputs
    from heddle.report.page import write_page
    from heddle.report.waste import WasteReport, waste_html
    from heddle.traces.imports.store import account_beside

    workload = source if run is None else named_inputs(run.manifest["started_by"]).get("workload")
    text = waste_html(
        WasteReport(
            name=source if run is None else f"{run.manifest['workload']['name']} under {run.manifest['policy']}",
            by=by,
            efficiency=efficiencies(containers, by),
            waste=waste,
            account=None if workload is None else account_beside(Path(workload)),
            command=shlex.join(["heddle", *sys.argv[1:]]),
        )
    )
    write_page(report, text)
    say(f"wrote {report}")
