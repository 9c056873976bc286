"""docs/semantics.md, "When MapReduce asks for reduces", against what the AM of a real MapReduce job says in its log."""

import itertools
import json
import re
from datetime import datetime
from pathlib import Path

import pytest

from heddle.cli.main import run
from heddle.yarn.testbed.local.cluster import LocalCluster

MB = 1024  # the AM, each map and each reduce: three tasks at a time beside the AM
MAPS, REDUCES = 8, 3
OPTIONS = ("mapreduce.map.memory.mb", "mapreduce.reduce.memory.mb", "yarn.app.mapreduce.am.resource.mb")
AT = r"^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) .*"
LOOK = re.compile(
    r"completedMapPercent (\S+) totalResourceLimit:<memory:(\d+).*"
    r" finalReduceResourceLimit:<memory:(-?\d+).* netScheduledMapResource:<memory:(\d+).*"
    r" netScheduledReduceResource:<memory:(\d+)"
)


def what_the_allocator_said(cluster: LocalCluster, application: str) -> list[str]:
    """That thread's lines of the AM's log: other threads write between a look and what it leads to."""
    (log,) = cluster.folder.rglob(f"{application}/container_*_000001/syslog")
    return [line for line in log.read_text().splitlines() if " [RMCommunicator Allocator] " in line]


@pytest.fixture
def lines(cluster: LocalCluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Of the allocator, after a job."""
    mixture = tmp_path / "jobs.yaml"
    options = ", ".join(f"{name}: {MB}" for name in OPTIONS)
    mixture.write_text(
        "jobs:\n  - {kind: mapreduce, program: sleep, "
        f"arguments: [-m, {MAPS}, -r, {REDUCES}, -mt, 4000, -rt, 500], options: {{{options}}}}}\n"
    )
    assert run(["yarn", "run", str(mixture), "--name", "session", "--json"]) == 0
    (job,) = json.loads(capsys.readouterr().out)["jobs"]
    return what_the_allocator_said(cluster, job["app_id"])


def test_the_rule_is_hadoops(lines: list[str]) -> None:
    looks = 0
    for line, following in itertools.pairwise(lines):
        if (look := LOOK.search(line)) is None:
            continue
        looks += 1
        share, (limit, final, of_maps, of_reduces) = float(look[1]), map(int, look.groups()[1:])
        done = round(share * MAPS)
        ideal = min(limit * done // MAPS, limit * 500 // 1000)
        for_reduces = limit - of_maps if limit - ideal >= of_maps else ideal
        assert abs(final - for_reduces) <= 1, line  # Hadoop multiplies by a float
        more = min((for_reduces - of_reduces) // MB, REDUCES - of_reduces // MB)
        assert (f"Ramping up {more}" in following) == (more > 0), following
    assert looks > 0
    asking = [number for number, line in enumerate(lines) if "Ramping up" in line]
    assert "Ramping up all remaining reduces" in lines[asking[-1]]
    for number in asking:  # it is sent with the next heartbeat
        sent = next(line for line in lines[number:] if " ask=" in line)
        assert (at(sent) - at(lines[number])).total_seconds() > 0.5, sent


def at(line: str) -> datetime:
    found = re.match(AT, line)
    assert found is not None, line
    return datetime.strptime(found[1], "%Y-%m-%d %H:%M:%S,%f")
