"""`heddle compare`: several policies, paired over seeds."""

from __future__ import annotations

import shlex
import sys
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from heddle.cli.completion import policy_names, workload_names
from heddle.cli.engines import On, engine_on
from heddle.cli.inputs import (
    LeverTimeout,
    cluster_for,
    compile_with_message,
    limit_levers,
    read_all,
    warn_of_unknown_use,
    workload_for,
)
from heddle.cli.output import (
    DONE,
    FAILED,
    Json,
    print_json,
    print_paragraphs,
    print_tables,
    say,
    say_wrapped,
    terminal_width,
)
from heddle.cli.progress import run_with_progress


def compare(
    workload: Annotated[
        str,
        typer.Argument(
            metavar="[WORKLOAD]",
            help="A built-in name, a .csv of tasks, or a .parquet file.",
            autocompletion=workload_names,
        ),
    ] = "mix",
    policy: Annotated[
        list[str] | None,
        typer.Option(
            "--policy", "-p", help="Repeatable [default: fifo, fair, drf, capacity].", autocompletion=policy_names
        ),
    ] = None,
    cluster: Annotated[
        list[str] | None,
        typer.Option(
            "--cluster",
            "-c",
            help="Repeatable: NODESxMEMORY_MBxVCORES or a file [default: the workload's own].",
        ),
    ] = None,
    queues: Annotated[
        list[str] | None,
        typer.Option(
            help="Repeatable: a cluster file or scheduler XML whose queue tree replaces the cluster's; "
            "several are compared with each other."
        ),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(
            help="Number of seeds, starting at 0; each policy runs with every seed [default: 5, 10 for a "
            "recorded trace].",
            min=1,
            max=10_000,
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(help="Baseline, as named in the table [default: the cluster's own policy, else the first]."),
    ] = None,
    warm_up: Annotated[
        float, typer.Option(help="Leave out jobs submitted in the first S seconds.", metavar="S", min=0)
    ] = 0,
    cool_down: Annotated[
        float, typer.Option(help="Leave out jobs submitted in the last S seconds.", metavar="S", min=0)
    ] = 0,
    resample: Annotated[
        bool | None,
        typer.Option(
            "--resample/--no-resample",
            help="Resample a recorded trace in time blocks, once per seed above 0 [default: if it is long enough].",
            show_default=False,
        ),
    ] = None,
    block_s: Annotated[
        float | None,
        typer.Option(help="Length of these blocks in seconds [default: derived from the jobs].", min=0.001),
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Write an HTML report to this file.")] = None,
    on: On = "local",
    executor: Annotated[
        Literal["native", "yarn-knobs", "bridge"],
        typer.Option(
            help="Who decides about containers. native: the policy. yarn-knobs: a stock YARN whose knobs the policy "
            "turns. bridge: the same, with the bridge in its ResourceManager."
        ),
    ] = "native",
    lever_timeout: LeverTimeout = 60,
    json: Json = False,
) -> int:
    """Compare policies on a workload, paired over seeds.

    A built-in workload is generated anew for each seed. A file is a single recording: seed 0 runs it as it is, the
    other seeds resample its time blocks, and the intervals come from these. If the cluster file names the policy that
    the cluster runs today (`heddle cluster import` writes it), that policy is the baseline. Below the table, heddle
    shows how far the best policy is from what no scheduler can beat (`heddle bound`), and who got worse. A policy with
    stalled runs is shown as stalled, without a gain, and the exit code is 1.

    \b
    Examples:
      heddle compare
      heddle compare mix --policy fifo --policy drf --policy tetris --seeds 10 --report report.html
      heddle compare tasks.csv -p capacity -p "capacity+usage-feedback" -c 10x65536x24 -c 20x65536x24 --json
      heddle compare mix -p capacity --queues today.yaml --queues proposed.yaml --warm-up 60 --cool-down 120
    """
    from heddle.analysis.measures.edges import Edges
    from heddle.experiments.compare import run_one
    from heddle.experiments.plan import DEFAULT_POLICIES, plan_comparison, read_policies
    from heddle.report.comparison import write_comparison_report
    from heddle.report.table import comparison_tables, notes, verdict_sentences
    from heddle.traces.imports.store import account_beside

    limit_levers(lever_timeout)
    engine = engine_on(on)
    policies, first, clusters = read_all(
        lambda: read_policies(policy or DEFAULT_POLICIES),
        lambda: workload_for(workload, 0),
        lambda: read_all(*(partial(cluster_for, workload, text) for text in cluster or (None,))),
    )
    plan = plan_comparison(
        workload,
        first,
        policies,
        clusters,
        queues=queues or (),
        baseline=baseline,
        seeds=seeds,
        edges=Edges(warm_up, cool_down),
        resample=resample,
        block_s=block_s,
        complete=report is not None,
        executor=executor,
    )
    warn_of_unknown_use(first, plan.policies)
    for n_resources in plan.resource_counts:
        compile_with_message(plan.policies, n_resources)
    done = dict(run_with_progress(engine, run_one, plan.runs))
    comparison = plan.comparison(done, shlex.join(["heddle", *sys.argv[1:]]))
    if report is not None:
        write_comparison_report(report, comparison, account_beside(Path(workload)))
        say(f"wrote {report}")
    if json:
        print_json(comparison.as_json())
    else:
        print_paragraphs(verdict_sentences(comparison))
        print_tables(comparison_tables(comparison, terminal_width()))
        for note in notes(comparison):
            say_wrapped(note)
    stalled = [run for run in comparison.runs if run.metrics["outcome"] == "stalled"]
    for run in stalled:
        say(f"stalled: {run.policy}, seed {run.seed}: {run.metrics['reason']}")
    return FAILED if stalled else DONE
