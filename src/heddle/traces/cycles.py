"""Finding circular dependencies, in time proportional to the edges."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]


def find_cycles(waits: Numbers, for_: Numbers, group: Numbers) -> list[list[int]]:
    """One cycle for each group that has one; `waits[i]` waits for `for_[i]`, both of one group.

    A cycle is listed in waiting order: each member waits for the next, the last for the first.
    """
    suspects = np.unique(group[waits[for_ >= waits]])  # where all edges point backwards there is no cycle
    chosen = np.isin(group[waits], suspects)
    predecessors: dict[int, list[int]] = defaultdict(list)
    followers: dict[int, list[int]] = defaultdict(list)
    for waiting, before in zip(waits[chosen].tolist(), for_[chosen].tolist(), strict=True):
        predecessors[waiting].append(before)
        followers[before].append(waiting)
    open_count = {node: len(before) for node, before in predecessors.items()}
    ready = [node for node in followers if node not in open_count]
    while ready:
        for node in followers[ready.pop()]:
            open_count[node] -= 1
            if open_count[node] == 0:
                ready.append(node)
    stuck = {node for node, count in open_count.items() if count > 0}
    cycles: dict[int, list[int]] = {}
    for start in sorted(stuck):
        if int(group[start]) not in cycles:
            cycles[int(group[start])] = _walk(start, predecessors, stuck)
    return list(cycles.values())


def _walk(start: int, predecessors: dict[int, list[int]], stuck: set[int]) -> list[int]:
    """What is stuck waits for something stuck: following that must come round."""
    path: list[int] = []
    seen: dict[int, int] = {}
    node = start
    while node not in seen:
        seen[node] = len(path)
        path.append(node)
        node = min(before for before in predecessors[node] if before in stuck)
    return path[seen[node] :]


def in_words(names: list[str]) -> str:
    """`a waits for b waits for a`."""
    return " waits for ".join([*names, names[0]])
