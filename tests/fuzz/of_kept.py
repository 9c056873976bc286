"""What heddle itself has written and opens again: baselines, journals, forecasts, trials, what a controller shows."""

from __future__ import annotations

import os
from fcntl import LOCK_EX, flock
from pathlib import Path
from unittest.mock import patch

from heddle.check.since import read_earlier
from heddle.dashboard.controls import look_at
from heddle.dashboard.forecasts import Forecasts, eta_rows
from heddle.experiments.sweep_store import SweepStore
from heddle.tune.journal import Journal as Trials
from heddle.twin.keeping import cases, read_kept
from heddle.twin.shadow_time import ShadowTime
from heddle.yarn.live.steering.desk import Desk
from heddle.yarn.live.things_seen import AppSeen
from heddle.yarn.observe.journal import read_lines
from heddle.yarn.observe.live_record import export, record_of
from heddle.yarn.observe.seen import read_seen
from heddle.yarn.observe.tallies import use_of
from heddle.yarn.testbed.local.cluster import STATE_FILE, find_cluster
from heddle.yarn.testbed.local.folders import cluster_folder

from .in_a_folder import file


def _journal(path: Path) -> None:
    seen = read_seen(read_lines(path), path.name)
    record_of(seen, policy="stock", workload="w", started_by=[])
    export(seen, {})


def _shown(path: Path) -> None:
    with path.with_name("live.lock").open("w") as lock:
        flock(lock, LOCK_EX)  # as if a controller lived that shows this
        look_at(Desk(path.parent))


def _shadow_time(path: Path) -> None:
    assert ShadowTime(Desk(path.parent), print).seconds >= 0


def _local_cluster(path: Path) -> None:
    with patch.dict(os.environ, XDG_STATE_HOME=str(path.parent)):
        folder = cluster_folder("a")
        folder.mkdir(parents=True)
        path.rename(folder / STATE_FILE)
        find_cluster("a")


def _forecasts(path: Path) -> None:
    app = AppSeen("application_1_0001", "root.default", "u", True, 0, 0, True, "", ())
    eta_rows(Forecasts(path.parent, lambda: 0.0).look(0.0), [app])


TARGETS = {
    "baseline": file("baseline.json", lambda path: Desk(path.parent).load()),
    "beat": file("beat", lambda path: Desk(path.parent).beat_age_s()),
    "shadow-time": file("choosing.json", _shadow_time),
    "shown": file("live.json", _shown),
    "local-cluster": file(STATE_FILE, _local_cluster),
    "journal": file("journal.jsonl", _journal),
    "samples": file("samples.jsonl", use_of),
    "kept-forecasts": file("forecasts.jsonl", lambda path: cases(read_kept(read_lines(path), path.name), {"a": 9}, "")),
    "shown-forecasts": file("forecasts.jsonl", _forecasts),
    "trials": file("trials.jsonl", lambda path: Trials(path.parent)),
    "sweep-plan": file("sweep.json", lambda path: SweepStore(path.parent).plan()),
    "earlier-check": file("check.json", read_earlier),
}
