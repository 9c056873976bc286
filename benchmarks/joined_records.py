"""The jobs of several real runs, one run after the other: `python -m benchmarks.joined_records RECORD... FILE.parquet`.

Runs of a trial are too short to be tuned for. Joined they are long enough, but the same jobs come again and again.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Final

from heddle.cli.rerun import queues_for
from heddle.experiments.replaying import overheads_of, replay_of
from heddle.model.cluster import Cluster
from heddle.model.workload import Workload
from heddle.record.files import read_record
from heddle.record_workload import jobs_of
from heddle.traces.build import JobSpec, build
from heddle.traces.clusters import dump_cluster
from heddle.traces.imports.store import beside
from heddle.traces.parquet import write_parquet

PAUSE_MS: Final = 10_000  # between the end of one run and the first job of the next


def joined(records: list[Path]) -> tuple[Workload, Cluster]:
    """The cluster is that of the first record, with what AMs took there."""
    jobs: list[JobSpec] = []
    at_ms = 0
    for number, record in enumerate(records):
        run = read_record(record)
        jobs += [
            replace(job, name=f"{job.name} of run {number}", submit_at_ms=job.submit_at_ms + at_ms)
            for job in jobs_of(run).values()
        ]
        at_ms += int(run.jobs["ended_at_ms"].drop_nulls().to_numpy().max()) + PAUSE_MS
    first = read_record(records[0])
    return build("joined", jobs), replay_of(first, overheads_of(first), queues_for(records[0], None)).cluster


if __name__ == "__main__":
    workload, cluster = joined([Path(name) for name in sys.argv[1:-1]])
    output = Path(sys.argv[-1])
    write_parquet(workload, output)
    beside(output, "cluster.yaml").write_text(dump_cluster(cluster))
