"""Runs MapReduce programs with Hadoop's own client."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from heddle.yarn.testbed.local.cluster import LocalCluster
from heddle.yarn.testbed.local.java import JVM_FLAGS, find_java
from heddle.yarn.testbed.mixture import MapReduceJob
from heddle.yarn.testbed.programs.client_process import ClientProcess

_EXAMPLES: Final = "org.apache.hadoop.examples.ExampleDriver"
_MAIN: Final = {"sleep": ("org.apache.hadoop.mapreduce.SleepJob",)}  # it is not among the examples
# On a local file system terasort cannot write its partitions where it wants to.
_OPTIONS: Final = {"terasort": {"mapreduce.terasort.simplepartitioner": "true"}}


def submit_mapreduce(job: MapReduceJob, cluster: LocalCluster, work: Path, log: Path) -> ClientProcess:
    """Starts the client; it waits for its job, and may be stopped once that is submitted."""
    options = {
        "mapreduce.job.queuename": job.queue,
        "mapreduce.job.name": job.name,
        **_OPTIONS.get(job.program, {}),
        **dict(job.options),
    }
    command: list[str | Path] = [
        find_java(), *JVM_FLAGS, "-Xmx256m", "-cp", cluster.class_path(),
        *_MAIN.get(job.program, (_EXAMPLES, job.program)),
        *(f"-D{key}={value}" for key, value in options.items()), *job.arguments_in(work),
    ]  # fmt: skip
    return ClientProcess("Hadoop's client", command, os.environ, work, log)
