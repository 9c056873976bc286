"""`heddle check`: from the address of a ResourceManager to a verdict."""

from __future__ import annotations

import getpass
import shlex
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heddle.cli.durations import seconds
from heddle.cli.inputs import compile_with_message
from heddle.cli.output import (
    DONE,
    FAILED,
    Json,
    print_json,
    print_line,
    print_paragraphs,
    print_tables,
    say,
    table,
    terminal_width,
)
from heddle.cli.progress import run_with_progress
from heddle.cli.yarn_cluster import MAX_CALLS, MaxCalls, Stretched, until_told
from heddle.model.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from heddle.analysis.comparison.compare import ComparedRun
    from heddle.check.checked import Checked
    from heddle.check.findings import Finding
    from heddle.check.gathering import Gathered, Sources
    from heddle.check.since import Since
    from heddle.check.unknown import Unknown
    from heddle.check.watching import Watched
    from heddle.experiments.compare import PlannedRun
    from heddle.yarn.live.recognising import ResourceManager


def check(
    rm: Annotated[
        str, typer.Argument(metavar="RM", help="Address of a ResourceManager, or several separated by commas.")
    ],
    for_time: Annotated[
        str | None, typer.Option("--for", help="Watch for this long (90s, 30m, 2h), then refine the verdict.")
    ] = None,
    past_h: Annotated[float, typer.Option("--past", min=0.01, help="How many hours back to look.")] = 24.0,
    history: Annotated[str | None, typer.Option(help="Address of the MapReduce history server.")] = None,
    spark_history: Annotated[
        str | None, typer.Option(help="Address of the Spark history server, or a folder of event logs.")
    ] = None,
    conf: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Folder with the scheduler's XML, for settings that the ResourceManager does not expose.",
        ),
    ] = None,
    application: Annotated[
        str | None, typer.Option(metavar="ID", help="Report on this application only, with the settings to change.")
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Write an HTML report to this file.")] = None,
    since: Annotated[
        Path | None, typer.Option(help="JSON of an earlier check: show what is better, worse, new or gone.")
    ] = None,
    anonymise: Annotated[
        bool, typer.Option("--anonymise", help="Use pseudonyms for jobs, users and queues; omit the address.")
    ] = False,
    price: Annotated[float | None, typer.Option(min=0, help="Price of a GB-hour, to show waste in money.")] = None,
    max_calls_per_s: MaxCalls = MAX_CALLS,
    json: Json = False,
) -> int:
    """Check a cluster: what is wasted, who is waiting and why, and what another policy would have changed.

    Read-only; nothing to install on the workers. The baseline is the cluster's own scheduler, the workload its recent
    jobs. Exit code 0: nothing needs attention; 1: there are findings; 2: the check failed.

    \b
    Examples:
      heddle check http://rm.example:8088
      heddle check http://rm.example:8088 --history http://jhs.example:19888 --report check.html
      heddle check http://rm.example:8088 --for 30m --conf /etc/hadoop/conf --price 0.01
      heddle check http://rm.example:8088 --json --since yesterday.json > today.json
      heddle check http://rm.example:8088 --application application_1700000000000_0042
    """
    from heddle.check.gathering import Sources
    from heddle.check.spark import spark_logs
    from heddle.yarn.live.client import RmClient
    from heddle.yarn.live.pace import Pace
    from heddle.yarn.live.recognising import recognise
    from heddle.yarn.observe.history import TIMEOUT_S, history_address

    watch_s = None if for_time is None else seconds(for_time, "--for", "90s, 30m or 2h")
    if application is not None:
        _refuse_beside_application(for_time=for_time, report=report, since=since, anonymise=anonymise, price=price)
    user = getpass.getuser()
    with ExitStack() as opened:
        client = opened.enter_context(RmClient(rm, user=user, pace=Pace(max_calls_per_s)))
        manager = recognise(client)
        server = None
        if history is not None:
            at = RmClient(history_address(history), timeout_s=TIMEOUT_S, user=user, pace=Pace(max_calls_per_s))
            server = opened.enter_context(at)
        spark = None
        if spark_history is not None:
            spark = opened.enter_context(spark_logs(spark_history, user, Pace(max_calls_per_s)))
        sources = Sources(client, server, spark, conf)
        if application is not None:
            return _one(sources, application, json)
        checking = _Checking(sources, manager, past_h, report, since, anonymise, price, json)
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        return checking.first_then_watch(folder, watch_s)


def _refuse_beside_application(**options: object) -> None:
    """A report on one application has no place for them."""
    given = [f"--{name.removesuffix('_time')}" for name, value in options.items() if value not in (None, False)]
    if given:
        raise BadInput.of("--application", f"reports on one job only; leave out {', '.join(given)}")


