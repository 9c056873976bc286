"""Runs on the workers of a Dask scheduler. Dask does what is hard: it finds lost workers and sends their runs again.

What all runs need is a plugin of the workers, so that also one that joins later is given it, before its first run. A
scheduler that goes away takes all it knew with it: then we wait for the next one and send again what has no result yet.
"""

from __future__ import annotations

import itertools
import os
import time
import uuid
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, TypeVar

from distributed import Client, Future, KilledWorker, LocalCluster, Worker, WorkerPlugin, as_completed
from distributed.client import FutureCancelledError

from heddle.experiments.attempts import Failed, WorkerDied
from heddle.experiments.engines import AHEAD, interrupts_ignored
from heddle.experiments.workers.luggage import Luggage, Packer
from heddle.experiments.workers.on_worker import forget, run_packed, unpack
from heddle.experiments.workers.versions import asking, check_versions, version_here
from heddle.model.errors import BadInput, RunRefused

C = TypeVar("C")
R = TypeVar("R")

FOUND_WITHIN_S: Final = 15.0  # a scheduler that is there, and its first worker
BACK_WITHIN_S: Final = 600.0  # one that was there
_LOOPBACK: Final = "127.0.0.1"
_PAGE: Final = f"{_LOOPBACK}:8787"
_COUNT_EVERY_S: Final = 2.0  # workers come and go


class DaskEngine:
    """`rest`: `//host:port` or `tls://host:port` of a scheduler, or how many workers to start here, empty: as cores."""

    def __init__(self, rest: str) -> None:
        self._cluster: LocalCluster | None = None
        if "//" in rest:
            self._address = f"tcp:{rest}" if rest.startswith("//") else rest
            self._client = self._found(FOUND_WITHIN_S)
        else:
            self._cluster = _on_this_machine(rest)
            self._address = str(self._cluster.scheduler_address)
            self._client = Client(self._cluster, set_as_default=False)
        try:
            self._check()
        except BaseException:
            self.close()
            raise

    @property
    def about(self) -> str:
        """One line: where, how many, and where one can look on."""
        threads = list(self._client.nthreads().values())
        more = "; a run takes a whole worker, so start them with --nthreads 1" if max(threads, default=1) > 1 else ""
        return f"dask at {self._address}, workers: {len(threads)}{more}; dashboard: {self._client.dashboard_link}"

    def close(self) -> None:
        self._client.close()
        if self._cluster is not None:
            self._cluster.close()

    def run(self, function: Callable[[C], R], configurations: Sequence[C]) -> Iterator[tuple[int, R | Failed]]:
        packer = Packer()
        luggage = packer.luggage_of(configurations)
        left = iter(range(len(configurations)))
        while (
            under_way := (
                yield from self._sent(luggage, left, lambda number: packer.packed(function, configurations[number]))
            )
        ) is not None:
            self._client.close(timeout=1)
            self._client = self._found(BACK_WITHIN_S)
            left = itertools.chain(under_way, left)

    def _sent(
        self, luggage: Luggage, left: Iterator[int], pack: Callable[[int], bytes]
    ) -> Generator[tuple[int, Any], None, list[int] | None]:
        """What comes of all that are left. When the scheduler is gone, those that were under way then; else None."""
        client, call = self._client, uuid.uuid4().hex[:12]
        under_way: dict[Future, int] = {}
        ended = as_completed(loop=client.loop)
        places = _Places(client)

        def fill() -> None:
            for number in itertools.islice(left, max(0, AHEAD * places.count() - len(under_way))):
                run = client.submit(run_packed, luggage.key, pack(number), key=f"heddle-{call}-{number}", pure=False)
                under_way[run] = number
                ended.add(run)

        try:
            with _brought(client, luggage):
                fill()
                for batch in ended.batches():
                    for future, result in _results(client, batch):
                        yield under_way.pop(future), result
                        future.release()
                    fill()
        except (FutureCancelledError, OSError):
            if self._cluster is not None:
                raise RunRefused("the local Dask cluster has ended") from None
            return list(under_way.values())
        finally:
            if under_way and client.status == "running":  # Ctrl-C, above all
                with suppress(Exception):
                    client.cancel(list(under_way))
        return None

    def _found(self, patience_s: float) -> Client:
        """A client of the scheduler, as soon as it is there."""
        until_s = time.monotonic() + patience_s
        while True:
            try:
                return Client(self._address, timeout=min(5.0, patience_s), set_as_default=False)
            except (OSError, ValueError) as error:
                if time.monotonic() > until_s or isinstance(error, ValueError):
                    what = f"{self._address}: no Dask scheduler within {patience_s:g} s: {error}"
                    raise BadInput.of("--on", what) from None
                time.sleep(0.5)

    def _check(self) -> None:
        try:
            self._client.wait_for_workers(1, timeout=FOUND_WITHIN_S)
        except TimeoutError:
            what = f"{self._address}: no worker has joined this scheduler within {FOUND_WITHIN_S:g} s"
            raise BadInput.of("--on", what) from None
        found = self._client.run(asking())
        check_versions({worker: version for worker, (_, version) in found.items()}, version_here())


