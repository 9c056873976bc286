"""What a lever remembers, where jobs come in blocks: rows of jobs move, and new ones are prepared beside them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from heddle.policy.state import Chain, State, lever_state

Mask = npt.NDArray[np.bool_]


class Staying(NamedTuple):
    """Of the rows so far: which of them stay. They come first among the new ones, in their order."""

    job: Mask
    stage: Mask
    task: Mask


def jobs_in_chains(declared: State, state: Any) -> list[int]:
    """The jobs that are chained, ended or not: the lever finds its way through them."""
    return [job for chain in declared.chains for job in _members(chain, state)]


def _members(chain: Chain, state: Any) -> list[int]:
    found: list[int] = []
    at, following = int(state.table[chain.first][0]), state.job[chain.next]
    while at > 0:
        found.append(at - 1)
        at = int(following[at - 1])
    return found


def carried_state(declared: State, before: Any, prepared: Any, staying: Staying) -> Any:
    """`before` with the rows that stay, and behind them those of new jobs as they were `prepared`."""
    arrays: dict[str, npt.NDArray[Any]] = {part: getattr(before, part) for part in before._fields}
    new_job = np.append(0, np.cumsum(staying.job))  # how many stay before each row
    chained = {chain: np.array(_members(chain, before), int) for chain in declared.chains}
    if "table" in arrays:
        _move_table(declared, arrays["table"], staying, new_job)
    if "job" in arrays:
        arrays["job"] = _moved(before.job, prepared.job, staying.job)
        _move_links(chained, before.job, arrays["job"], new_job)
    for name in declared.lists:
        own, fresh = getattr(before, name), getattr(prepared, name)
        arrays[name] = _moved_list(declared.list_of.get(name, ""), own, fresh, staying)
    return lever_state(arrays)


def _moved(own: npt.NDArray[Any], fresh: npt.NDArray[Any], stays: Mask) -> npt.NDArray[Any]:
    moved = fresh.copy()
    moved[: int(stays.sum())] = own[stays]
    return moved


def _moved_list(of: str, own: npt.NDArray[Any], fresh: npt.NDArray[Any], staying: Staying) -> npt.NDArray[Any]:
    if of == "given":
        return fresh
    if of:
        stays: Mask = getattr(staying, of)
        return _moved(own, fresh, stays) if len(own) else fresh  # who needed none before has none
    return lengthened(own, fresh)


def lengthened(own: npt.NDArray[Any], fresh: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """What is there, with the end of a longer one behind it."""
    if len(fresh) <= len(own):
        return own
    longer = fresh.copy()
    longer[: len(own)] = own
    return longer


def _move_table(declared: State, table: npt.NDArray[Any], staying: Staying, new_job: npt.NDArray[Any]) -> None:
    for chain in declared.chains:
        for name in (chain.first, *([chain.last] if chain.last else [])):
            if table[name][0] > 0:
                table[name] = new_job[table[name][0] - 1] + 1
    for first, last in declared.spans:
        table[first], table[last] = new_job[table[first][0]], new_job[table[last][0] + 1] - 1
    for name in declared.stages:
        stage = int(table[name][0]) - 1
        there = stage >= 0 and staying.stage[stage]
        table[name] = int(staying.stage[: stage + 1].sum()) if there else 0


def _move_links(
    chained: Mapping[Chain, npt.NDArray[Any]],
    before: npt.NDArray[Any],
    moved: npt.NDArray[Any],
    new_job: npt.NDArray[Any],
) -> None:
    """The links of those that are chained; what others have there is of no use to anybody."""
    for chain, old in chained.items():
        for name in (chain.next, *([chain.previous] if chain.previous else [])):
            links = before[name][old]
            moved[name][: new_job[-1]] = 0
            moved[name][new_job[old]] = np.where(links > 0, new_job[np.maximum(links, 1) - 1] + 1, 0)
