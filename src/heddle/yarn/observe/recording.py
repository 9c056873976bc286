"""Looks along while jobs run and writes what happened to them as a run record."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from heddle.model.whole_files import write_whole
from heddle.record.files import cluster_beside_record, write_record
from heddle.traces.clusters import dump_cluster
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.pace import Pace
from heddle.yarn.live.wire import YarnError
from heddle.yarn.observe.cluster_import import live_cluster
from heddle.yarn.observe.history import TIMEOUT_S, History
from heddle.yarn.observe.journal import Journal
from heddle.yarn.observe.live_record import record_of
from heddle.yarn.observe.observer import Observer
from heddle.yarn.observe.tallies import use_of
from heddle.yarn.observe.tracker import Tracker

LAST_WORDS_S: Final = 10.0  # how long containers may take to go, and histories to come, when the jobs have ended
LOOK_EVERY_S: Final = 0.5


class Recording:
    """Call poll() along, write() at the end. `own_machine`: containers run here, so that their use can be sampled.

    `history` talks to the cluster's history server, where there is one.
    """

    def __init__(
        self,
        client: RmClient,
        scratch: Path,
        say: Callable[[str], None],
        *,
        own_machine: bool,
        history: RmClient | None,
    ) -> None:
        journal = Journal(scratch / "journal.jsonl", say)
        self._client, self._say = client, say
        self._observer = Observer(client, journal)
        self._samples = scratch / "samples.jsonl"
        self._tracker = Tracker(Journal(self._samples, say)) if own_machine else None
        self._history = None if history is None else History(history, journal, self._observer.seen)

    def poll(self) -> None:
        self._observer.poll()
        if self._tracker is not None:
            self._tracker.sample()
        if self._history is not None:
            try:
                self._history.poll()
            except YarnError as error:
                self._say(f"{error}; retrying")

    def close(self) -> None:
        if self._tracker is not None:
            self._tracker.close()

    def write(
        self, apps: Collection[str | None], folder: Path, *, policy: str, workload: str, started_by: list[str]
    ) -> None:
        """The record of these applications; others that ran meanwhile are left out."""
        deadline = time.monotonic() + LAST_WORDS_S
        self.poll()
        while self._awaited() & set(apps) and time.monotonic() < deadline:
            time.sleep(LOOK_EVERY_S)
            self.poll()
        if self._tracker is not None:
            self._tracker.write_all()
        use = use_of(self._samples) if self._tracker is not None else {}
        seen = self._observer.seen
        mine = replace(seen, apps={name: app for name, app in seen.apps.items() if name in apps})
        write_record(record_of(mine, policy=policy, workload=workload, started_by=started_by, use=use), folder)
        write_cluster_beside(folder, self._client, self._say)

    def _awaited(self) -> set[str]:
        """Applications that still hold containers, or whose history is not there yet."""
        return self._observer.running() | set(self._history.missing() if self._history is not None else ())


def write_cluster_beside(record: Path, client: RmClient, say: Callable[[str], None]) -> None:
    """The cluster's queues and their AM shares, which a record cannot tell and simulating it needs."""
    try:
        text = dump_cluster(live_cluster(client))
    except YarnError as error:
        say(f"{error}: without the cluster's queues, a simulation of this record assumes that they are equal")
        return
    write_whole(cluster_beside_record(record), text)


@contextmanager
def recording(
    client: RmClient, say: Callable[[str], None], *, own_machine: bool, history: str | None = None
) -> Iterator[Recording]:
    """A recording whose journals last as long as it does."""
    with ExitStack() as opened:
        scratch = Path(opened.enter_context(TemporaryDirectory()))
        server = None if history is None else opened.enter_context(RmClient(history, timeout_s=TIMEOUT_S, pace=Pace()))
        made = Recording(client, scratch, say, own_machine=own_machine, history=server)
        opened.callback(made.close)
        yield made
