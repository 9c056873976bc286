"""What the twin tells: of every application when it ends, with an 80 % interval, under each policy; and more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

import numpy as np

from heddle.twin.calibration import Calibration
from heddle.twin.deadlock import SHARES, Deadlock, often, with_am_share
from heddle.twin.eta import Eta
from heddle.twin.futures import Futures
from heddle.twin.known import Application, Snapshot, check_snapshot
from heddle.twin.rollouts import Candidate, Ends, Rolled, roll_out, run_future

DRAWS: Final = 20
NOT_COUNTED: Final = "nobody tells how many tasks it has, and none of its name has run before"
NOTHING_FINISHED: Final = "no task has finished yet that its tasks could be judged by"


@dataclass(frozen=True)
class Told:
    """Of one application. `etas`: by policy, empty where none can be told; `why_not` then says why.

    `drawn`: the same as the rollouts had them, before they were stretched.
    """

    app: Application
    etas: dict[str, Eta]
    drawn: dict[str, Eta]
    basis: str
    why_not: str = ""


@dataclass(frozen=True)
class Forecast:
    """`drains`: by policy and queue, when those that are in it now have all ended."""

    snapshot: Snapshot
    horizon_ms: int
    applications: tuple[Told, ...]
    drains: dict[str, dict[str, Eta]]
    held_mb: dict[
        str, tuple[float, ...]
    ]  # by policy: the mean memory that containers hold of each node, at the horizon
    rollouts: dict[str, int]
    dropped: tuple[str, ...]
    deadlocks: dict[str, Deadlock]  # by policy, where any future has one


def forecast(
    snapshot: Snapshot,
    candidates: Sequence[Candidate],
    horizon_ms: int,
    where: str,
    n_draws: int = DRAWS,
    seconds: float | None = None,
    seed: int = 0,
    calibration: Calibration | None = None,
) -> Forecast:
    """The first candidate is the present policy. BadInput: there is nothing to tell of, or it contradicts itself."""
    check_snapshot(snapshot, where)
    futures = Futures(snapshot, horizon_ms, n_draws, seed)
    rolled = roll_out(futures, snapshot.cluster, candidates, horizon_ms, n_draws, seconds)
    live = snapshot.live
    calibration = calibration or Calibration()
    told = []
    for number, (app, basis) in enumerate(zip(live, futures.basis, strict=True)):
        drawn = _etas(rolled, number) if basis else {}
        etas = {name: calibration.stretched(eta) for name, eta in drawn.items()}
        told.append(Told(app, etas, drawn, basis, "" if basis else _why_not(app)))
    return Forecast(
        snapshot, horizon_ms, tuple(told), _drains(rolled, live, futures.basis),
        {one.candidate.name: tuple(np.mean(one.held, axis=0).tolist()) for one in rolled},
        {one.candidate.name: len(one.ends) for one in rolled},
        tuple(one.candidate.name for one in rolled if one.dropped),
        {one.candidate.name: found for one in rolled if (found := _deadlock(one, futures, snapshot, horizon_ms))},
    )  # fmt: skip


def _etas(rolled: Sequence[Rolled], number: int) -> dict[str, Eta]:
    return {one.candidate.name: Eta.of([float(ends[number]) for ends in one.ends]) for one in rolled}


def _why_not(app: Application) -> str:
    return NOTHING_FINISHED if app.counted else NOT_COUNTED


def _drains(rolled: Sequence[Rolled], live: Sequence[Application], basis: Sequence[str]) -> dict[str, dict[str, Eta]]:
    """Only for queues all of whose applications have a forecast."""
    queues = sorted({app.queue for app in live})
    of_queue = {queue: [n for n, app in enumerate(live) if app.queue == queue] for queue in queues}
    told = {queue: some for queue, some in of_queue.items() if all(basis[n] for n in some)}

    def drained(some: Sequence[int], ends: Ends) -> float:
        return float(np.max(ends[list(some)]))

    return {
        one.candidate.name: {queue: Eta.of([drained(some, ends) for ends in one.ends]) for queue, some in told.items()}
        for one in rolled
    }


def _deadlock(rolled: Rolled, futures: Futures, snapshot: Snapshot, horizon_ms: int) -> Deadlock | None:
    draws = [draw for draw, stuck in enumerate(rolled.stuck) if stuck is not None]
    if not draws:
        return None
    stuck = [one for one in rolled.stuck if one is not None]
    again = [futures.future(draw) for draw in draws]

    def prevents(permille: int) -> bool:
        on = with_am_share(snapshot.cluster, permille, (app.queue for app in snapshot.applications))
        return all(
            run_future(future, on, rolled.candidate, horizon_ms, draw).stuck is None
            for draw, future in zip(draws, again, strict=True)
        )

    return Deadlock(
        len(draws) / len(rolled.stuck),
        median(one.at_ms for one in stuck),
        often(stuck, [future.job_of for future in again], [app.id for app in snapshot.live]),
        next((permille for permille in SHARES if prevents(permille)), None),
    )
