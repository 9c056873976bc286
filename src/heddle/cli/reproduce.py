"""`heddle reproduce`: the papers' experiments, run again, with a verdict on every claim."""

from __future__ import annotations

import shlex
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from heddle.cli.ablation import run_ablation
from heddle.cli.engines import On, engine_on
from heddle.cli.inputs import compile_with_message
from heddle.cli.output import Json, print_json, print_tables, say, table
from heddle.cli.progress import run_with_progress
from heddle.model.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.table import Table

    from heddle.reproduce.claims import Reproduction

ALL: Final = "all"
WEAVE: Final = "weave"
TRACES: Final = Path("../shared/traces")  # beside a checkout, where the project keeps them


def reproduce(
    paper: Annotated[
        str,
        typer.Argument(
            metavar="PAPER",
            help="usage-feedback, haste, admission-control, network-aware, dress, or all of them; or weave.",
        ),
    ],
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer seeds and smaller workloads: minutes, with wider intervals.")
    ] = False,
    report: Annotated[Path | None, typer.Option(help="Write an HTML report with the figures to this file.")] = None,
    markdown: Annotated[
        Path | None, typer.Option(help="Write PAPER-claims.md and its figures to this folder.", metavar="DIR")
    ] = None,
    traces: Annotated[
        Path | None, typer.Option(help=f"Folder of recorded traces [default: {TRACES}, if it exists].")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="With weave: keep the runs here; the same command then continues with them."
        ),
    ] = None,
    on: On = "local",
    json: Json = False,
) -> None:
    """Rerun a paper's experiments and report which of its claims hold.

    Builds the paper's cluster and workload, runs every policy that it compares, and judges each claim by the rule of
    its kind: `reproduced`, `direction` (the effect is there, but not its size), `not reproduced`, or `not judged` where
    nothing said beforehand what should come out. The paper's claims are counted apart from ours. Constants have a
    hash; two tables with the same hash rest on the same ones. Exit code 0 whatever the verdicts.

    `weave` is no paper: it runs all 128 combinations of the papers' parts on ten workloads and says what each part is
    worth beside the others.

    \b
    Examples:
      heddle reproduce usage-feedback --quick
      heddle reproduce all --quick --report papers.html
      heddle reproduce usage-feedback --json > claims.json
      heddle reproduce weave -o runs --markdown docs
    """
    from heddle.policy.parse import parse_policy
    from heddle.report.page import write_page
    from heddle.reproduce.claims import headline
    from heddle.reproduce.lab import Lab
    from heddle.reproduce.markdown import write_markdown
    from heddle.reproduce.page import reproductions_html
    from heddle.reproduce.papers import PAPERS
    from heddle.reproduce.papers import reproduce as carry_out

    if paper not in (*PAPERS, ALL, WEAVE):
        raise BadInput.of("PAPER", f"{paper} is unknown; choose from {', '.join(PAPERS)}, {ALL}, or {WEAVE}")
    if traces is not None and not traces.is_dir():
        raise BadInput.of("--traces", f"there is no folder {traces}")
    if paper == WEAVE:
        if report is not None:
            raise BadInput.of("--report", f"{WEAVE} has a page in Markdown only: --markdown DIR")
        run_ablation(quick, traces or TRACES, markdown, output, engine_on(on), json)
        return
    if output is not None:
        raise BadInput.of("--output", f"only the runs of {WEAVE} are kept")
    compile_with_message([parse_policy("fifo+usage-feedback")], 2)
    compute = partial(run_with_progress, engine_on(on))
    done: list[Reproduction] = []
    for one in PAPERS.values() if paper == ALL else [PAPERS[paper]]:
        with tempfile.TemporaryDirectory(prefix="heddle-reproduce-") as scratch:
            found = traces or (TRACES if TRACES.is_dir() else None)
            done.append(carry_out(one, Lab(compute, Path(scratch), quick, found)))
        say(f"{one.name} ({done[-1].wall_s:.0f} s). {headline(done[-1].claims)}")
        for remark in done[-1].remarks:
            say(remark)
    if report is not None:
        write_page(report, reproductions_html(done, shlex.join(["heddle", *sys.argv[1:]])))
        say(f"wrote {report}")
    if markdown is not None:
        for result in done:
            say(f"wrote {write_markdown(markdown, result)[0]} and its figures")
    if json:
        print_json({"papers": [result.as_json() for result in done]})
        return
    for result in done:
        print_tables(_claims_tables(result))


def _claims_tables(result: Reproduction) -> Iterator[Table]:
    """The paper's claims, then ours: four columns, because claims are sentences."""
    from heddle.reproduce.page import interval_text, measured_text

    for source, whose in (("paper", "the paper's claims"), ("ours", "claims of ours")):
        rows = []
        for claim in result.claims:
            interval = interval_text(claim)
            measured = measured_text(claim) + (f" ({interval})" if interval else "")
            says = f"{claim.statement}: {claim.paper}" if source == "paper" and claim.paper else claim.statement
            if claim.source == source:
                rows.append((claim.id, says, measured, claim.verdict))
        if rows:
            title = f"{result.title}: {whose}; constants {result.constants_hash}"
            yield table(("", "claim", "measured (95 % interval)", "verdict"), rows, title=title)
