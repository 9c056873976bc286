"""Runs jobs on a real YARN at their times, and waits for all of them.

Times are the ResourceManager's, in ms from the first submission. A job that waits for others is submitted when they
have ended. If this is interrupted, the applications that it submitted, and only those, are killed.
"""

from __future__ import annotations

import math
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from heddle.model.errors import RunRefused
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.rm_answers import ENDED_STATES
from heddle.yarn.live.wire import YarnError
from heddle.yarn.testbed.local.cluster import LocalCluster
from heddle.yarn.testbed.mixture import ProgramJob, RealJob, SparkJob
from heddle.yarn.testbed.programs.client_process import ClientProcess
from heddle.yarn.testbed.programs.mapreduce import submit_mapreduce
from heddle.yarn.testbed.programs.spark import cause_of_failure, spark_home, submit_spark
from heddle.yarn.testbed.replay.plan import ReplayJob
from heddle.yarn.testbed.replay.submit import Submitter

POLL_S: Final = 0.5
PATIENCE_S: Final = 120.0  # with a ResourceManager that does not answer
GAVE_UP: Final = "GAVE_UP"
NOT_STARTED: Final = "NOT_STARTED"
NEVER_RAN: Final = (NOT_STARTED, "FORGOTTEN", GAVE_UP)


@dataclass
class JobRun:
    """What became of one job. Instants in ms since 1970 by the RM's clock; null: not reached."""

    name: str
    kind: str
    app_id: str | None = None
    submitted_at_ms: int | None = None
    started_at_ms: int | None = None  # its AM was launched
    finished_at_ms: int | None = None
    outcome: str = "not submitted"  # then the application's state, at the end its final status
    diagnostics: str = ""
    memory_mb_seconds: int | None = None  # YARN's own accounts
    vcore_seconds: int | None = None

    @property
    def ended(self) -> bool:
        return self.finished_at_ms is not None or self.outcome in NEVER_RAN

    def as_json(self) -> dict[str, Any]:
        known = self.submitted_at_ms is not None and self.finished_at_ms is not None
        jct_ms = (self.finished_at_ms or 0) - (self.submitted_at_ms or 0)
        return {**asdict(self), "jct_s": jct_ms / 1000 if known else None}


@dataclass(frozen=True)
class Workplace:
    """Where jobs are run: the RM, a folder that all nodes see, and what submitting needs."""

    client: RmClient
    staging: Path
    master_jar: Path
    cluster: LocalCluster | None = None  # whose configuration the clients of Hadoop and Spark take

    @property
    def history(self) -> str | None:
        """Where the cluster's history server answers, as far as is known."""
        return None if self.cluster is None else self.cluster.layout.history

    @property
    def data(self) -> str:
        """The line of a replay's plan that says where nodes serve data; "": they do not."""
        if self.cluster is None or not self.cluster.layout.hosts:
            return ""
        layout = self.cluster.layout
        return f"data {layout.data_port} {','.join(layout.node_host(node) for node in range(layout.nodes))}"


def run_jobs(
    jobs: list[RealJob],
    workplace: Workplace,
    say: Callable[[str], None],
    poll: Callable[[], None] = lambda: None,
    give_up_s: float = math.inf,
) -> list[JobRun]:
    """Runs them all to their end. `poll` is called along, about twice a second.

    After `give_up_s` what is left of them is killed: such runs have the outcome GAVE_UP.
    """
    if workplace.cluster is None and any(isinstance(job, ProgramJob) for job in jobs):
        raise RunRefused("MapReduce and Spark jobs need the configuration of the cluster: name a local cluster")
    missing = [] if workplace.cluster is None else workplace.cluster.layout.lacks(job.queue for job in jobs)
    if missing:
        names = " and no queue ".join(missing)
        raise RunRefused(f"this cluster has no queue {names}: `heddle yarn up --queue NAME=PERCENT ...` creates queues")
    if any(isinstance(job, SparkJob) for job in jobs):
        spark_home()
    workplace.staging.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="run-", dir=workplace.staging))
    folder.chmod(0o755)
    running = _Running(jobs, workplace, folder, say)
    try:
        while not running.step():
            running.tolerate(poll)
            if running.age_s() > give_up_s:
                running.give_up()
                break
            time.sleep(POLL_S)
    except BaseException:
        running.kill()
        raise
    finally:
        running.close()
        shutil.rmtree(folder, ignore_errors=True)
    return running.runs


