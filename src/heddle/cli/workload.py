"""`heddle workload list|show|make`: built-in workloads, and what is in a workload."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heddle.cli.group import CommandGroup
from heddle.cli.inputs import workload_for
from heddle.cli.output import Json, print_json, print_tables, say, table
from heddle.model.errors import BadInput

if TYPE_CHECKING:
    from heddle.model.workload import Workload

app = typer.Typer(
    cls=CommandGroup,
    help="List, look at and make workloads.\n\n"
    "\b\nExamples:\n"
    "  heddle workload list\n"
    "  heddle workload show mix --seed 3\n"
    '  heddle workload make "mix(jobs=200)" -o mix.parquet',
    no_args_is_help=True,
    rich_markup_mode=None,
)

Spec = Annotated[
    str,
    typer.Argument(metavar="WORKLOAD", help="A built-in name, optionally with parameters, or a .csv or .parquet file."),
]
Seed = Annotated[int, typer.Option(help="Seed of a built-in workload.", min=0)]


@app.command("list")
def list_workloads(json: Json = False) -> None:
    """List the built-in workloads and their parameters.

    \b
    Example:
      heddle workload list
    """
    from heddle.traces import catalogue

    entries = [catalogue.describe(name) for name in catalogue.names()]
    if json:
        print_json(
            {
                "workloads": [
                    {
                        "name": entry.name,
                        "summary": entry.summary,
                        "details": entry.details,
                        "parameters": [
                            {
                                "name": one.name,
                                "default": one.default,
                                "what": one.what,
                                "low": one.low,
                                "high": one.high,
                            }
                            for one in entry.parameters
                        ],
                    }
                    for entry in entries
                ]
            }
        )
        return
    rows = [
        (entry.name, entry.summary, "\n".join(f"{one.name}={one.default}: {one.what}" for one in entry.parameters))
        for entry in entries
    ]
    print_tables([table(("workload", "what it is", "parameters"), rows)])


@app.command("show")
def show(workload: Spec, seed: Seed = 0, json: Json = False) -> None:
    """Describe a workload.

    \b
    Examples:
      heddle workload show burst
      heddle workload show tasks.csv --json
    """

    facts = _facts(workload_for(workload, seed))
    if json:
        print_json(facts)
        return
    rows = [(name.replace("_", " "), _in_words(value)) for name, value in facts.items()]
    print_tables([table(("", ""), rows, title=f"workload {facts['name']}")])


@app.command("make")
def make(
    workload: Spec,
    output: Annotated[Path, typer.Option("--output", "-o", help="The .parquet file to write.")],
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Write a workload in heddle's own Parquet format; the file appears complete or not at all.

    \b
    Example:
      heddle workload make "bench(tasks=1000000, load=1.5)" -o bench.parquet
    """
    from heddle.traces.parquet import write_parquet

    if output.suffix != ".parquet":
        raise BadInput.of(str(output), "the name must end in .parquet", field="--output")
    made = workload_for(workload, seed)
    write_parquet(made, output)
    if json:
        print_json({"file": str(output), **_facts(made)})
    else:
        say(f"wrote {output}: {made.n_jobs} jobs, {made.n_tasks} tasks")


def _facts(workload: Workload) -> dict[str, Any]:
    import numpy as np

    from heddle.model.resources import display_name
    from heddle.model.workload import KIND_NAMES
    from heddle.traces.identity import workload_hash

    stages, jobs, duration_ms = workload.stages, workload.jobs, workload.tasks["duration_ms"]
    works = np.isin(stages["kind"], (KIND_NAMES.index("tasks"), KIND_NAMES.index("inner")))
    working = np.repeat(works, stages["n_tasks"])
    points = np.percentile(duration_ms[working], (50, 95, 100)) / 1000 if working.any() else (0.0, 0.0, 0.0)
    kinds = np.bincount(stages["kind"], minlength=len(KIND_NAMES))
    data = {"input": workload.input_bytes, "between_stages": workload.edge_bytes}
    return {
        "name": workload.name,
        "hash": workload_hash(workload),
        "about": workload.about,
        "jobs": workload.n_jobs,
        "jobs_with_am": int(jobs["has_am"].sum()),
        "stages": {name: int(kinds[kind]) for kind, name in enumerate(KIND_NAMES)},
        "tasks": workload.n_tasks,
        "use_recorded": workload.has_use,
        "data_gb": {what: 0.0 if sizes is None else float(sizes.sum()) / 1e9 for what, sizes in data.items()},
        "resources": [display_name(name) for name in workload.resources],
        "queues": list(workload.queues),
        "users": len(workload.users),
        "first_submit_s": int(jobs["submit_at_ms"].min()) / 1000,
        "last_submit_s": int(jobs["submit_at_ms"].max()) / 1000,
        "task_duration_s": {name: float(point) for name, point in zip(("p50", "p95", "max"), points, strict=True)},
        "largest_container": dict(zip(workload.resources, workload.shapes.max(axis=0).tolist(), strict=True)),
    }


def _in_words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_in_words(part)}" for name, part in value.items())
    if isinstance(value, list):
        return ", ".join(map(_in_words, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)
