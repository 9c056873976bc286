"""Many runs with a bar on the terminal: how many are done, and how long the rest will take."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from heddle.cli.output import is_quiet

if TYPE_CHECKING:
    from heddle.experiments.engines import Engine

C = TypeVar("C")
R = TypeVar("R")


def run_with_progress(
    engine: Engine, function: Callable[[C], R], configurations: Sequence[C], before: int = 0
) -> Iterator[tuple[int, R]]:
    """The results as they come; `before` of the whole were done earlier. The bar is for terminals only."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    columns = (
        TextColumn("running"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("remaining"),
        TimeRemainingColumn(),
    )
    hidden = not console.is_terminal or is_quiet()
    # The pace is that of the last runs of a wide window: runs of slow and quick policies alternate.
    with Progress(*columns, console=console, transient=True, disable=hidden, speed_estimate_period=600) as progress:
        bar = progress.add_task("", total=before + len(configurations), completed=before)
        for number, result in engine.run(function, configurations):
            progress.advance(bar)
            yield number, result
