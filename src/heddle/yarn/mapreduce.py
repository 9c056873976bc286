"""Runs MapReduce programs with Hadoop's own client, one process for each job, and finds out their application ids."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Final

from heddle.yarn.local.java import JVM_FLAGS, find_java
from heddle.yarn.mixture import MapReduceJob

_EXAMPLES: Final = "org.apache.hadoop.examples.ExampleDriver"
_MAIN: Final = {"sleep": ("org.apache.hadoop.mapreduce.SleepJob",)}  # it is not among the examples
# On a local file system terasort cannot write its partitions where it wants to.
_OPTIONS: Final = {"terasort": {"mapreduce.terasort.simplepartitioner": "true"}}
_SUBMITTED: Final = re.compile(r"Submitted application (application_\d+_\d+)")


class MapReduceClient:
    """One running client. Ask it for its application's id until it has one."""

    def __init__(self, job: MapReduceJob, class_path: str, work: Path, log: Path) -> None:
        self._log = log
        options = {
            "mapreduce.job.queuename": job.queue,
            "mapreduce.job.name": job.name,
            **_OPTIONS.get(job.program, {}),
        }
        options |= dict(job.options)
        arguments = [argument.replace("{work}", work.as_uri()) for argument in job.arguments]
        command: list[str | Path] = [
            find_java(), *JVM_FLAGS, "-Xmx256m", "-cp", class_path, *_MAIN.get(job.program, (_EXAMPLES, job.program)),
            *(f"-D{key}={value}" for key, value in options.items()), *arguments,
        ]  # fmt: skip
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd=work, env=dict(os.environ)
            )

    def app_id(self) -> str | None:
        found = _SUBMITTED.search(self._log.read_text(errors="replace"))
        return found[1] if found else None

    def failed(self) -> str | None:
        """Why there will never be an application."""
        if self._process.poll() is None or self.app_id():
            return None
        return f"Hadoop's client ended with {self._process.returncode}: {self._log.read_text(errors='replace')[-400:]}"

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()
