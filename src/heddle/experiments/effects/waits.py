"""What jobs waited for in a run of the matrix, computed from the run's own record, and kept beside the results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from heddle.analysis.waiting.by_reason import Waits, waits_by_reason
from heddle.experiments.sweep_run import SweepRun
from heddle.model.whole_files import write_whole
from heddle.run import simulate

WAITS: Final = "waits"


def waits_of(one: SweepRun) -> Waits:
    """The run once more, recorded."""
    jobs = one.source.jobs(one.seed)
    run = simulate(jobs, one.cluster, one.policy, seed=one.seed, record=True, executor=one.executor)
    return waits_by_reason(run)


class WaitStore:
    """A file for each explained run, under the name of its configuration."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / WAITS
        self._folder.mkdir(parents=True, exist_ok=True)

    def get(self, one: SweepRun) -> Waits | None:
        path = self._folder / f"{one.key}.json"
        return Waits(**json.loads(path.read_bytes())) if path.exists() else None

    def put(self, one: SweepRun, waits: Waits) -> None:
        content = {"jobs": waits.jobs, "ms": waits.ms}
        write_whole(self._folder / f"{one.key}.json", json.dumps(content), durable=True)
