"""Submits replayed jobs over REST, without a Java client.

The files that containers need are put into a staging folder that every node must see under the same path: on a cluster
of this machine any folder, elsewhere a shared one. HDFS is not written to.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, Final

from heddle.model.whole_files import whole_file, write_whole
from heddle.yarn.live.client import RmClient
from heddle.yarn.testbed.local.java import JVM_FLAGS
from heddle.yarn.testbed.replay.master_jar import MAIN_CLASS
from heddle.yarn.testbed.replay.plan import ReplayJob

SCRIPT: Final = Path(__file__).with_name("task.py")
AM_HEAP_MB: Final = 96
# The parts of yarn.application.classpath as Hadoop ships it; nodes fill in their own folders.
CLASS_PATH: Final = "<CPS>".join(
    (
        "./*",
        "{{HADOOP_CONF_DIR}}",
        *(
            f"{{{{HADOOP_{part.upper()}_HOME}}}}/share/hadoop/{part}/{jars}"
            for part in ("common", "hdfs", "yarn")
            for jars in ("*", "lib/*")
        ),
    )
)


class Submitter:
    """Puts files into place and submits jobs, each with an AM of its own."""

    def __init__(self, client: RmClient, staging: Path, master_jar: Path, data: str = "") -> None:
        """`data`: the line of a plan that says where nodes serve data; "": they do not."""
        self._client, self._data = client, data
        self._staging = staging.resolve()
        self._staging.mkdir(parents=True, exist_ok=True)
        self._jar = self._copy(master_jar, "replay.jar")
        self._script = self._copy(SCRIPT, "task.py")

    def submit(self, job: ReplayJob, number: int) -> str:
        """Returns the application's id."""
        plan = self._staging / f"plan-{number}.txt"
        script = _resource(self._script)
        first = f"script {script['resource']} {script['size']} {script['timestamp']}"
        write_whole(plan, "\n".join((first, *((self._data,) if self._data else ()), *job.lines)) + "\n")
        app_id = self._client.new_application()
        files = {"replay.jar": self._jar, "plan.txt": plan}
        self._client.submit(
            {
                "application-id": app_id,
                "application-name": job.name,
                "application-type": "HEDDLE",
                "queue": job.queue,
                "priority": job.priority,
                "max-app-attempts": 1,
                **({"application-tags": {"tag": list(job.tags)}} if job.tags else {}),
                "resource": {"memory": job.am[0], "vCores": job.am[1]},
                "am-container-spec": {
                    "local-resources": {
                        "entry": [{"key": key, "value": _resource(file)} for key, file in files.items()]
                    },
                    "environment": {"entry": [{"key": "CLASSPATH", "value": CLASS_PATH}]},
                    "commands": {"command": _command()},
                },
            }
        )
        return app_id

    def _copy(self, file: Path, name: str) -> Path:
        copied = self._staging / name
        with whole_file(copied) as partial:  # others may write to this folder, too: no link there is followed
            shutil.copyfile(file, partial)
        return copied


def _command() -> str:
    flags = " ".join((*JVM_FLAGS, f"-Xmx{AM_HEAP_MB}m"))
    return f"{{{{JAVA_HOME}}}}/bin/java {flags} {MAIN_CLASS} 1><LOG_DIR>/stdout 2><LOG_DIR>/stderr"


def _resource(file: Path) -> dict[str, Any]:
    """A file as YARN wants it named: it refuses one whose size or time is another when it is fetched."""
    found = file.stat()
    return {
        "resource": file.as_uri(),
        "type": "FILE",
        "visibility": "APPLICATION",
        "size": found.st_size,
        "timestamp": found.st_mtime_ns // 1_000_000,
    }
