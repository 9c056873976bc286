"""Spark's event logs, from a folder or from a Spark history server, which gives them away as they are."""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Protocol
from urllib.parse import quote, urlsplit

from heddle.check.spark_archive import unpack_logs
from heddle.model.errors import BadInput
from heddle.traces.build import JobSpec
from heddle.traces.formats.spark_eventlog import FORMAT, application
from heddle.traces.imports.jobs import Unique
from heddle.traces.imports.source import Source, find_sources
from heddle.yarn.live.addresses import with_port
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.pace import Pace
from heddle.yarn.live.wire import YarnError

SPARK: Final = "SPARK"  # what the ResourceManager calls them
OPTION: Final = "--spark-history"
SAMPLE: Final = 40  # logs, which can be large
READ_S: Final = 20.0
LARGEST: Final = 200 << 20  # bytes of an application's logs, unpacked
MOST: Final = 1 << 30  # of all of them, which are on disk for a while
TIMEOUT_S: Final = 10.0
PLAIN, TLS = 18080, 18480  # Spark's own ports


class SparkLogs(Protocol):
    def read(self, apps: Sequence[str], troubles: list[str], say: Callable[[str], None]) -> dict[str, JobSpec]:
        """Jobs by application: of a server a random sample of `apps`, of a folder of all that is in it."""


@contextmanager
def spark_logs(where: str, user: str, pace: Pace) -> Iterator[SparkLogs]:
    """`where`: a folder, or the address of a history server, with a path where it is behind a gateway."""
    if "://" not in where:
        if not Path(where).is_dir():
            raise BadInput.of(OPTION, f"{where.rpartition('@')[2]} is neither a folder nor an http address")
        yield LogsInFolder(Path(where))
        return
    parts = urlsplit(with_port(where, OPTION, PLAIN, TLS))
    with RmClient(f"{parts.scheme}://{parts.netloc}", timeout_s=TIMEOUT_S, user=user, pace=pace) as client:
        yield LogsOfServer(client, parts.path.rstrip("/"))


class LogsInFolder:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, apps: Sequence[str], troubles: list[str], say: Callable[[str], None]) -> dict[str, JobSpec]:
        return _jobs_in(self._folder, [], troubles)


class LogsOfServer:
    """`root`: what stands in front of every path."""

    def __init__(self, client: RmClient, root: str = "") -> None:
        self._client, self._root = client, root

    def read(self, apps: Sequence[str], troubles: list[str], say: Callable[[str], None]) -> dict[str, JobSpec]:
        wanted = random.Random(len(apps)).sample(sorted(apps), min(SAMPLE, len(apps)))
        if not wanted:
            return {}
        say(f"reading the event logs of {len(wanted)} of {len(apps):,} Spark applications, chosen at random")
        unreadable: list[str] = []
        with tempfile.TemporaryDirectory() as folder:
            began_s = time.monotonic()
            left = MOST
            for app in wanted:
                if time.monotonic() - began_s > READ_S:
                    break
                try:
                    archive = self._client.get_bytes(f"{self._root}/api/v1/applications/{quote(app, safe='')}/logs")
                    left -= unpack_logs(archive, app, Path(folder), min(LARGEST, left))
                except YarnError as error:
                    if error.status != 404:
                        troubles.append(f"the Spark history server: {_without_standbys(error)}")
                        break
                except BadInput as error:
                    unreadable.append(str(error))
            return _jobs_in(Path(folder), unreadable, troubles) if unreadable or any(Path(folder).iterdir()) else {}


def _without_standbys(error: YarnError) -> str:
    """Of several ResourceManagers those that wait redirect; a history server is alone."""
    if error.status is not None and 300 <= error.status < 400:
        return f"{error.url}: HTTP {error.status}: it redirects, which is not followed: give the address it leads to"
    return str(error)


def _jobs_in(folder: Path, unreadable: list[str], troubles: list[str]) -> dict[str, JobSpec]:
    """`unreadable`: what is known to be, and becomes one of the troubles with what is found."""
    logs = _logs_in(folder, unreadable)
    given, unique = FORMAT.given({}, {}), Unique()
    found: dict[str, JobSpec] = {}
    for source in random.Random(0).sample(logs, min(SAMPLE, len(logs))):
        try:
            job = application(source, given, unique, [])
        except BadInput as error:
            unreadable.append(str(error))
        else:
            found |= {} if job is None else {job.name: job}
    if unreadable:
        troubles.append(f"unreadable Spark event logs: {len(unreadable):,}; the first: {unreadable[0]}")
    elif not logs:
        troubles.append("no Spark event log was found")
    return found


def _logs_in(folder: Path, unreadable: list[str]) -> list[Source]:
    if not any(path.is_file() for path in folder.rglob("*")):
        return []
    found = []
    for source in find_sources([str(folder)]):
        try:
            if FORMAT.role(source.head()) == "log":
                found.append(source)
        except BadInput as error:
            unreadable.append(str(error))
    return found
