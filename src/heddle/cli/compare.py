"""`heddle compare`: several policies, paired over seeds."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from heddle.cli.inputs import cluster_for, compile_with_message, read_all
from heddle.cli.output import Json, print_json, print_tables, say
from heddle.cli.progress import run_with_progress
from heddle.model.errors import BadInput, Problem

if TYPE_CHECKING:
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
    queues: Annotated[
        list[str] | None,
        typer.Option(
            help="May be repeated: a cluster file or scheduler XML whose queue tree is used instead of the cluster's; "
            "several are compared with each other."
        ),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(
            help="How many seeds, from 0 on; each policy runs with each [default: 5, 10 for a recorded trace].",
            min=1,
            max=10_000,
        ),
    ] = None,
    baseline: Annotated[
        str | None, typer.Option(help="What to compare with, as the table calls it [default: the first policy].")
    ] = None,
    warm_up: Annotated[
        float, typer.Option(help="Leave out jobs submitted in the first so many seconds.", metavar="S", min=0)
    ] = 0,
    cool_down: Annotated[
        float, typer.Option(help="Leave out jobs submitted in the last so many seconds.", metavar="S", min=0)
    ] = 0,
    resample: Annotated[
        bool,
        typer.Option(
            "--resample/--no-resample", help="Resample a recorded trace in time blocks, one per seed above 0."
        ),
    ] = True,
    block_s: Annotated[
        float | None,
        typer.Option(help="Length of these blocks in seconds [default: what the jobs suggest].", min=0.001),
    ] = None,
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

    A built-in workload is made anew for each seed. A file is one realisation: seed 0 runs it as it is, the other seeds
    run it with its blocks of time drawn anew, and the intervals come from these. Below the
    table stand how far the best is above what no scheduler can beat (`heddle bound`), and who got worse. Runs that
    stalled are shown as such; the exit code is 0 when every run ended.

    \b
    Examples:
      heddle compare
      heddle compare mix --policy fifo --policy drf --policy tetris --seeds 10 --report report.html
      heddle compare tasks.csv -p capacity -p "capacity+usage-feedback" -c 10x65536x24 -c 20x65536x24 --json
      heddle compare mix -p capacity --queues today.yaml --queues proposed.yaml --warm-up 60 --cool-down 120
    """
    from heddle.analysis.compare import compare_runs
    from heddle.analysis.edges import Edges
    from heddle.experiments.compare import PlannedRun, Source, run_one, sampling_of
    from heddle.experiments.engines import LocalProcesses
    from heddle.report.comparison import write_comparison_report
    from heddle.report.table import comparison_tables, notes
    from heddle.run import check_run
    from heddle.traces.load import is_built_in, load_workload

    policies, first, clusters = read_all(
        lambda: _policies(policy or ["fifo", "fair", "drf", "capacity"]),
        lambda: load_workload(workload, 0),
        lambda: _clusters(workload, cluster),
    )
    contenders = _contenders(policies, clusters, queues or [])
    base = _baseline(contenders, baseline)
    for one in contenders:
        for on in one.clusters:
            check_run(first, on, 0, executor)
    n_seeds = seeds or (5 if is_built_in(workload) else 10)
    sampling, block_ms = sampling_of(workload, first, clusters[0], n_seeds, resample, block_s)
    for n_resources in {len(on.resources) for on in clusters}:
        compile_with_message(policies, n_resources)
    planned = [
        PlannedRun(
            Source(workload, block_ms=block_ms), one.clusters[place], one.policy.name, seed, one.label,
            report is not None, executor, Edges(warm_up, cool_down), one is base,
        )
        for seed in range(n_seeds)
        for place in range(len(clusters))
        for one in contenders
    ]  # fmt: skip
    done = dict(run_with_progress(LocalProcesses(jobs or os.cpu_count() or 1), run_one, planned))
    order = {one.label: place for place, one in enumerate(contenders)}
    runs = [done[number] for number in range(len(planned))]
    ordered = sorted(runs, key=lambda run: order[run.policy])  # stable: clusters and seeds keep their order
    command = shlex.join(["heddle", *sys.argv[1:]])
    comparison = compare_runs(ordered, base.label, command, sampling)
    if report is not None:
        write_comparison_report(report, comparison)
        say(f"wrote {report}")
    if json:
        print_json(comparison.as_json())
        return
    print_tables(comparison_tables(comparison))
    for note in notes(comparison):
        say(note)
    for run in comparison.runs:
        if run.metrics["outcome"] == "stalled":
            say(f"stalled: {run.policy}, seed {run.seed}: {run.metrics['reason']}")


@dataclass(frozen=True)
class Contender:
    """What is compared: a policy, with one of several queue configurations where there are several."""

    label: str
    policy: Policy
    clusters: tuple[Cluster, ...]  # in the order in which they were given


def _contenders(policies: Sequence[Policy], clusters: Sequence[Cluster], queues: Sequence[str]) -> list[Contender]:
    from heddle.experiments.compare import with_queues

    if not queues:
        return [Contender(one.name, one, tuple(clusters)) for one in policies]
    trees = read_all(*(partial(lambda file: [with_queues(on, file) for on in clusters], file) for file in queues))
    names = [Path(file).stem for file in queues]
    if len(set(names)) < len(names):
        raise BadInput.of("--queues", f"two files have the same name: {', '.join(queues)}")
    return [
        Contender(one.name if len(queues) == 1 else f"{one.name} with {name}", one, tuple(tree))
        for one in policies
        for name, tree in zip(names, trees, strict=True)
    ]


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


def _baseline(contenders: Sequence[Contender], text: str | None) -> Contender:
    from heddle.policy.parse import parse_policy

    if text is None:
        return contenders[0]
    name, _, queues = text.partition(" with ")
    wanted = str(parse_policy(name))
    for one in contenders:
        if str(one.policy) == wanted and (not queues or one.label.endswith(f" with {queues}")):
            return one
    labels = ", ".join(one.label for one in contenders)
    raise BadInput.of("--baseline", f"{text} is not among the policies compared: {labels}")


def _clusters(workload: str, texts: Sequence[str] | None) -> list[Cluster]:
    clusters: list[Cluster] = read_all(*(partial(cluster_for, workload, text) for text in texts or (None,)))
    names = [on.name for on in clusters]
    if len(set(names)) < len(names):
        raise BadInput.of(
            "--cluster", f"two clusters have the same name: {', '.join(name or 'no name' for name in names)}"
        )
    return clusters
