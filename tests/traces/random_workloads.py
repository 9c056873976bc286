"""Random small workloads for property tests: every field of the model is used."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from heddle.model.workload import EXECUTORS, INNER, PERMYRIAD, TASKS, Workload
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build

RESOURCES = ("memory_mb", "vcores_milli", "gpu")
_vectors = st.tuples(st.integers(0, 2**40), st.integers(0, 64_000), st.integers(0, 4))


@st.composite
def profiles(draw: st.DrawFn) -> Any:
    breaks = draw(st.lists(st.integers(1, PERMYRIAD - 1), max_size=3, unique=True).map(sorted))
    return tuple((until, draw(_vectors)) for until in [*breaks, PERMYRIAD])


@st.composite
def stages(draw: st.DrawFn, name: str, earlier: list[str]) -> StageSpec:
    host = st.none() | st.sampled_from(["node-0", "node-7"])
    task = st.builds(TaskSpec, st.integers(0, 10**9), st.none() | profiles(), host, st.just(0) | st.integers(0, 2**46))
    after = tuple(draw(st.lists(st.sampled_from(earlier), unique=True, max_size=2))) if earlier else ()
    return StageSpec(
        name,
        draw(_vectors),
        draw(st.lists(task, min_size=0, max_size=4)),
        after=after,
        after_bytes=tuple(draw(st.integers(0, 2**46)) for _ in after) if draw(st.booleans()) else (),
        kind=draw(st.sampled_from([TASKS, EXECUTORS, INNER])),
        slow_start_permille=draw(st.integers(-1, 1000)),
        shuffle_ms=draw(st.integers(0, 1000)),
        slots=draw(st.integers(1, 8)),
        idle_timeout_ms=draw(st.integers(0, 1000)),
        iteration=draw(st.integers(0, 5)),
        label=draw(st.sampled_from(["", "gpu", "ssd"])),
    )


@st.composite
def workloads(draw: st.DrawFn) -> Workload:
    jobs: list[JobSpec] = []
    for number in range(draw(st.integers(1, 5))):
        names: list[str] = []
        specs = []
        for place in range(draw(st.integers(1, 4))):
            specs.append(draw(stages(f"stage {place}", names)))
            names.append(f"stage {place}")
        before = [job.name for job in jobs]
        jobs.append(
            JobSpec(
                f"jöb {number}",
                draw(st.integers(0, 10**12)),
                specs,
                am=draw(st.none() | _vectors),
                queue=draw(st.sampled_from(["root.a", "root.b"])),
                user=draw(st.sampled_from(["u", "v"])),
                after=tuple(draw(st.lists(st.sampled_from(before), unique=True, max_size=2))) if before else (),
                priority=draw(st.integers(-3, 3)),
                iterative=draw(st.booleans()),
            )
        )
    return build("random", jobs, RESOURCES, about={"some": ["list", 1, None]})
