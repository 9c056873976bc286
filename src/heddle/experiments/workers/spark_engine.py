"""Runs as tasks of a Spark application: on the operator's own YARN, or wherever Spark's configuration says.

Runs go in waves of as many as there are cores, some waves at a time, so that cores which are done with one find the
next waiting. Spark tries a task again where an executor was lost. A wave that failed nevertheless is taken apart until
the run that fails is alone: that is what is recorded. Master, memory, queue and the packaged environment are
Spark's own settings (spark-defaults.conf, PYSPARK_SUBMIT_ARGS, spark-submit).
"""

from __future__ import annotations

import itertools
import os
import socket
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar
from zipimport import zipimporter

from py4j.protocol import Py4JError
from pyspark import Broadcast, SparkConf, SparkContext, SparkFiles
from pyspark.errors import PySparkException

from heddle.experiments.attempts import Failed, WorkerDied
from heddle.experiments.engines import interrupts_ignored
from heddle.experiments.workers.luggage import Luggage, Packer
from heddle.experiments.workers.on_worker import is_unpacked, run_packed, unpack
from heddle.experiments.workers.versions import asking, check_versions, version_here
from heddle.model.errors import BadInput, RunRefused

C = TypeVar("C")
R = TypeVar("R")
Packed = tuple[int, bytes]

WAVES: Final = 3
RESTARTS: Final = 3  # of the application: its master may be lost like any other container
_FAILED: Final = (Py4JError, PySparkException, OSError, EOFError)


class SparkEngine:
    """`rest`: a master as Spark names them; empty: what Spark's configuration says, else this machine."""

    def __init__(self, rest: str) -> None:
        self._master = f"spark:{rest}" if rest.startswith("//") else rest
        self._context = self._started()
        try:
            self._check()
        except BaseException:
            self.close()
            raise

    @property
    def about(self) -> str:
        """One line: where, as what, and where one can look on."""
        context = self._context
        page = f"; page: {context.uiWebUrl}" if context.uiWebUrl else ""
        return f"spark on {context.master}, application {context.applicationId}{page}"

    def close(self) -> None:
        self._context.stop()

    def run(self, function: Callable[[C], R], configurations: Sequence[C]) -> Iterator[tuple[int, R | Failed]]:
        packer = Packer()
        luggage = packer.luggage_of(configurations)
        left = _Left(len(configurations))
        for start in itertools.count(1):
            yield from self._in_waves(luggage, left, lambda number: packer.packed(function, configurations[number]))
            if left.nothing:
                return
            if start > RESTARTS:
                raise RunRefused(f"the Spark application has ended {start} times before the runs did")
            self.close()
            self._context = self._started()

    def _in_waves(self, luggage: Luggage, left: _Left, pack: Callable[[int], bytes]) -> Iterator[tuple[int, Any]]:
        """Until all are done, or the application has ended."""
        context, has_ended = self._context, False
        brought = context.broadcast(luggage)
        compute = partial(_on_executor, luggage.key, brought)
        waves: dict[Future[list[tuple[int, Any]]], list[int]] = {}
        with ThreadPoolExecutor(WAVES) as threads:
            try:
                while True:
                    while len(waves) < WAVES and not has_ended and (wave := left.wave(_cores(context))):
                        packed = [(number, pack(number)) for number in wave]
                        waves[threads.submit(_computed, context, compute, packed)] = wave
                    if not waves:
                        return
                    for ended in wait(waves, return_when=FIRST_COMPLETED).done:
                        wave = waves[ended]
                        try:
                            yield from ended.result()
                        except _FAILED as error:
                            has_ended = has_ended or _is_stopped(context)
                            if len(wave) == 1 and not has_ended:
                                yield wave[0], Failed(WorkerDied(f"its task failed whenever tried: {_words(error)}"))
                            else:
                                left.take_apart(wave)
                        del waves[ended]
            finally:
                if waves and not has_ended:  # Ctrl-C, above all
                    context.cancelAllJobs()

    def _started(self) -> SparkContext:
        conf = SparkConf().setIfMissing("spark.app.name", "heddle")
        conf.setIfMissing("spark.ui.showConsoleProgress", "false")  # the command has its own
        if self._master:
            conf.setMaster(self._master)
        if conf.get("spark.master", "local[*]").startswith("local"):
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # on YARN it is the operator who knows
            conf.setIfMissing("spark.master", "local[*]")
            os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")  # else its page, without a password, is for everybody
        try:
            with interrupts_ignored():  # inherited: after Ctrl-C this process decides
                context = SparkContext(conf=conf)
        except _FAILED as error:
            raise BadInput.of("--on", f"spark has not started: {_words(error)}") from None
        context.setLogLevel("OFF")  # what fails is told here
        return context

    def _check(self) -> None:
        """On as many cores as there are; an executor that joins later is looked at before its first run."""
        asked = max(2, 2 * self._context.defaultParallelism)
        try:
            found = set(self._context.parallelize(range(asked), asked).map(asking()).collect())
        except _FAILED as error:
            raise RunRefused(f"the executors cannot run Python as this one does: {_words(error)}") from None
        for host, version in sorted(found, key=str):  # one by one: a host may have two
            check_versions({host: version}, version_here())


