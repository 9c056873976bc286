"""Runs Spark programs in cluster mode with the spark-submit of the installed pyspark.

Spark's jars are not copied: nodes of a local cluster find them where they are installed. All that a job writes lies in
the run's folder or in its containers'.
"""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from heddle.model.errors import RunRefused
from heddle.model.extras import how_to_install
from heddle.yarn.testbed.local.cluster import LocalCluster
from heddle.yarn.testbed.local.java import JVM_FLAGS, find_java
from heddle.yarn.testbed.local.layout import HOST
from heddle.yarn.testbed.mixture import SparkJob
from heddle.yarn.testbed.programs.client_process import ClientProcess

PROGRAMS_FILE: Final = Path(__file__).with_name("spark_programs.py")
_JAVA: Final = " ".join(JVM_FLAGS)
_TRACEBACK: Final = "Traceback (most recent call last):"
# As small as Spark allows, for a machine whose cores are few: 704 MB for the AM with the driver in it, as much for an
# executor. A JVM of less than 450 MB is refused; Python and the JVM's own memory lie outside the heap.
_SMALL: Final = {
    "spark.driver.memory": "512m",
    "spark.driver.memoryOverhead": "192m",
    "spark.executor.memory": "512m",
    "spark.executor.memoryOverhead": "192m",
    "spark.executor.cores": "1",
    "spark.executor.instances": "1",
    "spark.driver.extraJavaOptions": _JAVA,
    "spark.executor.extraJavaOptions": _JAVA,
    "spark.ui.enabled": "false",
    "spark.yarn.maxAppAttempts": "1",
}


def spark_home() -> Path:
    """Where pyspark is installed; RunRefused says how to get it."""
    found = find_spec("pyspark")
    if found is None or found.origin is None:
        raise RunRefused(f"Spark jobs need pyspark, which is not installed: {how_to_install('spark')} (about 490 MB)")
    return Path(found.origin).parent


def submit_spark(job: SparkJob, cluster: LocalCluster, work: Path, log: Path) -> ClientProcess:
    """Starts spark-submit; it ends when the application is submitted."""
    home = spark_home()
    scratch = work / "tmp"
    scratch.mkdir(exist_ok=True)
    options = {
        **_SMALL,
        "spark.yarn.jars": f"local:{home}/jars/*",
        "spark.yarn.stagingDir": work.as_uri(),
        "spark.yarn.submit.waitAppCompletion": "false",
        "spark.pyspark.python": sys.executable,
        # Nothing of it is to be reached from outside.
        "spark.yarn.appMasterEnv.SPARK_LOCAL_IP": HOST,
        "spark.executorEnv.SPARK_LOCAL_IP": HOST,
        **dict(job.options),
    }
    what = [job.application] if job.application is not None else [PROGRAMS_FILE, job.program]
    command: list[str | Path] = [
        home / "bin" / "spark-submit", "--master", "yarn", "--deploy-mode", "cluster",
        "--name", job.name, "--queue", job.queue,
        *(part for key, value in options.items() for part in ("--conf", f"{key}={value}")),
        *what, *job.arguments_in(work),
    ]  # fmt: skip
    # What the user has set for another Spark must not mix with this one.
    own = {key: value for key, value in os.environ.items() if not key.startswith(("SPARK_", "PYSPARK_", "HADOOP_"))}
    environment = {
        **own,
        "SPARK_HOME": str(home),
        "HADOOP_CONF_DIR": str(cluster.conf),
        "SPARK_LOCAL_IP": HOST,
        "JAVA_HOME": str(find_java().parent.parent),
        "SPARK_SUBMIT_OPTS": f"{_JAVA} -Xmx256m -Djava.io.tmpdir={scratch}",
    }
    return ClientProcess("spark-submit", command, environment, work, log)


def cause_of_failure(cluster: LocalCluster, app_id: str) -> str | None:
    """What the driver's program died of: YARN itself is told only that it ended with 1."""
    for said in sorted(cluster.folder.glob(f"node*/logs/{app_id}/container_*_000001/stdout"), reverse=True):
        _, found, trace = said.read_text(errors="replace").rpartition(_TRACEBACK)
        if found:
            return next((line for line in trace.splitlines() if line and not line[0].isspace()), None)
    return None
