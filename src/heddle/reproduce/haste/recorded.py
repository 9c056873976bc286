"""Batches of recorded MapReduce jobs: how many maps and reduces, and how long, as two traces have them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np

from heddle.model.whereabouts import NamesFiles
from heddle.model.workload import Workload
from heddle.reproduce.haste.settings import Settings
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, Vector, build
from heddle.traces.imports.importing import import_trace
from heddle.traces.parquet import read_parquet, write_parquet

FOLDERS: Final = ("swim_facebook", "coflow_fb2010")  # of both, bytes are recorded and durations modelled from them
Job = tuple[Vector, Vector, tuple[int, ...], tuple[int, ...]]  # demands of maps and reduces; their durations in ms


@dataclass(frozen=True)
class RecordedBatch(NamesFiles):
    """Jobs drawn with replacement from those of a trace that have both maps and reduces and are not too large."""

    path: str
    jobs_drawn: int
    most_maps: int
    most_reduces: int
    longest_ms: int
    am: Vector
    slow_start_permille: int
    shuffle_ms: int

    @property
    def files(self) -> tuple[str, ...]:
        return (self.path,)

    def jobs(self, seed: int) -> Workload:
        usable = _usable(self.path, self.most_maps, self.most_reduces, self.longest_ms)
        specs = []
        for number, place in enumerate(np.random.default_rng([5, seed]).choice(len(usable), self.jobs_drawn).tolist()):
            of_map, of_reduce, maps, reduces = usable[place]
            stages = [
                StageSpec(
                    "reduce-0", of_reduce, [TaskSpec(ms) for ms in reduces], after=("map-0",),
                    slow_start_permille=self.slow_start_permille, shuffle_ms=self.shuffle_ms,
                ),
                StageSpec("map-0", of_map, [TaskSpec(ms) for ms in maps]),
            ]  # fmt: skip
            specs.append(JobSpec(f"recorded-{number}", 0, stages, am=self.am))
        return build("recorded", specs, about={"generator": "reproduce haste recorded", "seed": seed})


@lru_cache(maxsize=2)
def _usable(path: str, most_maps: int, most_reduces: int, longest_ms: int) -> tuple[Job, ...]:
    trace = read_parquet(Path(path))
    assert trace.stage_names is not None
    names = trace.stage_names.to_numpy()
    found: list[Job] = []
    first = trace.stages["first_task"]
    for job in range(len(trace.jobs)):
        begin = int(trace.jobs["first_stage"][job])
        own = range(begin, begin + int(trace.jobs["n_stages"][job]))
        maps, reduces = ([stage for stage in own if names[stage] == role] for role in ("map", "reduce"))
        if len(maps) != 1 or len(reduces) != 1:
            continue
        times = [
            trace.tasks["duration_ms"][first[s] : first[s] + trace.stages["n_tasks"][s]] for s in (maps[0], reduces[0])
        ]
        longest = max(int(one.max(initial=0)) for one in times)
        if len(times[0]) <= most_maps and len(times[1]) <= most_reduces and longest <= longest_ms:
            of_map, of_reduce = (tuple(trace.shapes[trace.stages["shape"][s]].tolist()) for s in (maps[0], reduces[0]))
            map_ms, reduce_ms = (tuple(np.maximum(500, one).tolist()) for one in times)
            found.append((of_map, of_reduce, map_ms, reduce_ms))
    return tuple(found)


def recorded_batches(settings: Settings) -> dict[str, RecordedBatch]:
    """By trace; nothing where the traces are not here."""
    known, folder = settings.known, settings.lab.traces
    if folder is None or not all((folder / name).is_dir() for name in FOLDERS):
        return {}
    made = {}
    for name in FOLDERS:
        path = settings.lab.scratch / f"{name}.parquet"
        write_parquet(import_trace([str(folder / name)]).imported.workload, path)
        made[name] = RecordedBatch(
            str(path),
            known["recorded.jobs"],
            known["recorded.most_maps"],
            known["recorded.most_reduces"],
            1000 * known["recorded.longest_s"],
            (known["cluster.am_mb"], known["cluster.am_vcores"] * 1000),
            known["jobs.slow_start_permille"],
            round(1000 * known["jobs.shuffle_s"]),
        )
    return made