class _Running:
    def __init__(self, jobs: list[RealJob], workplace: Workplace, folder: Path, say: Callable[[str], None]) -> None:
        self._jobs = jobs
        self._workplace, self._folder, self._say = workplace, folder, say
        self.runs = [JobRun(job.name, _kind(job)) for job in jobs]
        self._submitter = Submitter(workplace.client, folder, workplace.master_jar, workplace.data)
        self._clients: dict[int, ClientProcess] = {}
        self._unknown_s: dict[str, float] = {}  # applications that the ResourceManager does not know, since when
        self._began_s = time.monotonic()
        self._silent_s: float | None = None  # since when the ResourceManager does not answer

    def step(self) -> bool:
        """Submits what is due and looks at what runs. True when nothing is left."""
        self.tolerate(self._submit_due)
        self.tolerate(self._look)
        return all(run.ended for run in self.runs)

    def tolerate(self, call: Callable[[], None]) -> None:
        """A ResourceManager may be away for a while; it may not say no."""
        try:
            call()
        except YarnError as error:
            if error.status is not None and error.status < 500:
                raise
            now_s = time.monotonic()
            if self._silent_s is None:
                self._silent_s = now_s
            if now_s - self._silent_s > PATIENCE_S:
                raise

    def _submit_due(self) -> None:
        now_ms = 1000 * (time.monotonic() - self._began_s)
        for number, job in enumerate(self._jobs):
            run = self.runs[number]
            due = job.submit_at_ms <= now_ms and all(self.runs[other].ended for other in job.after)
            if due and run.outcome == "not submitted":
                self._submit(number, job, run)

    def _submit(self, number: int, job: RealJob, run: JobRun) -> None:
        if isinstance(job, ReplayJob):
            run.app_id = self._submitter.submit(job, number)
            self._silent_s = None
        else:
            log = self._folder / f"client-{number}.log"
            cluster = self._workplace.cluster
            assert cluster is not None
            if isinstance(job, SparkJob):
                self._clients[number] = submit_spark(job, cluster, self._folder, log)
            else:
                self._clients[number] = submit_mapreduce(job, cluster, self._folder, log)
        run.outcome = "SUBMITTED"

    def _look(self) -> None:
        for number, client in self._clients.items():
            run = self.runs[number]
            if run.app_id is None:
                run.app_id = client.app_id()
                if (why := client.failed()) is not None:
                    run.outcome, run.diagnostics = NOT_STARTED, why
        for run in self.runs:
            if run.app_id is not None and not run.ended:
                self._look_at(run, run.app_id)

    def _look_at(self, run: JobRun, app_id: str) -> None:
        answer = self._workplace.client.app(app_id)
        self._silent_s = None
        if answer is None:  # submitted this very moment; or the RM was restarted and does not remember, or not yet
            if time.monotonic() - self._unknown_s.setdefault(app_id, time.monotonic()) > PATIENCE_S:
                run.outcome, run.diagnostics = "FORGOTTEN", f"the ResourceManager does not know {app_id}"
            return
        self._unknown_s.pop(app_id, None)
        app = answer["app"]
        run.submitted_at_ms = int(app["startedTime"])
        run.started_at_ms = int(app.get("launchTime") or 0) or None
        if app["state"] not in ENDED_STATES:
            run.outcome = app["state"]
            return
        run.finished_at_ms = int(app["finishedTime"])
        run.outcome = app["finalStatus"]
        run.diagnostics = self._why(run, app) if run.outcome != "SUCCEEDED" else ""
        run.memory_mb_seconds, run.vcore_seconds = int(app["memorySeconds"]), int(app["vcoreSeconds"])
        left = sum(not other.ended for other in self.runs)
        self._say(f"{run.name}: {run.outcome.lower()} after {run.as_json()['jct_s']:.1f} s, {left} left")

    def _why(self, run: JobRun, app: dict[str, Any]) -> str:
        told = str(app.get("diagnostics", "")).strip()
        cluster = self._workplace.cluster
        cause = cause_of_failure(cluster, run.app_id) if run.app_id and run.kind == "spark" and cluster else None
        return f"{cause}; {told}" if cause else told

    def age_s(self) -> float:
        return time.monotonic() - self._began_s

    def give_up(self) -> None:
        self.kill()
        for run in self.runs:
            if not run.ended:
                self._say(f"{run.name}: given up after {self.age_s():.0f} s, {run.outcome.lower()}")
                run.outcome, run.diagnostics = GAVE_UP, f"was {run.outcome} after {self.age_s():.0f} s"

    def kill(self) -> None:
        self.close()  # no client may submit anything after this
        for number, client in self._clients.items():
            self.runs[number].app_id = self.runs[number].app_id or client.app_id()
        for run in self.runs:
            if run.app_id is not None and not run.ended:
                try:
                    self._workplace.client.kill(run.app_id)
                except YarnError as error:
                    self._say(f"could not kill {run.app_id}: {error}")

    def close(self) -> None:
        for client in self._clients.values():
            client.stop()


def _kind(job: RealJob) -> str:
    if isinstance(job, ReplayJob):
        return "replay"
    return "spark" if isinstance(job, SparkJob) else "mapreduce"
