"""`heddle yarn monitoring`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from heddle.cli.output import DONE, say


def monitoring(
    folder: Annotated[Path, typer.Argument(help="Output folder; created if it does not exist.")],
) -> int:
    """Write a Grafana dashboard and Prometheus alert rules for the metrics of `steer --metrics-port`.

    \b
    Examples:
      heddle yarn monitoring monitoring/
      heddle yarn steer --mode live --metrics-port 9464
    """
    from importlib.resources import files

    from heddle.model.whole_files import or_bad_input, write_whole

    with or_bad_input(folder):
        folder.mkdir(parents=True, exist_ok=True)
    for file in sorted((files("heddle.dashboard") / "monitoring").iterdir(), key=lambda one: one.name):
        write_whole(folder / file.name, file.read_bytes())
        say(f"wrote {folder / file.name}")
    return DONE
