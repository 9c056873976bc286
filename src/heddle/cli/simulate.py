"""`heddle simulate`: one run."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from heddle.cli.choosing import Candidates, Choose, Every, Horizon, choices_table, rule_of, told_policies
from heddle.cli.completion import policy_names
from heddle.cli.inputs import (
    ClusterOption,
    LeverTimeout,
    WorkloadArgument,
    cluster_for,
    compile_with_message,
    limit_levers,
    read_all,
    warn_of_unknown_use,
    workload_for,
)
from heddle.cli.output import DONE, FAILED, Json, print_json, print_tables, say, table
from heddle.model.errors import BadInput

if TYPE_CHECKING:
    from rich.table import Table

    from heddle.model.cluster import Cluster
    from heddle.model.workload import Workload
    from heddle.record.run import Run

_ALL_HOLD: Final = "check: all invariants hold"


def simulate(
    workload: WorkloadArgument,
    policy: Annotated[
        str | None,
        typer.Option(
            "--policy",
            "-p",
            help="See `heddle policies` [default: the cluster's own policy if its file names one, else fifo].",
            autocompletion=policy_names,
        ),
    ] = None,
    cluster: ClusterOption = None,
    seed: Annotated[int, typer.Option(help="Seed of the run, and of a built-in workload.", min=0)] = 0,
    record: Annotated[Path | None, typer.Option(help="Write the run record to this folder.")] = None,
    report: Annotated[Path | None, typer.Option(help="Write an HTML report to this file.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Verify the run against all invariants.")] = False,
    executor: Annotated[
        Literal["native", "yarn-knobs", "bridge"] | None,
        typer.Option(
            help="Who decides about containers. native: the policy. yarn-knobs: a stock YARN whose knobs the policy "
            "turns. bridge: the same, with the bridge in its ResourceManager [default: native; with --choose "
            "yarn-knobs]."
        ),
    ] = None,
    blocks: Annotated[
        bool,
        typer.Option(
            "--blocks",
            help="Read a .parquet workload block by block, so it need not fit into memory; needs --record. "
            "The result is the same.",
        ),
    ] = False,
    choose: Choose = False,
    candidate: Candidates = None,
    every: Every = None,
    horizon: Horizon = None,
    lever_timeout: LeverTimeout = 60,
    json: Json = False,
) -> int:
    """Simulate a workload under one policy.

    Exit code 1 means that the run stalled (the reason is shown) or that --check found a violation.

    \b
    Examples:
      heddle simulate mix --policy drf
      heddle simulate tasks.csv --policy "fair+n-sigma(n=3)" --cluster 20x65536x24 --seed 7
      heddle simulate am-storm --policy "fifo+am-share(percent=0.3)" --check
      heddle simulate mix --policy ./mine.py:shortest_first --record my-run --report my-run.html
      heddle simulate phases --policy capacity --choose
      heddle simulate year.parquet --policy capacity --blocks --record year
    """
    from heddle.analysis.measures.metrics import run_metrics
    from heddle.policy.parse import parse_policy
    from heddle.policy.present import present_policy
    from heddle.run import check_executor, check_run
    from heddle.run import simulate as run_simulation

    limit_levers(lever_timeout)
    rule = rule_of(choose, executor, candidate, every, horizon)
    if blocks:
        if rule is not None or report is not None or record is None or executor not in (None, "native"):
            raise BadInput.of("--blocks", "needs --record; --choose, --report and other executors need all jobs")
        return _in_blocks(workload, policy, cluster, seed, record, check, json)
    named, loaded, on = read_all(
        lambda: None if policy is None else parse_policy(policy),
        lambda: workload_for(workload, seed),
        lambda: cluster_for(workload, cluster),
    )
    chosen = named or present_policy(on) or parse_policy("fifo")
    check_run(loaded, on, seed)
    policies = [chosen] if rule is None else told_policies(chosen, candidate, loaded, on)
    warn_of_unknown_use(loaded, policies)
    if rule is None:
        check_executor([chosen], loaded, on, executor or "native")
    compile_s = compile_with_message(policies, len(on.resources))
    keep = record if record is not None else report is not None
    told = {"started_by": ["heddle", *sys.argv[1:]], "compile_s": compile_s}
    if rule is None:
        by = executor or "native"
        run = run_simulation(loaded, on, chosen, seed=seed, record=keep, check=check, executor=by, told=told)
    else:
        from heddle.twin.simulated_choice import simulate_choosing

        run = simulate_choosing(loaded, on, policies, rule, seed=seed, record=keep, check=check, told=told)
    if record is not None:
        say(f"wrote the record {record}")
    if report is not None:
        _write_report(report, run, loaded, on)
    metrics = run_metrics(run)
    choices = run.manifest.get("choices")
    if json:
        print_json(metrics if choices is None else metrics | {"choices": choices})
    else:
        print_tables([_table(metrics), *([] if choices is None else [choices_table(choices)])])
        if check:
            say(_ALL_HOLD)
    return DONE if metrics["outcome"] == "finished" else FAILED


def _in_blocks(
    workload: str, policy: str | None, cluster: str | None, seed: int, record: Path, check: bool, as_json: bool
) -> int:
    from heddle.analysis.measures.metrics import run_metrics
    from heddle.policy.parse import parse_policy
    from heddle.policy.present import present_policy
    from heddle.run import simulate as run_simulation
    from heddle.traces.load import load_blocks

    named, source, on = read_all(
        lambda: None if policy is None else parse_policy(policy),
        lambda: load_blocks(workload),
        lambda: cluster_for(workload, cluster),
    )
    chosen = named or present_policy(on) or parse_policy("fifo")
    told = {"started_by": ["heddle", *sys.argv[1:]], "compile_s": compile_with_message([chosen], len(on.resources))}
    run = run_simulation(source, on, chosen, seed=seed, record=record, check=check, told=told)
    say(f"wrote the record {record}")
    metrics = run_metrics(run)
    if as_json:
        print_json(metrics)
    else:
        print_tables([_table(metrics)])
        if check:
            say(_ALL_HOLD)
    return DONE if metrics["outcome"] == "finished" else FAILED


def _write_report(path: Path, run: Run, workload: Workload, cluster: Cluster) -> None:
    """The report of a comparison of one: how it went, beside what no scheduler can beat."""
    from heddle.analysis.best_possible.bounds import bounds
    from heddle.analysis.comparison.compare import ComparedRun, compare_runs
    from heddle.experiments.compare import EXPLAINED
    from heddle.report.comparison import write_comparison_report
    from heddle.traces.align import in_resources_of

    best = bounds(in_resources_of(workload, cluster), cluster)
    alone = ComparedRun.of(run, explained=EXPLAINED, bounds=best)
    write_comparison_report(path, compare_runs([alone], alone.policy, shlex.join(run.manifest["started_by"])))
    say(f"wrote {path}")


def _table(metrics: dict[str, Any]) -> Table:
    """What is known of the run; lines about what is not are left out."""
    from heddle.report.wording import number, write_s

    counts = ("finished", "failed", "unfinished")
    ended = metrics["outcome"] + (f": {metrics['reason']}" if metrics["reason"] else "")
    speed = f" ({number(metrics['tasks_per_s'])} tasks/s)" if metrics["tasks_per_s"] else ""
    rows = [
        ("policy", metrics["policy"]),
        ("outcome", ended),
        ("jobs", ", ".join(f"{metrics[f'{word}_jobs']} {word}" for word in counts)),
        ("tasks", str(metrics["tasks"])),
        ("makespan", "" if metrics["makespan_s"] is None else write_s(metrics["makespan_s"])),
        ("completion of jobs", _spread(metrics["jct_s"], write_s)),
        ("wait of jobs", _spread(metrics["wait_s"], write_s)),
        ("slowdown", _spread(metrics["slowdown"], number)),
        *((f"{name} of capacity", _levels(levels)) for name, levels in metrics["utilisation"].items()),
        ("moved between nodes", _moved(metrics["network"])),
        ("tasks crashed", str(metrics["crashed_tasks"])),
        ("tasks killed", str(metrics["killed_tasks"])),
        ("tasks retried", str(metrics["retried_tasks"])),
        ("Jain's fairness", "" if metrics["fairness"]["jain"] is None else number(metrics["fairness"]["jain"])),
        ("simulated in", _wall_clock(metrics["simulate_s"]) + speed),
    ]
    title = f"{metrics['workload']} on cluster {metrics['cluster'] or metrics['cluster_hash']}, seed {metrics['seed']}"
    return table(("", ""), [row for row in rows if row[1]], title=title)


def _wall_clock(seconds: float) -> str:
    from heddle.report.wording import number, write_s

    return write_s(seconds) if seconds >= 1 else f"{number(1000 * seconds)} ms"


def _spread(values: dict[str, float | None], write: Callable[[float], str]) -> str:
    return ", ".join(f"{name} {write(value)}" for name, value in values.items() if value is not None)


def _moved(network: dict[str, float] | None) -> str:
    """Empty where no bandwidth is declared, or nothing was to be moved."""
    if network is None or network["moved_gb"] + network["local_gb"] == 0:
        return ""
    from heddle.report.wording import number, write_s

    moved, across, local = (f"{number(network[key])} GB" for key in ("moved_gb", "cross_rack_gb", "local_gb"))
    return f"{moved}, {across} across racks ({local} read locally); {write_s(network['fetching_s'])} of fetching"


def _levels(levels: dict[str, float | None]) -> str:
    return ", ".join(f"{name} {100 * value:.1f} %" for name, value in levels.items() if value is not None)
