"""`heddle yarn track` and `heddle yarn observe`: what really happens on a YARN."""

from __future__ import annotations

import getpass
import sys
import time
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heddle.cli.durations import For
from heddle.cli.output import DONE, Json, print_json, say
from heddle.cli.yarn_cluster import MAX_CALLS, MaxCalls, Name, Rm, Stretched, client_of, until_told
from heddle.model.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from heddle.yarn.live.client import RmClient
    from heddle.yarn.observe.journal import Journal
    from heddle.yarn.observe.observer import Observer
    from heddle.yarn.observe.remote_tracker import RemoteTracker
    from heddle.yarn.observe.tracker import Tracker

HISTORY_PATIENCE_S = 15.0  # with the histories of jobs that have ended, before an observation that is to end does so


def track(
    samples: Annotated[Path, typer.Argument(metavar="FILE", help="File to append samples to, as JSON lines.")],
    remote: Annotated[
        bool, typer.Option("--remote", help="Sample a whole cluster through its NodeManagers' metrics, without agents.")
    ] = False,
    rm: Rm = None,
    name: Name = None,
    every_s: Annotated[float, typer.Option("--every", min=0.1, help="Seconds between two samples.")] = 1.0,
    for_s: For = None,
    json: Json = False,
) -> int:
    """Sample memory, CPU time and disk I/O of the YARN containers on this machine, until interrupted.

    Run it on each worker, as root or as the user that containers run as. At the end it says what it cost itself.

    With --remote it runs anywhere and asks NodeManagers, which give memory and CPU in whole per cent of a core, if they
    are configured to (yarn.nodemanager.container-metrics.period-ms); disk I/O is null then.

    \b
    Examples:
      heddle yarn track /var/log/heddle/samples.jsonl
      heddle yarn track samples.jsonl --for 60
      heddle yarn track samples.jsonl --remote --rm http://rm.example:8088
    """
    from heddle.yarn.observe.journal import Journal

    if not remote and (rm is not None or name is not None):
        raise BadInput.of("--rm", "only applies with --remote: without it, all containers on this machine are sampled")
    with until_told() as told, _sampler(remote, rm, name, Journal(samples, say)) as sampler:
        began_s, began_cpu_s = time.monotonic(), time.process_time()
        taken = most = 0
        masters = Away("the ResourceManager")
        while not told and (for_s is None or time.monotonic() - began_s < for_s):
            if remote:
                masters.ask(sampler.sample)
            else:
                sampler.sample()
            taken, most = taken + 1, max(most, sampler.containers)
            # By the clock, not by adding up: a slow sample must not push all later ones.
            time.sleep(max(0.0, began_s + taken * every_s - time.monotonic()))
        sampler.write_all()
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


@contextmanager
def _sampler(remote: bool, rm: str | None, name: str | None, journal: Journal) -> Iterator[Tracker | RemoteTracker]:
    if not remote:
        from heddle.yarn.observe.tracker import Tracker

        with closing(Tracker(journal)) as own:
            yield own
        return
    from heddle.yarn.observe.remote_tracker import RemoteTracker

    with (
        client_of(rm, name) as client,
        closing(RemoteTracker(client, journal, say, user=getpass.getuser())) as tracker,
    ):
        yield tracker


