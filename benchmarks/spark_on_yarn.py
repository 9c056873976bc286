"""Spark on a real YARN whose nodes are on this machine, so that their Python is ours; elsewhere it is an archive
(docs/scale.md)."""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Final
from unittest.mock import patch

from heddle.model.code_folders import cache_folder
from heddle.model.errors import RunRefused
from heddle.yarn.testbed.local.cluster import LocalCluster, bring_up, take_down
from heddle.yarn.testbed.local.java import JVM_FLAGS, find_java
from heddle.yarn.testbed.local.layout import Layout

NAME: Final = "engines"
# An executor of 512 + 640 MB beside an application master of 512 + 384 MB fits a node of 2,048 MB.
NODES, NODE_MB = 2, 2048
_SETTINGS: Final = {
    "spark.executor.instances": str(NODES),
    "spark.executor.cores": "1",
    "spark.executor.memory": "512m",
    "spark.executor.memoryOverhead": "640m",
    "spark.yarn.am.memory": "512m",
    "spark.ui.enabled": "false",
    "spark.driver.memory": "512m",
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    "spark.executor.extraJavaOptions": " ".join(JVM_FLAGS),
    "spark.executorEnv.SPARK_LOCAL_IP": "127.0.0.1",
}


def spark_environment(cluster: LocalCluster, folder: Path) -> dict[str, str]:
    """Variables with which Spark runs on the cluster; its settings are written to the folder, which must not go."""
    found = find_spec("pyspark")
    if found is None or found.origin is None:
        raise RunRefused("pyspark is not installed: pip install 'heddle[spark]'")
    settings = _SETTINGS | {
        "spark.yarn.jars": f"local:{Path(found.origin).parent}/jars/*",
        "spark.yarn.stagingDir": folder.as_uri(),
        "spark.executorEnv.NUMBA_CACHE_DIR": str(cache_folder()),  # a container's home is not ours
    }
    (folder / "spark-defaults.conf").write_text("".join(f"{key} {value}\n" for key, value in settings.items()))
    return {
        "SPARK_CONF_DIR": str(folder),
        "HADOOP_CONF_DIR": str(cluster.conf),
        "JAVA_HOME": str(find_java().parent.parent),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }


@contextmanager
def local_yarn() -> Iterator[None]:
    """A YARN of two nodes, and this process with what Spark needs to run on it."""
    cluster = bring_up(NAME, Layout(nodes=NODES, node_memory_mb=NODE_MB), print)
    try:
        with tempfile.TemporaryDirectory() as folder:
            variables = spark_environment(cluster, Path(folder))
            with patch.dict(os.environ, variables):
                yield
    finally:
        take_down(NAME)
