"""The workload and cluster of a record, found again so that it can be simulated anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heddle.cli.inputs import cluster_for, read_all
from heddle.model.errors import BadInput, Problem

if TYPE_CHECKING:
    from heddle.model.cluster import Cluster
    from heddle.model.workload import Workload
    from heddle.record.run import Run


def inputs_of(run: Run, workload: str | None, cluster: str | None) -> tuple[Workload, Cluster]:
    """What the record's command line names, or what is given here; BadInput unless both are the record's own."""
    from heddle.traces.identity import cluster_hash, workload_hash
    from heddle.traces.load import load_workload

    named = named_inputs(run.manifest["started_by"])
    jobs = workload or named.get("workload")
    where = cluster or named.get("cluster")
    if jobs is None:
        raise BadInput.of("--workload", "the record does not tell where its workload came from: say it here")
    loaded, on = read_all(lambda: load_workload(jobs, run.manifest["seed"]), lambda: cluster_for(jobs, where))
    problems = []
    if workload_hash(loaded) != run.manifest["workload"]["hash"]:
        problems.append(Problem("--workload", f"{jobs} is not the workload of the record, or has changed since"))
    if cluster_hash(on) != run.manifest["cluster"]["hash"]:
        problems.append(Problem("--cluster", f"{where or 'the suggested cluster'} is not the cluster of the record"))
    if problems:
        raise BadInput(problems)
    return loaded, on


def named_inputs(started_by: list[str] | str) -> dict[str, Any]:
    """Workload and cluster of a `heddle simulate` command line; nothing if it was something else."""
    if isinstance(started_by, str) or "simulate" not in started_by:
        return {}
    import typer
    from typer.main import get_command

    from heddle.cli.simulate import simulate

    lone = typer.Typer(add_completion=False)
    lone.command("simulate")(simulate)
    arguments = list(started_by[started_by.index("simulate") + 1 :])
    try:
        context = get_command(lone).make_context("simulate", arguments, resilient_parsing=True)
    except Exception:  # a command line of another version: the user can still say what it was
        return {}
    return {name: context.params.get(name) for name in ("workload", "cluster")}
