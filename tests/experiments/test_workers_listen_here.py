"""What `--on dask` and `--on spark` start here is reached from this machine alone: it asks for no password."""

import json
import os
import subprocess
import sys

import pytest

from heddle.model.errors import HeddleError
from heddle.yarn.testbed.local.java import find_java

psutil = pytest.importorskip("psutil")

LISTENING = """
import json, sys, psutil
from contextlib import suppress
from heddle.experiments.engines import engine_named
engine = engine_named(sys.argv[1])
me = psutil.Process()
family = [me, *me.children(recursive=True)]
there = []
for one in family:
    with suppress(psutil.NoSuchProcess):
        there += [at.laddr for at in one.net_connections() if at.status == psutil.CONN_LISTEN]
print(json.dumps([sorted({at.ip for at in there}), engine.about]))
engine.close()
"""


@pytest.mark.parametrize("on", ["dask:1", "spark:local[1]"])
def test_on_loopback_alone(on: str) -> None:
    pytest.importorskip({"dask": "distributed", "spark": "pyspark"}[on.partition(":")[0]])
    if on.startswith("spark"):
        try:
            find_java()
        except HeddleError as error:
            pytest.skip(str(error))
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK_"))}
    command = [sys.executable, "-c", LISTENING, on]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    addresses, about = json.loads(ran.stdout.splitlines()[-1])
    assert {address.removeprefix("::ffff:") for address in addresses} == {"127.0.0.1"}
    assert "http://127.0.0.1" in about or "localhost" in about
