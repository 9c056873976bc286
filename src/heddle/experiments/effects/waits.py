"""What jobs waited for in a run of the matrix, computed from the run's own record, and kept beside the results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from heddle.analysis.waiting.by_reason import Waits, waits_by_reason
from heddle.experiments.sweep_run import SweepRun
from heddle.model.nested_text import from_json
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
        """None, too, of a file that is not as `put` leaves it: its run is explained again."""
        try:
            kept = from_json((self._folder / f"{one.key}.json").read_bytes())
            return Waits(int(kept["jobs"]), {str(why): int(ms) for why, ms in kept["ms"].items()})
        except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError):
            return None

    def put(self, one: SweepRun, waits: Waits) -> None:
        content = {"jobs": waits.jobs, "ms": waits.ms}
        write_whole(self._folder / f"{one.key}.json", json.dumps(content), durable=True)
