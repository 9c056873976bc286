"""`heddle yarn workload`: what ran on a real YARN, as a workload."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from heddle.cli.output import DONE, Json, counted, print_json, say
from heddle.cli.rerun import queues_for
from heddle.model.errors import BadInput


def workload(
    record: Annotated[Path, typer.Argument(metavar="RECORD", help="A record of `heddle yarn observe`.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The workload to write, a .parquet file.")],
    calibrate: Annotated[
        Path | None, typer.Option(help="Take AM start-up times from this record [default: from the same one].")
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(help="Its queues, by `heddle cluster import --rm` [default: cluster.yaml beside the record]."),
    ] = None,
    json: Json = False,
) -> int:
    """Turn what ran on a real YARN into a workload, to simulate it under other policies or to run it again.

    Each container becomes a task that takes as long and uses as much as it did; the cluster is written beside it.

    \b
    Examples:
      heddle yarn workload monday/record -o monday.parquet
      heddle compare monday.parquet -p capacity -p usage-feedback --executor yarn-knobs --report monday.html
      heddle yarn run monday.parquet
    """
    if output.suffix != ".parquet":
        raise BadInput.of(str(output), "the name must end in .parquet", field="--output")
    found = write_jobs_of(record, output, calibrate, cluster)
    if json:
        print_json(found)
        return DONE
    jobs, tasks = counted(found["jobs"], "job"), counted(found["tasks"], "task")
    say(f"wrote {output}: {jobs}, {tasks}; the cluster is in {found['cluster']}")
    if left_out := found["jobs_without_containers"]:
        say(f"note: omitted, because none of their containers has ended: {counted(left_out, 'job')}")
    return DONE


def write_jobs_of(record: Path, output: Path, calibrate: Path | None, cluster: str | None) -> dict[str, Any]:
    """The jobs of a record as a workload, with their cluster beside it; and what was written."""
    from heddle.experiments.replaying import overheads_of, replay_of
    from heddle.model.whole_files import write_whole
    from heddle.record.files import read_record
    from heddle.traces.clusters import dump_cluster
    from heddle.traces.imports.store import beside
    from heddle.traces.parquet import write_parquet

    run = read_record(record)
    overheads = overheads_of(run if calibrate is None else read_record(calibrate))
    replay = replay_of(run, overheads, queues_for(record, cluster))
    write_whole(beside(output, "cluster.yaml"), dump_cluster(replay.cluster))
    write_parquet(replay.workload, output)
    return {
        "jobs": replay.workload.n_jobs,
        "tasks": replay.workload.n_tasks,
        "jobs_without_containers": run.jobs.height - replay.workload.n_jobs,
        "out": str(output),
        "cluster": str(beside(output, "cluster.yaml")),
    }
