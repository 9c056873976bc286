"""`heddle explain`: why did this job wait?"""

from __future__ import annotations

import shlex
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heddle.cli.inputs import compile_with_message
from heddle.cli.output import Json, print_json, print_tables, say, table
from heddle.cli.rerun import inputs_of
from heddle.model.errors import BadInput

if TYPE_CHECKING:
    from rich.table import Table

    from heddle.analysis.explain import Explained, Span
    from heddle.record.run import Run

_LISTED = 10  # jobs, where none is named
_SPANS = 14  # the longest are shown in words; --json has all


def explain(
    record: Annotated[Path, typer.Argument(metavar="RECORD", help="What `heddle simulate --record` wrote.")],
    job: Annotated[
        str | None, typer.Argument(metavar="[JOB]", help="Name or number [default: lists the most delayed jobs].")
    ] = None,
    versus: Annotated[
        str | None, typer.Option(help="Simulate again under this policy, and say what would be different.")
    ] = None,
    workload: Annotated[
        str | None, typer.Option(help="With --versus: where the record's workload is, if it has moved.")
    ] = None,
    cluster: Annotated[
        str | None, typer.Option("--cluster", "-c", help="With --versus: the record's cluster, if it has moved.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write all spans of the job into this HTML file; needs a JOB.")
    ] = None,
    json: Json = False,
) -> None:
    """Explain why a job took as long as it did.

    Its life is cut into spans: waiting (with the reason that the scheduler logged), partly waiting, starting, running.
    The longest are told in words with what stood in the way; --json has all of them.

    \b
    Examples:
      heddle simulate mix --policy capacity --record my-run
      heddle explain my-run
      heddle explain my-run spark-29
      heddle explain my-run spark-29 --versus drf --report spark-29.html
    """
    from heddle.analysis.explain import explain as explain_job
    from heddle.analysis.explain import find_job, most_delayed
    from heddle.analysis.explain_detail import detail
    from heddle.record.files import read_record
    from heddle.report.explained import explained_html
    from heddle.report.page import write_page

    run = read_record(record)
    if job is None:
        if report is not None or versus is not None:
            raise BadInput.of("JOB", "name the job that --report and --versus are about")
        _list([explain_job(run, one) for one in most_delayed(run, _LISTED)], json)
        return
    explained = explain_job(run, find_job(run, job))
    other_run = None if versus is None else _again(run, versus, workload, cluster)
    other = None if other_run is None else explain_job(other_run, explained.job)
    if report is not None:
        lives = [explained] if other is None else [explained, other]
        command = shlex.join(["heddle", *sys.argv[1:]])
        write_page(report, explained_html(lives, partial(detail, run, explained), command))
        say(f"wrote {report}")
    if json:
        print_json(explained.as_json() | ({} if other is None else {"versus": other.as_json()}))
        return
    print_tables([_spans_table(run, explained)])
    _print_lost(explained)
    print_tables([_causes_table(explained, other)])
    if other is not None:
        print(_difference(explained, other))


def _again(run: Run, policy: str, workload: str | None, cluster: str | None) -> Run:
    """The same jobs, cluster and seed under another policy."""
    from heddle.policy.parse import parse_policy
    from heddle.run import simulate

    chosen = parse_policy(policy)
    loaded, on = inputs_of(run, workload, cluster)
    compile_with_message([chosen], len(on.resources))
    return simulate(loaded, on, chosen, seed=run.manifest["seed"], record=True, executor=run.manifest["executor"])


def _list(lives: list[Explained], json: bool) -> None:
    if json:
        print_json({"jobs": [life.as_json() for life in lives]})
        return
    rows = [
        (life.name, life.queue, life.user, _s(life.taken_ms), _s(life.alone_ms), life.main_wait or "never waited")
        for life in lives
    ]
    headings = ("job", "queue", "user", "took", "alone", "most of its wait")
    print_tables([table(headings, rows, title="the most delayed jobs; name one to see why")])


def _spans_table(run: Run, life: Explained) -> Table:
    from heddle.analysis.explain_detail import detail

    longest = sorted(sorted(life.spans, key=lambda span: -span.length_ms)[:_SPANS], key=lambda span: span.from_ms)
    rows = []
    for span in longest:
        more = detail(run, life, span)
        what = span.cause + (f" ({_who_waits(life, span)})" if span.waiting else "")
        begin = span.from_ms - life.submit_at_ms
        rows.append((_s(begin), _s(span.length_ms), what + (f"\n  {more}" if more else "")))
    left_out = len(life.spans) - len(longest)
    ended = {"finished": "finished", "failed": "failed", "unfinished": "had not finished"}[life.outcome]
    title = (
        f"{life.name} (queue {life.queue}, user {life.user}) under {life.policy}: {ended} {_s(life.taken_ms)} after "
        f"its submission; alone on the cluster it would take {_s(life.alone_ms)} at least"
    )
    headings = (
        "after",
        "for",
        "what happened" + (f" (the {left_out} shortest spans are left out)" if left_out else ""),
    )
    return table(headings, rows, title=title)


def _who_waits(life: Explained, span: Span) -> str:
    asked = f", asked for after {_s(span.asked_at_ms - life.submit_at_ms)}" if span.asked_at_ms >= 0 else ""
    return f"{span.running} running, {span.waiting} waiting; stage {life.stage_names[span.stage]}{asked}"


def _print_lost(life: Explained) -> None:
    for outcome, (count, run_ms) in life.lost.items():
        attempts = f"{count} attempt{'s' if count > 1 else ''}"
        print(f"lost: {attempts} ended as {outcome.replace('_', ' ')} after {_s(run_ms)} of running; they ran again")


def _causes_table(life: Explained, other: Explained | None) -> Table:
    causes = dict.fromkeys([*life.causes_ms, *(other.causes_ms if other else ())])
    headings = ["where the time went", life.policy]
    rows = [[cause, _s(life.causes_ms.get(cause, 0))] for cause in causes]
    rows.append(["all", _s(life.taken_ms)])
    if other is not None:
        headings.append(other.policy)
        for cause, row in zip(causes, rows, strict=False):
            row.append(_s(other.causes_ms.get(cause, 0)))
        rows[-1].append(_s(other.taken_ms))
    return table(headings, rows)


def _difference(life: Explained, other: Explained) -> str:
    if other.outcome != life.outcome:
        return f"Under {other.policy} the job ends as {other.outcome}, not {life.outcome}."
    change = other.taken_ms - life.taken_ms
    if change == 0:
        return f"Under {other.policy} it takes exactly as long."
    causes = dict.fromkeys([*life.causes_ms, *other.causes_ms])
    moves = {cause: other.causes_ms.get(cause, 0) - life.causes_ms.get(cause, 0) for cause in causes}
    most = min(moves, key=lambda cause: moves[cause]) if change < 0 else max(moves, key=lambda cause: moves[cause])
    word = "sooner" if change < 0 else "later"
    return f"Under {other.policy} it is done {_s(abs(change))} {word}; most of it: {_s(abs(moves[most]))} of “{most}”."


def _s(ms: int) -> str:
    return f"{ms / 1000:,.1f} s"
