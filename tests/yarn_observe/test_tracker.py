import json
import os
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from heddle.yarn.observe.journal import Journal
from heddle.yarn.observe.tallies import use_of
from heddle.yarn.observe.tracker import Tracker

NAME = "container_1700000000000_0001_01_000002"
HOLD_AND_BURN = """
import time
from contextlib import closing
held = b"x" * (80 << 20)
print(flush=True)
end = time.process_time() + 0.3
while time.process_time() < end: pass
print(flush=True)
time.sleep(60)
"""


def test_memory_and_cpu_of_a_container(tmp_path: Path) -> None:
    environment = {**os.environ, "CONTAINER_ID": NAME}
    with (
        closing(Tracker(Journal(tmp_path / "samples"))) as tracker,
        subprocess.Popen([sys.executable, "-c", HOLD_AND_BURN], env=environment, stdout=subprocess.PIPE) as process,
    ):
        assert process.stdout is not None
        process.stdout.readline()
        tracker.sample()
        assert tracker.containers >= 1  # those of a real cluster may run beside it
        process.stdout.readline()
        time.sleep(0.2)
        tracker.sample()
        process.kill()
        process.wait()
        tracker.sample()
    lines = [json.loads(text) for text in (tmp_path / "samples").read_text().splitlines()]
    (line,) = [line for line in lines if line["container"] == NAME]
    assert line["samples"] == 2
    assert 85 <= line["memory_max_mb"] <= 110
    assert 300 <= line["cpu_ms"] <= 1500
    assert line["received_bytes"] == line["sent_bytes"] == 0
    lived_ms = line["until_ms"] - line["since_ms"]
    memory_mb_ms, millicores_ms, received_bytes = use_of(tmp_path / "samples")[NAME]
    assert received_bytes == 0
    assert memory_mb_ms == pytest.approx(lived_ms * line["memory_max_mb"], rel=0.2)
    assert millicores_ms == 1000 * line["cpu_ms"]


def test_the_agent_does_not_load_the_engine(tmp_path: Path) -> None:
    """It runs on every worker: < 60 MB."""
    code = (
        "import sys; from heddle.cli.main import run;"
        f"code = run(['yarn', 'track', {str(tmp_path / 's')!r}, '--for', '0.3', '--every', '0.1', '--json']);"
        "heavy = {'numba', 'polars', 'numpy', 'pyarrow'} & set(sys.modules); assert not heavy, heavy; sys.exit(code)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    cost = json.loads(ran.stdout)
    assert cost["samples"] >= 1
    assert cost["peak_rss_mb"] < 60
