"""Many runs with a bar on the terminal: how many are done, and how long the rest will take. Elsewhere, lines."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from heddle.cli.output import is_quiet, say

if TYPE_CHECKING:
    from heddle.experiments.attempts import Failed
    from heddle.experiments.engines import Engine

LINE_EVERY_S = 10.0  # where there is no terminal

C = TypeVar("C")
R = TypeVar("R")


def run_with_progress(
    engine: Engine, function: Callable[[C], R], configurations: Sequence[C]
) -> Iterator[tuple[int, R]]:
    """The results as they come; the first error ends it."""
    from heddle.experiments.attempts import results_or_raise

    return results_or_raise(attempts_with_progress(engine, function, configurations))


def attempts_with_progress(
    engine: Engine, function: Callable[[C], R], configurations: Sequence[C], before: int = 0
) -> Iterator[tuple[int, R | Failed]]:
    """What came of each; `before` of the whole were done earlier. Without a terminal, a line now and then."""
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
        total = before + len(configurations)
        bar = progress.add_task("", total=total, completed=before)
        said_s = time.monotonic()
        for done, (number, result) in enumerate(engine.run(function, configurations), start=before + 1):
            progress.advance(bar)
            if not console.is_terminal and done < total and time.monotonic() - said_s >= LINE_EVERY_S:
                said_s = time.monotonic()
                say(f"{done} of {total} runs are done")
            yield number, result
