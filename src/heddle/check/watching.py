"""Watches the cluster for as long as was asked: which containers lived where and when, and what they used."""

from __future__ import annotations

import getpass
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from heddle.model.errors import RunRefused
from heddle.record.run import Run
from heddle.record_workload import jobs_of
from heddle.traces.build import JobSpec
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.wire import YarnError
from heddle.yarn.observe.history import History
from heddle.yarn.observe.journal import Journal
from heddle.yarn.observe.live_record import record_of
from heddle.yarn.observe.observer import Observer
from heddle.yarn.observe.remote_tracker import RemoteTracker
from heddle.yarn.observe.tallies import use_of

EVERY_S: Final = 1.0
NODES_ASKED: Final = 100  # NodeManagers, drawn at random: a few silent ones among thousands must not hold up the rest


@dataclass(frozen=True)
class Watched:
    """`jobs`: those that came and ended meanwhile, by application; `telling`: NodeManagers that told use, of all."""

    run: Run
    jobs: dict[str, JobSpec]
    telling: tuple[int, int]


def watch(
    client: RmClient,
    server: RmClient | None,
    seconds: float,
    told: Sequence[int],
    folder: Path,
    say: Callable[[str], None],
    after_look: Callable[[], None],
) -> Watched:
    """Until the time is over, or until told to end. What does not answer for a while is asked again."""
    observer = Observer(client, Journal(folder / "journal.jsonl", say))
    history = None if server is None else History(server, observer.journal, observer.seen)
    samples = folder / "samples.jsonl"
    quiet: set[str] = set()

    def say_once(text: str) -> None:
        if text not in quiet:
            quiet.add(text)
            say(text)

    tracker = RemoteTracker(
        client, Journal(samples, say), lambda _: None, user=getpass.getuser(), most_nodes=NODES_ASKED
    )
    telling, tracks = (0, 0), True
    began_s = time.monotonic()
    try:
        while not told and time.monotonic() - began_s < seconds:
            step_s = time.monotonic()
            try:
                observer.poll()
                if history is not None:
                    history.poll()
                if tracks:
                    tracker.sample()
                    telling = max(telling, tracker.telling)
            except YarnError as error:
                say_once(f"{error}; retrying")
            except RunRefused:
                tracks = False  # no NodeManager has such figures
            after_look()
            time.sleep(max(0.0, min(step_s + EVERY_S, began_s + seconds) - time.monotonic()))
        tracker.write_all()
    finally:
        tracker.close()
    seen = observer.seen
    run = record_of(seen, policy="stock", workload="watched", started_by=["heddle", "check"], use=use_of(samples))
    apps = sorted(seen.apps.values(), key=lambda app: (app.submitted_at_ms, app.id))  # the order of the record's jobs
    whole = {
        number: app.id
        for number, app in enumerate(apps)
        if app.ended_at_ms is not None and app.submitted_at_ms >= seen.began_ms
    }
    jobs = {whole[number]: job for number, job in jobs_of(run).items() if number in whole}
    return Watched(run, {app: job for app, job in jobs.items() if any(stage.tasks for stage in job.stages)}, telling)