class _Left:
    """Runs that have no result yet, by their positions."""

    def __init__(self, count: int) -> None:
        self._fresh = iter(range(count))
        self._again: list[list[int]] = []
        self._next = next(self._fresh, None)

    @property
    def nothing(self) -> bool:
        return self._next is None and not self._again

    def wave(self, cores: int) -> list[int]:
        """Of what has failed before what has not been tried, so that all is known of the one before the other."""
        if self._again:
            return self._again.pop()
        wave: list[int] = []
        while self._next is not None and len(wave) < cores:
            wave.append(self._next)
            self._next = next(self._fresh, None)
        return wave

    def take_apart(self, wave: list[int]) -> None:
        """In halves: after a few times, whoever made it fail is alone."""
        middle = (len(wave) + 1) // 2
        self._again += [half for half in (wave[:middle], wave[middle:]) if half]


def _cores(context: SparkContext) -> int:
    try:
        return max(1, int(context.defaultParallelism))
    except _FAILED:
        return 1  # it has just ended: the wave will find out


def _computed(
    context: SparkContext, compute: Callable[[Iterable[Packed]], Iterator[tuple[int, Any]]], packed: list[Packed]
) -> list[tuple[int, Any]]:
    """In a thread: one wave, a task for each run."""
    found: list[tuple[int, Any]] = context.parallelize(packed, len(packed)).mapPartitions(compute).collect()
    return found


def _on_executor(key: str, brought: Broadcast[Luggage], packed: Iterable[Packed]) -> Iterator[tuple[int, Any]]:
    """In a process of an executor, which goes on to the next task with all that is loaded."""
    if not is_unpacked(key):
        unpack(brought.value, Path(SparkFiles.getRootDirectory()), socket.gethostname())
    for number, one in packed:
        yield number, run_packed(key, one)
    _forget_zips()


def _forget_zips() -> None:
    """Before each task Spark has Python read the directories of the zip files anew that it has imported from: of
    PySpark's own, that takes longer than a short run. What is forgotten is read when something is imported from it."""
    for path, finder in list(sys.path_importer_cache.items()):
        if isinstance(finder, zipimporter):
            del sys.path_importer_cache[path]


def _is_stopped(context: SparkContext) -> bool:
    try:
        return bool(context._jsc.sc().isStopped())
    except (Py4JError, AttributeError, OSError):
        return True


def _words(error: BaseException) -> str:
    """The line that says it, of the many that Java prints."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = [line for line in lines if "Exception" in line or "Error" in line]
    return (said[-1] if said else lines[-1] if lines else type(error).__name__)[:300]
