"""Requests that wait, carried from one window to the next: buckets, their runs and heaps, lanes and wants."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from heddle.sim.codes import GONE
from heddle.sim.memory.tables import Sim
from heddle.sim.memory.window import Moved

Rows = npt.NDArray[np.int64]


def carry_buckets(sim: Sim, fresh: Sim, moved: Moved, *, by_stage: bool) -> None:
    """Where wants are stages (by_stage) they and their buckets move; else both windows have the same ones."""
    new_want, new_bucket = _stage_by_stage(sim, fresh, moved) if by_stage else _as_they_are(sim)
    stays = np.flatnonzero(new_want >= 0)
    for name in ("tested", "no_room"):
        fresh.want[name][new_want[stays]] = sim.want[name][stays]
    full = sim.full[: int(sim.control["n_no_room"][0])]
    fresh.full[: len(full)] = new_want[full]
    fresh.control["blocked_want"] = max(0, new_want[int(sim.control["blocked_want"][0])])
    there = sim.stage_run["bucket"][moved.stages]
    fresh.stage_run["bucket"][: len(there)] = np.where(there >= 0, new_bucket[there], -1)
    old = np.flatnonzero(new_bucket >= 0)
    new = new_bucket[old]
    for name in ("head_key", "size", "heap_size", "tried"):
        fresh.bucket[name][new] = sim.bucket[name][old]
    for name in ("next", "previous"):
        links = sim.bucket[name][old]
        fresh.bucket[name][new] = np.where(links >= 0, new_bucket[links], -1)
    first = fresh.lane["first"]
    first[first >= 0] = new_bucket[first[first >= 0]]
    waits = np.flatnonzero(sim.bucket["size"] > 0)
    to = new_bucket[waits]
    new_turn = fresh.turn[moved.new_stage[sim.stage_of_turn]]  # of each old turn, where its stage stays
    fresh.bucket["head"][to] = moved.new_stage[sim.bucket["head"][waits]]
    fresh.bucket["head_turn"][to] = new_turn[sim.bucket["head_turn"][waits]]
    _carry_runs(sim, fresh, waits, to, new_turn)
    _carry_heaps(sim, fresh, waits, to, new_turn)


def _as_they_are(sim: Sim) -> tuple[Rows, Rows]:
    return np.arange(len(sim.want)), np.arange(len(sim.bucket))


def _stage_by_stage(sim: Sim, fresh: Sim, moved: Moved) -> tuple[Rows, Rows]:
    """The new row of each want and of each bucket; -1: none."""
    new_want = np.where(moved.stages, moved.new_stage, -1)
    n_combos, fresh_combos = int(sim.setting["n_combos"][0]), int(fresh.setting["n_combos"][0])
    new_combo = np.full(n_combos, -1)
    new_combo[sim.stage_combo[moved.stages]] = fresh.stage_combo[: int(moved.stages.sum())]
    pool, rest = np.divmod(np.arange(len(sim.bucket)), 2 * n_combos)
    combo = new_combo[rest // 2]
    return new_want, np.where(combo >= 0, 2 * (pool * fresh_combos + combo) + rest % 2, -1)


def _places(first: npt.NDArray[Any], counts: npt.NDArray[Any]) -> tuple[Rows, Rows]:
    """So many places from each first one on, one behind the other; and whose each is."""
    owner = np.repeat(np.arange(len(counts)), counts)
    within = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    return first[owner] + within, owner


def _carry_runs(sim: Sim, fresh: Sim, waits: Rows, to: Rows, new_turn: npt.NDArray[np.int32]) -> None:
    """Without the entries that are gone: a run begins at 0 again."""
    bucket = sim.bucket[waits]
    places, owner = _places(bucket["offset"] + bucket["run_first"], bucket["run_end"] - bucket["run_first"])
    there = sim.run["turn"][places] != GONE
    places, owner = places[there], owner[there]
    counts = np.bincount(owner, minlength=len(waits))
    within = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    turns, target = new_turn[sim.run["turn"][places]], fresh.bucket["offset"][to[owner]] + within
    fresh.run["key"][target] = sim.run["key"][places]
    fresh.run["turn"][target] = turns
    fresh.place_of_turn[turns] = -1 - within
    fresh.bucket["run_end"][to] = counts


def _carry_heaps(sim: Sim, fresh: Sim, waits: Rows, to: Rows, new_turn: npt.NDArray[np.int32]) -> None:
    bucket = sim.bucket[waits]
    places, owner = _places(bucket["offset"], bucket["heap_size"])
    within = places - bucket["offset"][owner]
    turns, target = new_turn[sim.heap["turn"][places]], fresh.bucket["offset"][to[owner]] + within
    fresh.heap["key"][target] = sim.heap["key"][places]
    fresh.heap["turn"][target] = turns
    fresh.place_of_turn[turns] = within