class _Checking:
    """A check and, where it watches, the same again with what was seen."""

    def __init__(
        self,
        sources: Sources,
        manager: ResourceManager,
        past_h: float,
        report: Path | None,
        since: Path | None,
        anonymise: bool,
        price: float | None,
        json: bool,
    ) -> None:
        from heddle.check.anonymous import Pseudonyms
        from heddle.check.since import read_earlier

        self._sources, self._manager, self._past_h = sources, manager, past_h
        self._report, self._price, self._json = report, price, json
        self._names = Pseudonyms() if anonymise else None
        self._address = "http://resourcemanager:8088" if anonymise else sources.rm.address
        self._earlier = None if since is None else read_earlier(since)

    def first_then_watch(self, folder: Path, watch_s: float | None) -> int:
        from heddle.check.gathering import gather
        from heddle.check.watching import watch

        window_ms = self._window_ms()
        gathered = gather(self._sources, self._manager, *window_ms, say, self._names, {})
        code = self._judge(gathered, None, window_ms, folder, last=watch_s is None)
        if watch_s is None:
            return code
        say(f"watching for {watch_s:g} s; press Ctrl-C to stop early")
        stretched = Stretched(self._sources.rm, 1.0, say)
        stretched.begin()

        def after_look() -> None:
            stretched.end()
            stretched.begin()

        with until_told() as told:
            watched = watch(self._sources.rm, self._sources.history, watch_s, told, folder, say, after_look)
        window_ms = self._window_ms()
        again = gather(self._sources, self._manager, *window_ms, say, self._names, watched.jobs, before=gathered)
        return self._judge(again, watched, window_ms, folder, last=True)

    def _window_ms(self) -> tuple[int, int]:
        now_ms = int(time.time() * 1000)
        return now_ms - round(3_600_000 * self._past_h), now_ms + 3_600_000  # its clock may be ahead of ours

    def _judge(
        self, gathered: Gathered, watched: Watched | None, window_ms: tuple[int, int], folder: Path, *, last: bool
    ) -> int:
        """Prints the verdict and writes the report; a JSON document only with the `last` one."""
        from heddle.check.checked import checked
        from heddle.check.document import document
        from heddle.check.findings import findings
        from heddle.check.page import check_html
        from heddle.check.since import since
        from heddle.check.unknown import unknown
        from heddle.policy.parse import parse_policy
        from heddle.report.page import write_page

        command = ["heddle", *sys.argv[1:]]
        compile_with_message([parse_policy(gathered.present.policy)], len(gathered.present.cluster.resources))
        ended_ms = min(window_ms[1], int(time.time() * 1000))
        made = checked(gathered, watched, (window_ms[0], ended_ms), folder, command, _runs, self._price)
        found = findings(made)
        given = self._sources
        missing = unknown(
            made, history=given.history is not None, spark=given.spark is not None, conf=given.conf is not None
        )
        changes = None if self._earlier is None else since(found, self._earlier)
        shown = shlex.join(command if self._names is None else ["heddle", "check", self._address, "--anonymise"])
        if self._report is not None:
            write_page(self._report, check_html(made, self._address, found, missing, changes, shown))
            say(f"wrote {self._report}")
        if self._json:
            if last:
                print_json(document(made, self._address, found, missing, changes, shown))
        else:
            _print(made, self._address, found, missing, changes, shown)
        return FAILED if found else DONE


def _runs(runs: Sequence[PlannedRun]) -> Iterable[tuple[int, ComparedRun]]:
    from heddle.experiments.compare import run_one
    from heddle.experiments.engines import LocalProcesses

    return run_with_progress(LocalProcesses(1), run_one, runs)


def _print(
    made: Checked,
    address: str,
    found: list[Finding],
    missing: Sequence[Unknown],
    changes: Sequence[Since] | None,
    command: str,
) -> None:
    from heddle.check.findings import verdict
    from heddle.check.next_step import next_steps
    from heddle.report.table import comparison_tables

    print_paragraphs([verdict(made, found)])
    tables = []
    if found:
        tables.append(table(("severity", "finding"), [(one.severity, one.says) for one in found]))
    if changes is not None:
        rows = [(one.change, one.key.replace("-", " "), one.says) for one in changes]
        tables.append(table(("since", "finding", ""), rows, title="since the last check"))
    if made.gathered.now.waiting:
        waiting = [
            (one.queue, f"{one.applications:,}", f"{one.wanted_mb / 1024:,.1f}" if one.wanted_mb else "–", one.why)
            for one in made.gathered.now.waiting[:10]
        ]
        tables.append(table(("queue", "applications", "GB", "because"), waiting, title="who is waiting now"))
    print_tables(tables)
    if made.tried is not None:
        print_tables(comparison_tables(made.tried.comparison, terminal_width())[:1])
    if missing:
        print_tables([table(("not known", "what would reveal it"), [(one.what, one.tells) for one in missing])])
    for step in next_steps(made, address, command):
        print_line(f"{step.why}:")
        print_line(f"  {step.command}")


def _one(sources: Sources, application: str, json: bool) -> int:
    from dataclasses import asdict

    from heddle.check.one_application import application_findings

    found = application_findings(sources, application)
    if json:
        print_json(
            {
                "application": asdict(found.outline),
                "findings": [asdict(one) for one in found.findings],
                "read": found.read,
            }
        )
    else:
        print_paragraphs([found.verdict])
        if found.findings:
            rows = [(one.severity, one.says, one.setting) for one in found.findings]
            print_tables([table(("severity", "finding", "setting to change"), rows)])
        for note in found.read:
            say(note)
    return FAILED if found.findings else DONE
