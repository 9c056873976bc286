"""Looks along while jobs run and writes what happened to them as a run record."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from heddle.record.files import write_record
from heddle.yarn.client import RmClient
from heddle.yarn.trace.journal import Journal
from heddle.yarn.trace.live_record import record_of
from heddle.yarn.trace.observer import Observer
from heddle.yarn.trace.tracker import Tracker, use_of


class Recording:
    """Call poll() along, write() at the end. `own_machine`: containers run here, so that their use can be sampled."""

    def __init__(self, client: RmClient, scratch: Path, say: Callable[[str], None], *, own_machine: bool) -> None:
        self._observer = Observer(client, Journal(scratch / "journal.jsonl", say))
        self._samples = scratch / "samples.jsonl"
        self._tracker = Tracker(Journal(self._samples, say)) if own_machine else None

    def poll(self) -> None:
        self._observer.poll()
        if self._tracker is not None:
            self._tracker.sample()

    def write(
        self, apps: Collection[str | None], folder: Path, *, policy: str, workload: str, started_by: list[str]
    ) -> None:
        """The record of these applications; others that ran meanwhile are left out."""
        self._observer.poll()
        if self._tracker is not None:
            self._tracker.write_all()
        use = use_of(self._samples) if self._tracker is not None else {}
        seen = self._observer.seen
        mine = replace(seen, apps={name: app for name, app in seen.apps.items() if name in apps})
        write_record(record_of(mine, policy=policy, workload=workload, started_by=started_by, use=use), folder)


@contextmanager
def recording(client: RmClient, say: Callable[[str], None], *, own_machine: bool) -> Iterator[Recording]:
    """A recording whose journals last as long as it does."""
    with TemporaryDirectory() as scratch:
        yield Recording(client, Path(scratch), say, own_machine=own_machine)