def _peak_rss_mb() -> int | None:
    """Of this program alone: getrusage would count what the process was before it began."""
    status = Path("/proc/self/status").read_text()
    return next((int(line.split()[1]) // 1024 for line in status.splitlines() if line.startswith("VmHWM:")), None)


def observe(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder for the journal and the record.")],
    rm: Rm = None,
    name: Name = None,
    history: Annotated[
        str | None, typer.Option(help="Address of the MapReduce history server [default: the local cluster's].")
    ] = None,
    every_s: Annotated[float, typer.Option("--every", min=0.1, help="Seconds between two polls.")] = 1.0,
    for_s: For = None,
    until_idle: Annotated[
        bool, typer.Option("--until-idle", help="Stop when every observed application has ended.")
    ] = False,
    samples: Annotated[list[Path] | None, typer.Option(help="Files of `heddle yarn track`; repeatable.")] = None,
    max_calls_per_s: MaxCalls = MAX_CALLS,
    json: Json = False,
) -> int:
    """Observe a ResourceManager until interrupted, then write what happened as a run record.

    It goes on where an earlier observation of the same folder ended. The record, FOLDER/record, is what the simulator
    writes too. From the history server comes how the containers of MapReduce jobs ended; while it is away its jobs
    wait, if need be for the next observation. --json prints the jobs with their containers. Reading is all that it
    needs to be allowed to do.

    \b
    Examples:
      heddle yarn observe monday --rm http://rm.example:8088 --history http://history.example:19888
      heddle yarn observe monday --until-idle --samples worker1.jsonl --samples worker2.jsonl
    """
    from heddle.record.files import write_record
    from heddle.yarn.live.recognising import recognise
    from heddle.yarn.observe.journal import Journal
    from heddle.yarn.observe.live_record import export, record_of
    from heddle.yarn.observe.observer import Observer
    from heddle.yarn.observe.recording import write_cluster_beside
    from heddle.yarn.observe.tallies import use_of

    with client_of(rm, name, max_calls_per_s=max_calls_per_s) as client:
        recognise(client)
        with _history_client(history, rm, name) as server, until_told() as told:
            observer = Observer(client, Journal(folder / "journal.jsonl", say))
            stretched = Stretched(client, every_s, say)
            _look_until(observer, server, told, every_s, for_s, until_idle, stretched)
    use = use_of(*(samples or ()))
    run = record_of(observer.seen, policy="stock", workload=folder.name, started_by=["heddle", *sys.argv[1:]], use=use)
    write_record(run, folder / "record")
    with client_of(rm, name) as client:
        write_cluster_beside(folder / "record", client, say)
    say(f"{run.jobs.height} jobs, {run.attempts.height} containers; wrote the record {folder / 'record'}")
    if json:
        print_json(export(observer.seen, use))
    return DONE


@contextmanager
def _history_client(history: str | None, rm: str | None, name: str | None) -> Iterator[RmClient | None]:
    """Talks to the history server; None with an --rm of which only that is known."""
    from heddle.yarn.live.client import RmClient
    from heddle.yarn.live.pace import Pace
    from heddle.yarn.observe.history import TIMEOUT_S, history_address
    from heddle.yarn.testbed.local.cluster import find_cluster

    if history is None and rm is not None:
        say("no --history: inferring how containers of MapReduce jobs ended")
        yield None
        return
    address = find_cluster(name or "local").layout.history if history is None else history_address(history)
    with RmClient(address, timeout_s=TIMEOUT_S, user=getpass.getuser(), pace=Pace()) as client:
        yield client


def _look_until(
    observer: Observer,
    server: RmClient | None,
    told: list[int],
    every_s: float,
    for_s: float | None,
    until_idle: bool,
    stretched: Stretched,
) -> None:
    """Polls until told to end, until it is time, or until nothing runs."""
    from heddle.yarn.observe.history import History

    history = None if server is None else History(server, observer.journal, observer.seen)
    masters, histories = Away("the ResourceManager"), Away("the history server")
    began_s = busy_s = time.monotonic()
    while not told and (for_s is None or time.monotonic() - began_s < for_s):
        stretched.begin()
        answered = masters.ask(observer.poll)
        stretched.end()
        if history is not None:
            histories.ask(history.poll)
        if not (answered and observer.seen.apps and not observer.running()):
            busy_s = time.monotonic()
        elif until_idle:
            patient = time.monotonic() - busy_s < HISTORY_PATIENCE_S
            if history is None or not history.missing() or not patient:
                break
        time.sleep(every_s)
    if history is not None and (missing := history.missing()):
        say(f"no history yet for {len(missing)} MapReduce jobs; the next observation into this folder asks again")


class Away:
    """Says once that a server does not answer, and once that it does again."""

    def __init__(self, who: str) -> None:
        self._who, self._away = who, False

    def ask(self, poll: Callable[[], None]) -> bool:
        from heddle.yarn.live.wire import YarnError

        try:
            poll()
        except YarnError as error:
            if not self._away:
                say(f"{error}; retrying")
            self._away = True
            return False
        if self._away:
            say(f"{self._who} answers again")
        self._away = False
        return True
