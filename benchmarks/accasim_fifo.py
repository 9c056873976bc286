"""FIFO with first-fit by AccaSim 1.1.3, with its own scheduler and allocator, fed from memory and writing no files.

AccaSim counts time in integers and does not mind what they mean: here they are milliseconds. It looks at its whole
queue at every event, so its time grows with tasks times queue length: give it few tasks where the load is above 1.
"""

import collections
import collections.abc
import contextlib
import logging
import sys
import tempfile
import warnings
from functools import cache, partial
from types import SimpleNamespace
from typing import Any

from benchmarks.rival import Nodes, Outcome, Tasks, check, measure

# AccaSim takes time 0 for "not begun yet" and begins one unit before the first submission.
_SHIFT_MS = 2


@cache
def why_not() -> str | None:
    """The reason why AccaSim cannot run here, or None: found by simulating one task."""
    try:
        _run(_accasim(), Tasks([0], [1], [1], [1]), Nodes(1, 1, 1))
    except ModuleNotFoundError as missing:
        return f"AccaSim or something it needs is not installed ({missing})"
    except Exception as problem:  # whatever an old package does on a newer Python
        return f"AccaSim cannot be used with Python {sys.version_info[0]}.{sys.version_info[1]} ({problem!r})"
    return None


def run(tasks: Tasks, nodes: Nodes) -> Outcome | None:
    """None where AccaSim cannot run: see `why_not`."""
    if why_not() is not None:
        return None
    check(tasks, nodes)
    return _run(_accasim(), tasks, nodes)


@cache
def _accasim() -> SimpleNamespace:
    """AccaSim's classes. It imports `collections.Mapping`, which left Python in 3.10, and has strings that warn."""
    collections.Mapping = collections.abc.Mapping  # type: ignore[attr-defined]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from accasim.base import allocator_class, event_class, resource_manager_class, scheduler_class
            from accasim.base.simulator_class import Simulator
            from accasim.utils.reader_class import Reader
    finally:
        del collections.Mapping  # type: ignore[attr-defined]

    class ListReader(Reader):  # type: ignore[misc]
        """Hands out job descriptions from a list, and keeps the jobs made of them to look at afterwards."""

        def __init__(self, descriptions: list[dict[str, Any]], job_factory: Any) -> None:
            super().__init__(job_factory)
            self.left = iter(descriptions)
            self.coming = next(self.left)

        def _read(self, current_time: int) -> dict[str, Any]:
            description = self.coming
            try:
                self.coming = next(self.left)
            except StopIteration:
                self.stop_submission()
            return description

    class RememberingFactory(event_class.JobFactory):  # type: ignore[misc]
        def __init__(self, resource_manager: Any) -> None:
            super().__init__(resource_manager)
            self.jobs: list[Any] = []

        def factory(self, **description: Any) -> Any:
            job = super().factory(**description)
            self.jobs.append(job)
            return job

    return SimpleNamespace(
        Simulator=Simulator,
        ListReader=ListReader,
        RememberingFactory=RememberingFactory,
        FirstInFirstOut=scheduler_class.FirstInFirstOut,
        FirstFit=allocator_class.FirstFit,
        Resources=resource_manager_class.Resources,
        ResourceManager=resource_manager_class.ResourceManager,
    )


def _run(accasim: SimpleNamespace, tasks: Tasks, nodes: Nodes) -> Outcome:
    cluster = accasim.Resources({"node": {"core": nodes.vcores, "mem": nodes.memory_mb}}, {"node": nodes.number})
    resource_manager = accasim.ResourceManager(cluster)
    factory = accasim.RememberingFactory(resource_manager)
    columns = zip(tasks.submit_ms, tasks.duration_ms, tasks.vcores, tasks.memory_mb, strict=True)
    descriptions = [
        {
            "job_id": number,
            "queued_time": submit_ms + _SHIFT_MS,
            "duration": duration_ms,
            "requested_nodes": 1,
            "requested_resources": {"core": vcores, "mem": memory_mb},
        }
        for number, (submit_ms, duration_ms, vcores, memory_mb) in enumerate(columns)
    ]
    # It prints to stdout when it fails, and leaves its log handlers behind.
    logger = logging.getLogger("accasim")
    handlers = list(logger.handlers)
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(sys.stderr):
        simulator = accasim.Simulator(
            "tasks",  # the name of a workload file that is never opened: the reader below takes its place
            None,
            accasim.FirstInFirstOut(accasim.FirstFit()),
            resource_manager=resource_manager,
            reader=accasim.ListReader(descriptions, factory),
            job_factory=factory,
            scheduling_output=False,
            statistics_output=False,
            show_statistics=False,
            RESULTS_FOLDER_PATH=folder,
            LOG_LEVEL="ERROR",
        )
        try:
            return measure(partial(_simulate, simulator, factory), tasks)
        finally:
            logger.handlers[:] = handlers


def _simulate(simulator: Any, factory: Any) -> list[int]:
    simulator.start_simulation()
    return [job.start_time - _SHIFT_MS for job in factory.jobs]
