"""`heddle yarn steer --choose` on a real YARN: what it would choose, what it chooses, and kill -9 in the middle."""

import json
import signal
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from heddle.yarn.live.client import RmClient
from heddle.yarn.live.steering.desk import desk_of
from heddle.yarn.testbed.local.cluster import LocalCluster
from heddle.yarn.testbed.replay.master_jar import master_jar
from heddle.yarn.testbed.replay.plan import ReplayJob
from heddle.yarn.testbed.replay.submit import Submitter
from yarn_steering.watching import wait_for

from .live import HEDDLE, STARTS_S, WITHIN_S, as_found, over_reserved, steering

STOCK, SIZING = "capacity", "capacity+usage-feedback(young_reports=2)"
# A cycle is long because the machine may be busy with everything else; an answer has half of it.
CHOOSING = ("--choose", "--candidate", SIZING, "--choose-every", "40s", "--horizon", "3m", "--rest", "1s")


def job(number: int) -> ReplayJob:
    """Four of its tasks run at once by what they reserve, all by what they use."""
    return replace(over_reserved(12 if number == 0 else 60), name=f"nightly-{number}")


def lines(record: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in record.read_text().splitlines() if line.endswith("}")]


def changes(record: Path) -> list[dict[str, Any]]:
    choices = (line["choice"] for line in lines(record) if line["choice"])
    return [choice for choice in choices if choice["chosen"] != choice["in_force"]]


@pytest.mark.long
def test_in_shadow_mode_then_live_then_kill_9(cluster: LocalCluster, rm: RmClient, tmp_path: Path) -> None:
    journal, shadow, live = tmp_path / "journal", tmp_path / "shadow.jsonl", tmp_path / "live.jsonl"
    journal.mkdir()
    choosing = (*CHOOSING, "--journal", str(journal))
    submitter = Submitter(rm, tmp_path / "staging", master_jar(cluster.layout.hadoop))
    apps = [submitter.submit(job(number), number) for number in range(8)]
    try:
        command = [*HEDDLE, "yarn", "steer", "--rm", cluster.layout.rm, "--policy", STOCK, "--record", str(shadow)]
        with subprocess.Popen([*command, *choosing]) as watching:
            try:
                wait_for(lambda: shadow.exists() and bool(changes(shadow)), STARTS_S)
                assert as_found(rm)
            finally:
                watching.send_signal(signal.SIGINT)
                assert watching.wait(60) == 0
        (would,) = changes(shadow)[:1]
        assert (would["in_force"], would["chosen"]) == (STOCK, SIZING)
        assert would["predicted"] < would["prospects"][0]["present"]
        with steering(cluster.layout.rm, live, STOCK, *choosing, "--yes") as controller:
            wait_for(lambda: live.exists() and bool(changes(live)), STARTS_S)
            # A step is recorded when it is over, so that the first one under the new policy may change nodes before.
            wait_for(lambda: SIZING in {line["policy"] for line in lines(live)} and not as_found(rm), STARTS_S)
            controller.send_signal(signal.SIGKILL)
            wait_for(lambda: as_found(rm), WITHIN_S)
        assert {line["policy"] for line in lines(live)} == {STOCK, SIZING}
        assert desk_of(cluster.layout.rm).load() is None
    finally:
        for app_id in apps:
            rm.kill(app_id)
