"""`heddle yarn track` and `heddle yarn observe`: what really happens on a YARN."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from heddle.cli.output import DONE, Json, print_json, say
from heddle.cli.yarn_cluster import Name, Rm, client_of, until_told

Seconds = Annotated[float | None, typer.Option("--for", min=0.1, help="End after so many seconds [default: never].")]


def track(
    samples: Annotated[Path, typer.Argument(metavar="FILE", help="Where the samples go, as JSON lines; it grows.")],
    every_s: Annotated[float, typer.Option("--every", min=0.1, help="Seconds between two samples.")] = 1.0,
    for_s: Seconds = None,
    json: Json = False,
) -> int:
    """Sample memory, CPU time and disk I/O of the YARN containers on this machine, until interrupted.

    Run it on each worker, as root or as the user that containers run as. At the end it says what it cost itself.

    \b
    Examples:
      heddle yarn track /var/log/heddle/samples.jsonl
      heddle yarn track samples.jsonl --for 60
    """
    from heddle.yarn.trace.journal import Journal
    from heddle.yarn.trace.tracker import Tracker

    tracker = Tracker(Journal(samples, say))
    began_s, began_cpu_s = time.monotonic(), time.process_time()
    taken = most = 0
    with until_told() as told:
        while not told and (for_s is None or time.monotonic() - began_s < for_s):
            tracker.sample()
            taken, most = taken + 1, max(most, tracker.containers)
            # By the clock, not by adding up: a slow sample must not push all later ones.
            time.sleep(max(0.0, began_s + taken * every_s - time.monotonic()))
        tracker.write_all()
    wall_s, cpu_s = time.monotonic() - began_s, time.process_time() - began_cpu_s
    cost = {
        "samples": taken,
        "most_containers": most,
        "wall_s": round(wall_s, 1),
        "cpu_percent": round(100 * cpu_s / wall_s, 2),
        "peak_rss_mb": _peak_rss_mb(),
    }
    if json:
        print_json(cost)
    else:
        say(
            f"{taken} samples of at most {most} containers in {wall_s:.0f} s;"
            f" cost {cost['cpu_percent']} % of a core, {cost['peak_rss_mb']} MB"
        )
    return DONE


def _peak_rss_mb() -> int | None:
    """Of this program alone: getrusage would count what the process was before it began."""
    status = Path("/proc/self/status").read_text()
    return next((int(line.split()[1]) // 1024 for line in status.splitlines() if line.startswith("VmHWM:")), None)


def observe(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where the journal and the record go.")],
    rm: Rm = None,
    name: Name = None,
    every_s: Annotated[float, typer.Option("--every", min=0.1, help="Seconds between two polls.")] = 1.0,
    for_s: Seconds = None,
    until_idle: Annotated[
        bool, typer.Option("--until-idle", help="End when every application seen has ended.")
    ] = False,
    samples: Annotated[list[Path] | None, typer.Option(help="Files of `heddle yarn track`; may be repeated.")] = None,
    json: Json = False,
) -> int:
    """Observe a ResourceManager until interrupted, then write what happened as a run record.

    It goes on where an earlier observation of the same folder ended. The record, FOLDER/record, is what the simulator
    writes too. --json prints the jobs with their containers. Reading is all that it needs to be allowed to do.

    \b
    Examples:
      heddle yarn observe monday --rm http://rm.example:8088
      heddle yarn observe monday --until-idle --samples worker1.jsonl --samples worker2.jsonl
    """
    from heddle.record.files import write_record
    from heddle.yarn.trace.journal import Journal
    from heddle.yarn.trace.live_record import export, record_of
    from heddle.yarn.trace.observer import Observer
    from heddle.yarn.trace.tracker import use_of
    from heddle.yarn.wire import YarnError

    began_s = time.monotonic()
    away = False
    with client_of(rm, name) as client, until_told() as told:
        observer = Observer(client, Journal(folder / "journal.jsonl", say))
        while not told and (for_s is None or time.monotonic() - began_s < for_s):
            try:
                observer.poll()
                if away:
                    say("the ResourceManager answers again")
                away = False
                if until_idle and observer.seen.apps and not observer.running():
                    break
            except YarnError as error:
                if not away:
                    say(f"{error}; trying again")
                away = True
            time.sleep(every_s)
    use = use_of(*(samples or ()))
    run = record_of(observer.seen, policy="stock", workload=folder.name, started_by=["heddle", *sys.argv[1:]], use=use)
    write_record(run, folder / "record")
    say(f"{run.jobs.height} jobs, {run.attempts.height} containers; wrote the record {folder / 'record'}")
    if json:
        print_json(export(observer.seen, use))
    return DONE