class _Luggage(WorkerPlugin):  # type: ignore[misc]  # Dask is not typed
    """On a worker, from before its first run until the sweep is over; one that is no use is refused as it joins."""

    def __init__(self, luggage: Luggage) -> None:
        self.luggage = luggage
        self.name = f"heddle-{luggage.key}"

    def setup(self, worker: Worker) -> None:
        unpack(self.luggage, Path(worker.local_directory), str(worker.address_safe))

    def teardown(self, worker: Worker) -> None:
        forget(self.luggage.key)


@contextmanager
def _brought(client: Client, luggage: Luggage) -> Iterator[None]:
    plugin = _Luggage(luggage)
    client.register_plugin(plugin)
    try:
        yield
    finally:
        if client.status == "running":
            with suppress(Exception):  # the scheduler may be gone, and with it the plugin
                client.unregister_worker_plugin(plugin.name)


class _Places:
    """How many runs can be computed at a time: one on each worker."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._counted_s = -_COUNT_EVERY_S
        self._count = 1

    def count(self) -> int:
        if time.monotonic() - self._counted_s >= _COUNT_EVERY_S:
            self._counted_s = time.monotonic()
            self._count = max(1, len(self._client.nthreads()))
        return self._count


def _results(client: Client, ended: Sequence[Future]) -> Iterator[tuple[Future, Any]]:
    """Whatever was wrong with a run alone is its own; what is wrong with the scheduler is raised."""
    good: list[Future] = []
    others: list[Future] = []
    for future in ended:
        (good if future.status == "finished" else others).append(future)
    yield from zip(good, client.gather(good), strict=True)
    for future in others:
        yield future, _failure(future)


def _failure(future: Future) -> Failed:
    try:
        future.result()
    except KilledWorker:
        return Failed(WorkerDied("its worker ended each time it was tried; perhaps for want of memory"))
    except (FutureCancelledError, OSError):
        raise
    except Exception as error:  # it could not even be read there, or its result not be sent
        return Failed(RunRefused(f"{type(error).__name__}: {error}"))
    raise AssertionError("it has a result")


def _on_this_machine(rest: str) -> LocalCluster:
    if rest and not (rest.isdecimal() and 1 <= int(rest) <= 1024):
        raise BadInput.of("--on", f"dask:{rest}: say dask://scheduler:8786, dask, or how many workers, as in dask:2")
    with interrupts_ignored(), warnings.catch_warnings():  # workers inherit this: after Ctrl-C this process decides
        warnings.simplefilter("ignore")  # another dashboard has the usual port: then it is one that is free
        workers = int(rest or os.cpu_count() or 1)
        # Its dashboard asks for no password, and Dask itself would offer it to the whole network.
        return LocalCluster(workers, threads_per_worker=1, silence_logs=50, host=_LOOPBACK, dashboard_address=_PAGE)
