"""A record simulated again: with its own workload and cluster, or with those inferred from a real run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from heddle.cli.inputs import cluster_for, compile_with_message, read_all, workload_for
from heddle.model.errors import BadInput, Problem

if TYPE_CHECKING:
    from pathlib import Path

    from heddle.model.cluster import Cluster
    from heddle.model.workload import Workload
    from heddle.record.run import Run


@dataclass(frozen=True)
class Again:
    """A run whose jobs are those of a record. `job_of`: a job's number in the record -> its number here."""

    run: Run
    job_of: dict[int, int]


def simulated_again(
    record: Path, run: Run, policy: str, workload: str | None = None, cluster: str | None = None
) -> list[Again]:
    """The record's jobs under another policy. Of a real run also, first, as it was: like is held against like."""
    from heddle.record_workload import is_real

    if is_real(run):
        if workload is not None:
            raise BadInput.of("--workload", "a record of a real run holds its own workload")
        return _real_again(run, policy, queues_for(record, cluster))
    from heddle.policy.parse import parse_policy
    from heddle.run import simulate

    chosen = parse_policy(policy)
    loaded, on = inputs_of(run, workload, cluster)
    compile_with_message([chosen], len(on.resources))
    seed, executor = run.manifest["seed"], run.manifest["executor"]
    other = simulate(loaded, on, chosen, seed=seed, record=True, executor=executor)
    return [Again(other, {job: job for job in run.jobs["job"].to_list()})]


def queues_for(record: Path, cluster: str | None) -> Cluster | None:
    """The cluster with the queues of a real run: as named, or as written when it was observed; None: not known."""
    from heddle.record.files import cluster_beside_record
    from heddle.traces.clusters import load_cluster

    beside = cluster_beside_record(record)
    named = cluster or (str(beside) if beside.is_file() else None)
    return None if named is None else load_cluster(named)


def _real_again(run: Run, policy: str, cluster: Cluster | None) -> list[Again]:
    """By the knobs that YARN has, as `heddle yarn steer` would have turned them."""
    from heddle.experiments.replaying import overheads_of, replay_of
    from heddle.policy.parse import parse_policy
    from heddle.record_workload import job_name
    from heddle.yarn.live.levers import YOUNG_MS, charging_young

    replay = replay_of(run, overheads_of(run), cluster)
    chosen = charging_young(parse_policy(policy), YOUNG_MS, replay.cluster.timing.usage_report_ms)
    compile_with_message([chosen], len(replay.cluster.resources))
    found = []
    for name, as_said in ((run.manifest["policy"], run.manifest["policy"]), (str(chosen), policy)):
        other = replay.under(name, record=True)
        number = dict(zip(other.jobs["name"].to_list(), other.jobs["job"].to_list(), strict=True))
        job_of = {
            row["job"]: number[job_name(row)] for row in run.jobs.iter_rows(named=True) if job_name(row) in number
        }
        found.append(Again(replace(other, manifest=other.manifest | {"policy": f"{as_said}, simulated"}), job_of))
    return found


def inputs_of(run: Run, workload: str | None, cluster: str | None) -> tuple[Workload, Cluster]:
    """What the record's command line names, or what is given here; BadInput unless both are the record's own."""
    from heddle.traces.identity import cluster_hash, workload_hash

    named = named_inputs(run.manifest["started_by"])
    jobs = workload or named.get("workload")
    where = cluster or named.get("cluster")
    if jobs is None:
        raise BadInput.of("--workload", "the record does not name its workload: name it here")
    loaded, on = read_all(lambda: workload_for(jobs, run.manifest["seed"]), lambda: cluster_for(jobs, where))
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
