"""`heddle explain`: why did this job wait?"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heddle.cli.output import Json, print_json, print_line, print_tables, say, table
from heddle.cli.records import recorded_run
from heddle.cli.rerun import simulated_again
from heddle.model.errors import BadInput
from heddle.model.visible_text import visible

if TYPE_CHECKING:
    from rich.table import Table

    from heddle.analysis.comparison.changes import Changes
    from heddle.analysis.waiting.explain import Explained, Span
    from heddle.record.run import Run

_LISTED = 10  # jobs, where none is named
_SPANS = 14  # the longest are shown in words; --json has all


def explain(
    record: Annotated[
        Path, typer.Argument(metavar="RECORD", help="What `heddle simulate --record` or `heddle yarn observe` wrote.")
    ],
    job: Annotated[
        str | None,
        typer.Argument(metavar="[JOB]", help="Name or number of a job [default: list the most delayed jobs]."),
    ] = None,
    versus: Annotated[
        str | None, typer.Option(help="Simulate again under this policy, and show the difference.")
    ] = None,
    workload: Annotated[
        str | None, typer.Option(help="With --versus: where the record's workload is, if it has moved.")
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            "--cluster", "-c", help="With --versus: the record's cluster, if it has moved; of a real one, its queues."
        ),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write all spans of the job to this HTML file; needs JOB.")
    ] = None,
    json: Json = False,
) -> None:
    """Explain why a job took as long as it did.

    Its life is cut into spans: waiting (with the reason that the scheduler logged), partly waiting, starting, running.
    The longest are told in words with what stood in the way; --json has all of them. With --versus and no job: what
    would have changed for every one. A record of a real YARN is then simulated as it was, and with the policy turning
    the knobs that YARN has: what a controller in shadow mode would have brought about.

    \b
    Examples:
      heddle simulate mix --policy capacity --record my-run
      heddle explain my-run
      heddle explain my-run spark-29
      heddle explain my-run spark-29 --versus drf --report spark-29.html
      heddle explain monday/record --versus usage-feedback
    """
    from heddle.analysis.comparison.changes import changes
    from heddle.analysis.waiting.detail import detail
    from heddle.analysis.waiting.explain import explain as explain_job
    from heddle.analysis.waiting.explain import find_job, most_delayed
    from heddle.report.explained import explained_html
    from heddle.report.page import write_page

    run = recorded_run(record)
    if run.jobs.is_empty():
        raise BadInput.of(str(record), "no job was seen while it was recorded: there is nothing to explain")
    if job is None and report is not None:
        raise BadInput.of("JOB", "--report needs a job: name one")
    again = [] if versus is None else simulated_again(record, run, versus, workload, cluster)
    if job is None:
        if again:
            _print_changes(changes(run, again), json)
        else:
            _list([explain_job(run, one) for one in most_delayed(run, _LISTED)], json)
        return
    explained = explain_job(run, find_job(run, job))
    others = [explain_job(one.run, one.job_of[explained.job]) for one in again if explained.job in one.job_of]
    lives = [explained, *others]
    if report is not None:
        command = shlex.join(["heddle", *sys.argv[1:]])
        write_page(report, explained_html(lives, partial(detail, run, explained), command))
        say(f"wrote {report}")
    if json:
        as_it_was = {"as_it_was": others[0].as_json()} if len(others) > 1 else {}
        print_json(explained.as_json() | as_it_was | ({"versus": others[-1].as_json()} if others else {}))
        return
    print_tables([_spans_table(run, explained)])
    _print_lost(explained)
    print_tables([_causes_table(lives)])
    if others:
        print_line(_difference(*lives[-2:]))


def _print_changes(found: Changes, json: bool) -> None:
    """Every job: how long it took, and would take."""
    if json:
        print_json(asdict(found))
        return
    from heddle.report.wording import write_s

    shown = sorted(found.jobs, key=lambda one: one.taken_s[-1] - one.taken_s[-2])
    rows = [(one.name, *map(write_s, one.taken_s), _percent(one.taken_s)) for one in shown]
    rows += [(what, *map(write_s, sums), _percent(sums)) for what, sums in found.sums.items()]
    print_tables([table(("job", *found.policies, "change"), rows, title="what would have changed, largest first")])


def _percent(of: Sequence[float]) -> str:
    return f"{100 * (of[-1] / of[-2] - 1):+.1f} %" if of[-2] else ""


def _list(lives: list[Explained], json: bool) -> None:
    if json:
        print_json({"jobs": [life.as_json() for life in lives]})
        return
    rows = [
        (life.name, life.queue, life.user, _s(life.taken_ms), _s(life.alone_ms), life.main_wait or "never waited")
        for life in lives
    ]
    headings = ("job", "queue", "user", "took", "alone", "main reason")
    print_tables([table(headings, rows, title="the most delayed jobs; name one to see why")])


def _spans_table(run: Run, life: Explained) -> Table:
    from rich.text import Text

    from heddle.analysis.waiting.detail import detail

    longest = sorted(sorted(life.spans, key=lambda span: -span.length_ms)[:_SPANS], key=lambda span: span.from_ms)
    rows = []
    for span in longest:
        more = detail(run, life, span)
        what = visible(span.cause + (f" ({_who_waits(life, span)})" if span.waiting else ""))
        begin = span.from_ms - life.submit_at_ms
        rows.append((_s(begin), _s(span.length_ms), Text(what + (f"\n  {visible(more)}" if more else ""))))
    left_out = len(life.spans) - len(longest)
    ended = {"finished": "finished", "failed": "failed", "unfinished": "had not finished"}[life.outcome]
    title = (
        f"{life.name} (queue {life.queue}, user {life.user}) under {life.policy}: {ended} {_s(life.taken_ms)} after "
        f"its submission; alone on the cluster it would take at least {_s(life.alone_ms)}"
    )
    headings = (
        "after",
        "for",
        "what happened" + _left_out(left_out),
    )
    return table(headings, rows, title=title)


def _left_out(spans: int) -> str:
    if not spans:
        return ""
    return " (the shortest span is omitted)" if spans == 1 else f" (the {spans} shortest spans are omitted)"


def _who_waits(life: Explained, span: Span) -> str:
    asked = f", asked for after {_s(span.asked_at_ms - life.submit_at_ms)}" if span.asked_at_ms >= 0 else ""
    return f"{span.running} running, {span.waiting} waiting; stage {life.stage_names[span.stage]}{asked}"


def _print_lost(life: Explained) -> None:
    for outcome, (count, run_ms) in life.lost.items():
        attempts = f"{count} attempt{'s' if count > 1 else ''}"
        print_line(
            f"lost: {attempts} ended as {outcome.replace('_', ' ')} after {_s(run_ms)} of running; they were rerun"
        )


def _causes_table(lives: Sequence[Explained]) -> Table:
    causes = dict.fromkeys(cause for life in lives for cause in life.causes_ms)
    rows = [[cause, *(_s(life.causes_ms.get(cause, 0)) for life in lives)] for cause in causes]
    rows.append(["all", *(_s(life.taken_ms) for life in lives)])
    return table(["where the time went", *(life.policy for life in lives)], rows)


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
    from heddle.report.wording import write_s

    return write_s(ms / 1000)
