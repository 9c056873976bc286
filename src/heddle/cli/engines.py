"""`--on`: where runs are computed, the same for every command that has many."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated, Final

import typer

from heddle.cli.output import say

if TYPE_CHECKING:
    from heddle.experiments.engines import Engine

On = Annotated[
    str,
    typer.Option(
        help="Where to compute runs: local, local:PROCESSES, dask, dask://SCHEDULER:PORT, spark, spark:MASTER, or a "
        "plugged-in engine. local: one process per core, if that pays off."
    ),
]
until_the_command_ends: Final = ExitStack()


def engine_on(on: str) -> Engine:
    """The engine, reached and checked; it is left when the command ends, however it does."""
    from heddle.experiments.engines import Connected, engine_named

    engine = engine_named(on)
    if isinstance(engine, Connected):
        until_the_command_ends.callback(engine.close)
        say(engine.about)
    return engine
