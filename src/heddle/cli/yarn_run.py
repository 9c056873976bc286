"""`heddle yarn run`: a workload as real containers on a real YARN."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heddle.cli.output import DONE, FAILED, Json, print_json, print_tables, say, table
from heddle.cli.yarn_cluster import MAX_CALLS, Name, Rm, client_of, interruptible
from heddle.model.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterator

    from heddle.yarn.testbed.run_jobs import Workplace


def run(
    workload: Annotated[
        str,
        typer.Argument(metavar="WORKLOAD", help="A built-in name, .csv, .parquet, or a .yaml that lists real jobs."),
    ],
    rm: Rm = None,
    name: Name = None,
    staging: Annotated[
        Path | None, typer.Option(help="A folder that all nodes see under the same path; needed with --rm.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of a built-in workload.", min=0)] = 0,
    record: Annotated[Path | None, typer.Option(help="Observe the run and write its record to this folder.")] = None,
    json: Json = False,
) -> int:
    """Run a workload as real containers on a real YARN and wait for it to finish.

    Each task becomes a container that holds the memory and burns the CPU that the workload says it uses, for as long as
    it says. Nodes need python3 and Java 17. A .yaml may also list MapReduce and Spark programs (docs/yarn.md). Exit
    code 1 means that a job failed. Interrupting it kills what it submitted.

    \b
    Examples:
      heddle yarn run tasks.csv
      heddle yarn run jobs.yaml --name second --json
      heddle yarn run tasks.csv --rm http://rm.example:8088 --staging /mnt/shared/heddle
    """
    from heddle.yarn.observe.recording import recording
    from heddle.yarn.testbed.mixture import load_real_jobs
    from heddle.yarn.testbed.run_jobs import run_jobs

    jobs, notes = load_real_jobs(workload, seed)
    for note in notes:
        say(f"note: {note}")
    with interruptible(), workplace_of(rm, name, staging) as place:
        say(f"{len(jobs)} jobs on {place.client.address}")
        if record is None:
            done = run_jobs(jobs, place, say)
        else:
            with recording(place.client, say, own_machine=rm is None, history=place.history) as kept:
                done = run_jobs(jobs, place, say, kept.poll)
                mine, started_by = {job.app_id for job in done}, ["heddle", *sys.argv[1:]]
                kept.write(mine, record, policy="stock", workload=workload, started_by=started_by)
            say(f"wrote the record {record}")
        runs = [job.as_json() for job in done]
    summary = summarise(workload, place.client.address, runs)
    if json:
        print_json(summary)
    else:
        rows = [
            (job["name"], job["kind"], job["app_id"] or "", _seconds(job["jct_s"]), job["outcome"].lower())
            for job in runs
        ]
        print_tables([table(("job", "kind", "application", "took", "outcome"), rows, title=workload)])
        for job in runs:
            if job["diagnostics"]:
                say(f"{job['name']}: {job['diagnostics']}")
        say(f"makespan {_seconds(summary['makespan_s'])}")
    return DONE if summary["succeeded"] == len(runs) else FAILED


def summarise(workload: str, rm: str, runs: list[dict[str, Any]]) -> dict[str, Any]:
    """The run as one document; times of jobs are the ResourceManager's, in ms since 1970."""
    began = [job["submitted_at_ms"] for job in runs if job["submitted_at_ms"] is not None]
    ended = [job["finished_at_ms"] for job in runs if job["finished_at_ms"] is not None]
    return {
        "workload": workload,
        "rm": rm,
        "succeeded": sum(job["outcome"] == "SUCCEEDED" for job in runs),
        "makespan_s": (max(ended) - min(began)) / 1000 if began and ended else None,
        "jobs": runs,
    }


@contextmanager
def workplace_of(rm: str | None, name: str | None, staging: Path | None) -> Iterator[Workplace]:
    """Where to run: a local cluster by name, or any ResourceManager with a folder that its nodes share."""
    from heddle.yarn.testbed.local.cluster import find_cluster
    from heddle.yarn.testbed.local.jars import DEFAULT_HADOOP
    from heddle.yarn.testbed.replay.master_jar import master_jar
    from heddle.yarn.testbed.run_jobs import Workplace

    with client_of(rm, name, max_calls_per_s=None if rm is None else MAX_CALLS) as client:
        if rm is not None:
            if staging is None:
                raise BadInput.of("--staging", "with --rm, name a folder that all nodes see under the same path")
            yield Workplace(client, staging, master_jar(DEFAULT_HADOOP))
            return
        cluster = find_cluster(name or "local")
        jar = master_jar(cluster.layout.hadoop)
        yield Workplace(client, staging or cluster.folder / "staging", jar, cluster)


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.1f} s"
