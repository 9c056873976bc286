"""One run of Hadoop's scheduler load simulator."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from heddle.model.cluster import Cluster
from heddle.model.errors import CheckFailed
from heddle.model.resources import MEMORY, MILLI, VCORES
from heddle.model.workload import Workload
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build
from heddle.traces.formats.sls import write_sls
from heddle.yarn.testbed.local.jars import hadoop_home, lib_of, load_simulator_jars
from heddle.yarn.testbed.local.java import JVM_FLAGS, find_java
from heddle.yarn.testbed.local.layout import HOST
from heddle.yarn.testbed.local.own_jar import own_jar
from heddle.yarn.testbed.sls.settings import MAIN_CLASS, Scheduler, write_settings

SOURCE: Final = Path(__file__).with_name("SchedulerLoad.java")
_HEAP_MB: Final = 768
# All of a run goes by the clock, but its first job makes Java load and compile what it needs and is late by that. So
# one that does not count goes ahead.
WARM_UP_JOB: Final = "warming-up"
WARM_UP_MS: Final = 15_000


@dataclass(frozen=True)
class JobTimes:
    """When a job was submitted and when it ended, in ms from the first submission of its run."""

    submit_at_ms: int
    ended_at_ms: int

    @property
    def jct_s(self) -> float:
        return (self.ended_at_ms - self.submit_at_ms) / 1000


class LoadSimulator:
    """A workload on a cluster, ready to be run by SLS as often as one likes; `folder` is for its files."""

    def __init__(
        self,
        workload: Workload,
        cluster: Cluster,
        scheduler: Scheduler,
        heartbeats_ms: tuple[int, int],
        hadoop: str,
        folder: Path,
    ) -> None:
        self._folder = folder
        self._jobs = workload.n_jobs
        hadoop_jars = f"{lib_of(hadoop_home(hadoop))}/*:{load_simulator_jars(hadoop)}/*"
        self._class_path = f"{folder}:{own_jar(SOURCE, hadoop, hadoop_jars)}:{hadoop_jars}"
        write_settings(folder, cluster, scheduler, heartbeats_ms)
        (folder / "jobs.json").write_text(_trace(workload))
        write_nodes(folder, cluster)

    def run(self, number: int, give_up_s: float) -> dict[str, JobTimes]:
        """Times of every job by its name; CheckFailed says why there are none."""
        times_file = self._folder / f"run-{number}" / "times.tsv"
        times_file.parent.mkdir()
        log = self._folder / f"run-{number}.log"
        command: list[str | Path] = [
            find_java(), *JVM_FLAGS, f"-Xmx{_HEAP_MB}m", "-Djava.net.preferIPv4Stack=true",
            f"-Djdk.net.hosts.file={self._folder / 'hosts'}", f"-Djava.io.tmpdir={self._folder}",
            "-cp", self._class_path, MAIN_CLASS, self._folder / "jobs.json", self._folder / "nodes.json", times_file,
        ]  # fmt: skip
        with log.open("wb") as file:
            ran = subprocess.Popen(command, stdout=file, stderr=file, cwd=self._folder, start_new_session=True)
            try:
                code = ran.wait(give_up_s)
            except BaseException as error:
                os.killpg(ran.pid, signal.SIGKILL)
                ran.wait()
                if isinstance(error, subprocess.TimeoutExpired):
                    raise CheckFailed([f"the load simulator did not end within {give_up_s:.0f} s"]) from None
                raise
        times = _times(times_file)
        if code or len(times) < self._jobs:
            end = "\n".join(log.read_text(errors="replace").splitlines()[-8:])
            ended = f"{len(times)} of {self._jobs} jobs ended"
            raise CheckFailed([f"the load simulator failed with exit code {code}, {ended}:\n{end}"])
        return times


def _trace(workload: Workload) -> str:
    first = workload.jobs[0]
    stages = [StageSpec(kind, (1, MILLI), [TaskSpec(1000)]) for kind in ("map", "reduce")]
    ahead = JobSpec(
        WARM_UP_JOB, 0, stages, (1, MILLI), queue=workload.queues[first["queue"]], user=workload.users[first["user"]]
    )
    later = workload.jobs.copy()
    later["submit_at_ms"] += WARM_UP_MS
    return write_sls(build(WARM_UP_JOB, [ahead]))[0] + write_sls(replace(workload, jobs=later))[0]


def _times(file: Path) -> dict[str, JobTimes]:
    if not file.exists():
        return {}
    rows = [line.rsplit("\t", 2) for line in file.read_text(encoding="utf-8").splitlines()]
    rows = [row for row in rows if row[0] != WARM_UP_JOB]
    began = min((int(submitted) for _, submitted, _ in rows), default=0)
    return {name: JobTimes(int(submitted) - began, int(ended) - began) for name, submitted, ended in rows}


def write_nodes(folder: Path, cluster: Cluster) -> None:
    """Racks with their nodes; what may be promised is all that SLS knows of a node. All are at this host's address."""
    racks: dict[str, list[dict[str, str]]] = {}
    for node in cluster.nodes:
        size = {"memory-mb": str(node.allowance[MEMORY]), "vcores": str(node.allowance[VCORES] // MILLI)}
        racks.setdefault(node.rack, []).append({"node": node.name, **size})
    text = "\n".join(json.dumps({"rack": rack, "nodes": nodes}, indent=1) for rack, nodes in racks.items())
    (folder / "nodes.json").write_text(text + "\n")
    names = [socket.gethostname(), "localhost", *(node.name for node in cluster.nodes)]
    (folder / "hosts").write_text("".join(f"{HOST} {name}\n" for name in names))
