"""Spark's event logs, from a folder or from a Spark history server, which gives them away as they are."""

from __future__ import annotations

import io
import random
import tempfile
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote

from heddle.model.errors import BadInput
from heddle.traces.build import JobSpec
from heddle.traces.formats.spark_eventlog import FORMAT, applications
from heddle.traces.imports.registry import sort_files
from heddle.traces.imports.source import find_sources
from heddle.yarn.live.pace import Pace

SPARK: Final = "SPARK"  # what the ResourceManager calls them
SAMPLE: Final = 40  # logs, which can be large
READ_S: Final = 20.0
LARGEST: Final = 200 << 20  # bytes of a log that is fetched
TIMEOUT_S: Final = 10.0


@dataclass(frozen=True)
class SparkLogs:
    """`where`: a folder, or the address of a history server."""

    where: str
    pace: Pace

    @property
    def is_folder(self) -> bool:
        return "://" not in self.where

    def read(self, apps: Sequence[str], troubles: list[str], say: Callable[[str], None]) -> dict[str, JobSpec]:
        """Jobs by application: of a server a random sample of `apps`, of a folder of all that is in it."""
        if self.is_folder:
            if not Path(self.where).is_dir():
                raise BadInput.of("--spark-history", f"{self.where} is neither a folder nor an http address")
            return _jobs_in(self.where, troubles)
        wanted = random.Random(len(apps)).sample(sorted(apps), min(SAMPLE, len(apps)))
        say(f"reading the event logs of {len(wanted)} of {len(apps):,} Spark applications, chosen at random")
        with tempfile.TemporaryDirectory() as folder:
            began_s = time.monotonic()
            for app in wanted:
                if time.monotonic() - began_s > READ_S:
                    break
                try:
                    self._fetch(app, Path(folder))
                except (OSError, zipfile.BadZipFile) as error:
                    if not isinstance(error, urllib.error.HTTPError) or error.code != 404:
                        troubles.append(f"the Spark history server: {self.where}: {error}")
                        break
            return _jobs_in(folder, troubles) if any(Path(folder).iterdir()) else {}

    def _fetch(self, app: str, folder: Path) -> None:
        self.pace.turn()
        url = f"{self.where.rstrip('/')}/api/v1/applications/{quote(app)}/logs"
        with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer:
            data = answer.read(LARGEST + 1)
        if len(data) > LARGEST:
            return
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            for number, entry in enumerate(packed.infolist()):
                if not entry.is_dir() and entry.file_size <= LARGEST:
                    # By names of our own: what a server calls its files must not lead out of the folder.
                    suffix = "".join(Path(entry.filename).suffixes[-1:])
                    (folder / f"{app}-{number}{suffix}").write_bytes(packed.read(entry))


def _jobs_in(folder: str, troubles: list[str]) -> dict[str, JobSpec]:
    empty = not any(path.is_file() for path in Path(folder).rglob("*"))
    files, _ = ({}, ()) if empty else sort_files(FORMAT, find_sources([folder]), asked=False)
    if "log" not in files:
        troubles.append("no Spark event log was found")
        return {}
    files["log"] = random.Random(0).sample(files["log"], min(SAMPLE, len(files["log"])))
    return {job.name: job for job in applications(files, FORMAT.given({}, {}), [])}
