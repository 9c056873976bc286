"""The runs of a plan, kept one by one: what is there already is not run again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heddle.cli.inputs import compile_with_message
from heddle.cli.output import say
from heddle.cli.progress import attempts_with_progress

if TYPE_CHECKING:
    import polars as pl

    from heddle.experiments.engines import Engine
    from heddle.experiments.sweep_file import Sweep
    from heddle.experiments.sweep_store import SweepStore


def rows_of(plan: Sweep, store: SweepStore, engine: Engine) -> pl.DataFrame:
    """A row for each run, in the order of the plan."""
    import polars as pl

    from heddle.experiments.attempts import results_or_raise
    from heddle.experiments.sweep_run import run_row
    from heddle.experiments.sweep_store import parameter_types

    store.open_for(plan, plan.name)
    done = store.done()
    left = [one for one in plan.runs if one.key not in done]
    before = len(plan.runs) - len(left)
    say(f"{len(plan.runs)} runs" + (f", {before} are done" if before else ""))
    for n_resources in {len(one.cluster.resources) for one in left}:
        compile_with_message(plan.policies, n_resources)
    parameters = parameter_types(plan.runs)
    for _, row in results_or_raise(attempts_with_progress(engine, run_row, left, before)):
        store.put(row, parameters)
    keys = [one.key for one in plan.runs]
    return pl.DataFrame({"key": keys}).join(store.table(keys), on="key", maintain_order="left")
