"""`heddle yarn sls`: our simulator beside Hadoop's own."""

from __future__ import annotations

import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import typer

from heddle.cli.inputs import ClusterOption, WorkloadArgument, workload_for
from heddle.cli.output import DONE, FAILED, Json, print_json, print_tables, say, table
from heddle.cli.yarn_cluster import interruptible


def sls(
    workload: WorkloadArgument,
    cluster: ClusterOption = None,
    scheduler: Annotated[Literal["capacity", "fair"], typer.Option(help="YARN's scheduler.")] = "capacity",
    rounds: Annotated[int, typer.Option(min=1, help="Number of runs of each simulator.")] = 5,
    give_up_s: Annotated[
        float, typer.Option("--give-up", min=1, help="Seconds after which a run of SLS counts as stuck.")
    ] = 1800,
    hadoop: Annotated[str, typer.Option(help="Version of Hadoop; 3.4.2 is what is tested.")] = "3.4.2",
    seed: Annotated[int, typer.Option(help="Seed of a built-in workload.", min=0)] = 0,
    json: Json = False,
) -> int:
    """Compare heddle with Hadoop's scheduler load simulator (SLS).

    SLS runs the real ResourceManager with simulated nodes and jobs, in real time: a workload that takes a minute takes
    that minute in each round. Needs Java 17 and, the first time, Maven. Ours is given what SLS's configuration and
    source say of heartbeats, and nothing of its results. Exit code 1 means that makespans differ by more than 3 % and
    by more than half of the 95 % interval of SLS's own mean.

    \b
    Examples:
      heddle yarn sls examples/yarn/scheduler-load.csv --cluster examples/yarn/scheduler-load-cluster.yaml
      heddle yarn sls tasks.csv --cluster 20x8192x8 --scheduler fair --rounds 3 --json
    """
    from heddle.cli.inputs import cluster_for, compile_with_message, read_all
    from heddle.experiments.load_simulator import beside, for_load_simulator, heartbeats_ms, policy_of, simulated
    from heddle.yarn.testbed.local.jars import announce_fetching
    from heddle.yarn.testbed.sls.run import LoadSimulator
    from heddle.yarn.testbed.sls.settings import with_queues_of

    loaded, on = read_all(lambda: workload_for(workload, seed), lambda: cluster_for(workload, cluster))
    work = for_load_simulator(loaded)
    on = with_queues_of(on, work.queues)
    compile_with_message([policy_of(scheduler, on.calculator)], len(work.resources))
    ours = simulated(work, on, scheduler, rounds)
    announce_fetching(hadoop, say)
    theirs = []
    with interruptible(), tempfile.TemporaryDirectory(prefix="heddle-sls-") as folder:
        simulator = LoadSimulator(work, on, scheduler, heartbeats_ms(on), hadoop, Path(folder))
        for number in range(rounds):
            theirs.append(simulator.run(number, give_up_s))
            took_s = max(job.ended_at_ms for job in theirs[-1].values()) / 1000
            say(f"SLS, run {number + 1} of {rounds}: makespan {took_s:.1f} s")
    found = beside(theirs, ours)
    if json:
        print_json({"workload": workload, "scheduler": scheduler, "rounds": rounds, **asdict(found)})
    else:
        interval = "" if found.sls_interval is None else f" +- {100 * found.sls_interval:.1f} %"
        rows = [
            ("makespan", f"{found.sls_makespan_s:.1f} s{interval}", f"{found.heddle_makespan_s:.1f} s",
             f"{100 * found.makespan_error:+.1f} %"),
            ("of each run", _listed(found.sls_makespans_s), _listed(found.heddle_makespans_s), ""),
            ("mean completion of a job", f"{found.sls_jct_s:.1f} s", f"{found.heddle_jct_s:.1f} s",
             f"{100 * found.jct_error:+.1f} %"),
            ("order of completion times", f"one run, the others: {_rank(found.sls_spearman)}", _rank(found.spearman),
             f"by arrival: {_rank(found.naive_spearman)}"),
            ("verdict", "", found.verdict, f"within {100 * found.allowed_error:.1f} %"),
        ]  # fmt: skip
        title = f"{workload}: {found.jobs} jobs, {scheduler} scheduler, {rounds} rounds"
        print_tables([table(("", "Hadoop's SLS", "heddle", "error"), rows, title)])
    return DONE if found.verdict == "inside" else FAILED


def _listed(makespans_s: tuple[float, ...]) -> str:
    return ", ".join(f"{makespan_s:.1f}" for makespan_s in makespans_s)


def _rank(correlation: float | None) -> str:
    return "unknown" if correlation is None else f"{correlation:.3f}"
