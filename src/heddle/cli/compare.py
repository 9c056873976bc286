"""`heddle compare`: several policies, paired over seeds."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from heddle.cli.inputs import cluster_for, compile_with_message, read_all
from heddle.cli.output import Json, print_json, print_tables, say
from heddle.model.errors import BadInput, Problem

if TYPE_CHECKING:
    from heddle.analysis.compare import ComparedRun
    from heddle.experiments.compare import PlannedRun
    from heddle.model.cluster import Cluster
    from heddle.policy.policy import Policy


def compare(
    workload: Annotated[
        str, typer.Argument(metavar="[WORKLOAD]", help="A built-in name, a .csv of tasks, or a .parquet file.")
    ] = "mix",
    policy: Annotated[
        list[str] | None, typer.Option("--policy", "-p", help="May be repeated [default: fifo, fair, drf, capacity].")
    ] = None,
    cluster: Annotated[
        list[str] | None,
        typer.Option(
            "--cluster",
            "-c",
            help="May be repeated: NODESxMEMORY_MBxVCORES or a file [default: what the workload suggests].",
        ),
    ] = None,
    seeds: Annotated[
        int, typer.Option(help="How many seeds, from 0 on; each policy runs with each.", min=1, max=10_000)
    ] = 5,
    baseline: Annotated[str | None, typer.Option(help="The policy to compare with [default: the first].")] = None,
    report: Annotated[Path | None, typer.Option(help="Write an HTML report into this file.")] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", help="Parallel processes [default: one per core].", min=1)
    ] = None,
    executor: Annotated[
        Literal["native", "yarn-knobs"], typer.Option(help="Who turns the plan into containers.")
    ] = "native",
    json: Json = False,
) -> None:
    """Compare policies on a workload, paired over seeds.

    A built-in workload is made anew for each seed; a file is one realisation, and the seed then changes only what
    chance decides on the cluster (heartbeat phases, faults). Runs that stalled are shown as such; the exit code is 0
    when every run ended.

    \b
    Examples:
      heddle compare
      heddle compare mix --policy fifo --policy drf --policy tetris --seeds 10 --report report.html
      heddle compare tasks.csv -p capacity -p "capacity+usage-feedback" -c 10x65536x24 -c 20x65536x24 --json
    """
    from heddle.analysis.compare import compare_runs
    from heddle.experiments.compare import PlannedRun
    from heddle.report.comparison import write_comparison_report
    from heddle.report.table import comparison_tables
    from heddle.run import check_run
    from heddle.traces.load import load_workload

    policies, first, clusters = read_all(
        lambda: _policies(policy or ["fifo", "fair", "drf", "capacity"]),
        lambda: load_workload(workload, 0),
        lambda: _clusters(workload, cluster),
    )
    base = _baseline(policies, baseline)
    for on in clusters:
        check_run(first, on, 0, executor)
    for n_resources in {len(on.resources) for on in clusters}:
        compile_with_message(policies, n_resources)
    planned = [
        PlannedRun(workload, on, one.name, seed, report is not None, executor)
        for seed in range(seeds)
        for on in clusters
        for one in policies
    ]
    runs = _run_with_progress(planned, jobs or os.cpu_count() or 1)
    order = {one.name: place for place, one in enumerate(policies)}
    ordered = sorted(runs, key=lambda run: order[run.policy])  # stable: clusters and seeds keep their order
    command = shlex.join(["heddle", *sys.argv[1:]])
    comparison = compare_runs(ordered, base.name, command)
    if report is not None:
        write_comparison_report(report, comparison)
        say(f"wrote {report}")
    if json:
        print_json(comparison.as_json())
        return
    print_tables(comparison_tables(comparison))
    for run in comparison.runs:
        if run.metrics["outcome"] == "stalled":
            say(f"stalled: {run.policy}, seed {run.seed}: {run.metrics['reason']}")


def _policies(texts: Sequence[str]) -> list[Policy]:
    """All of them, or everything that is wrong with any of them."""
    from heddle.policy.parse import parse_policy

    found: dict[str, Policy] = {}
    problems: list[Problem] = []
    for text in texts:
        try:
            one = parse_policy(text)
        except BadInput as error:
            problems += error.problems
            continue
        if str(one) in map(str, found.values()):
            problems.append(Problem("--policy", f"{text} is given twice: it would be compared with itself"))
        found[one.name] = one
    if problems:
        raise BadInput(problems)
    return list(found.values())


def _baseline(policies: Sequence[Policy], text: str | None) -> Policy:
    from heddle.policy.parse import parse_policy

    if text is None:
        return policies[0]
    wanted = str(parse_policy(text))
    for one in policies:
        if str(one) == wanted:
            return one
    raise BadInput.of(
        "--baseline", f"{text} is not among the policies compared: {', '.join(one.name for one in policies)}"
    )


def _clusters(workload: str, texts: Sequence[str] | None) -> list[Cluster]:
    clusters: list[Cluster] = read_all(*(partial(cluster_for, workload, text) for text in texts or (None,)))
    names = [on.name for on in clusters]
    if len(set(names)) < len(names):
        raise BadInput.of(
            "--cluster", f"two clusters have the same name: {', '.join(name or 'no name' for name in names)}"
        )
    return clusters


def _run_with_progress(planned: Sequence[PlannedRun], processes: int) -> list[ComparedRun]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from heddle.experiments.compare import run_all

    done: dict[int, ComparedRun] = {}
    console = Console(stderr=True)
    columns = (TextColumn("running"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        bar = progress.add_task("", total=len(planned))
        for number, run in run_all(planned, processes):
            done[number] = run
            progress.advance(bar)
    return [done[number] for number in range(len(planned))]
