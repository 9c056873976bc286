"""Records as the commands read them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from heddle.cli.output import say

if TYPE_CHECKING:
    from heddle.record.run import Run


def recorded_run(folder: Path) -> Run:
    """The run of a record. For a partial one, say how far it goes: everything else is about that time only."""
    from heddle.record.files import read_record
    from heddle.record.manifest import PARTIAL

    run = read_record(folder)
    if run.manifest["outcome"] == PARTIAL:
        say(f"{folder} is partial: {run.manifest['reason']}; it lacks containers that had not ended by then")
    return run
