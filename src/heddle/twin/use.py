"""What containers will use, from what nodes were seen to use: a ResourceManager tells no more than that.

At each look a node's containers hold so much and use so much together. Least squares over all looks says how much of
its reservation each kind of container uses: those of one size, of jobs of one name and user. The order of fallbacks:
a kind that was seen; the more so the less, what all containers together use of what they hold; without any look,
nothing is said of use. It is a mean: how use differs between tasks of a kind, and over the life of one, is not seen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from heddle.model.resources import MEMORY, MILLI, VCORES
from heddle.twin.known import Application, Snapshot
from heddle.yarn.live.snapshot import Snapshot as Look

FEW: Final = 5.0  # looks at a single container that count as much as what all use together
USE_EVERY_MS: Final = 5000  # looks that are taken in
MOST: Final = 2.0  # of its reservation: CPU can be more than was reserved

Key = tuple[Any, ...]  # the job's name and user, whether it is an AM, and its size
_N: Final = 2  # memory and vcores: what is known about nodes


Machines = Callable[[Look], npt.NDArray[np.int64]]  # of each node of a look, its machine's vcores in thousandths


class ObservedUse:
    """`kind_of`: of an application's number, its name but for numbers, and its user."""

    def __init__(self, machines: Machines, kind_of: Callable[[int], tuple[str, str]]) -> None:
        self._machines, self._kind_of = machines, kind_of
        self._place: dict[Key, int] = {}
        self._held_squared = np.zeros((_N, 0, 0))  # the sums of least squares, of each resource
        self._held_used = np.zeros((_N, 0))
        self._held, self._used = np.zeros(_N), np.zeros(_N)

    def look(self, look: Look) -> None:
        """Takes one look in."""
        nodes, containers = look.columns.nodes, look.columns.containers
        if not len(containers):
            return
        places = np.array(
            [
                self._number((*self._kind_of(int(row["app"])), bool(row["is_am"]), *row["size"].tolist()))
                for row in containers
            ]
        )
        self._grow()
        used = np.zeros((len(nodes), _N))
        used[:, MEMORY] = nodes["containers_memory_mb"]
        # A NodeManager counts CPU in vcores of its present size, not in the machine's.
        of_machine = self._machines(look) / np.maximum(1, nodes["total"][:, VCORES])
        used[:, VCORES] = nodes["container_vcores_used"] * of_machine * MILLI
        row_of = {int(node): row for row, node in enumerate(nodes["node"])}
        rows = np.array([row_of[int(node)] for node in containers["node"]])
        for r in range(_N):
            held = np.zeros((len(nodes), len(self._place)))
            np.add.at(held, (rows, places), containers["size"][:, r])
            told = used[:, r] >= 0
            self._held_squared[r] += held[told].T @ held[told]
            self._held_used[r] += held[told].T @ used[told, r]
            self._held[r] += held[told].sum()
            self._used[r] += used[told, r].sum()

    def told(self, snapshot: Snapshot) -> Snapshot:
        """The snapshot with what its containers are thought to use; as it is where nothing was ever observed."""
        if not self._held.all():
            return snapshot
        shares = self._shares()
        return replace(snapshot, applications=tuple(self._with_use(app, shares) for app in snapshot.applications))

    def _with_use(self, app: Application, shares: npt.NDArray[np.float64]) -> Application:
        stages = tuple(replace(one, use=self._use(app, one.demand, False, shares)) for one in app.stages)
        master = None if app.master is None else self._use(app, app.master, True, shares)
        return replace(app, stages=stages, master_use=master)

    def _use(
        self, app: Application, demand: tuple[int, ...], is_am: bool, shares: npt.NDArray[np.float64]
    ) -> tuple[int, ...]:
        place = self._place.get((*app.kind, is_am, *demand[:_N]))
        share = self._overall() if place is None else shares[:, place]
        return (*(round(float(share[r]) * demand[r]) for r in range(_N)), *demand[_N:])

    def _overall(self) -> npt.NDArray[np.float64]:
        return np.clip(self._used / self._held, 0, MOST)

    def _shares(self) -> npt.NDArray[np.float64]:
        """Of each resource and kind, the share of its reservation that it uses."""
        sizes = np.array([key[-_N:] for key in self._place], float).reshape(-1, _N)
        found = np.zeros((_N, len(sizes)))
        for r, overall in enumerate(self._overall()):
            doubt = FEW * np.maximum(1.0, sizes[:, r]) ** 2
            found[r] = np.linalg.solve(self._held_squared[r] + np.diag(doubt), self._held_used[r] + doubt * overall)
        return np.clip(found, 0, MOST)

    def _number(self, key: Key) -> int:
        return self._place.setdefault(key, len(self._place))

    def _grow(self) -> None:
        more = len(self._place) - self._held_used.shape[1]
        if more:
            self._held_squared = np.pad(self._held_squared, ((0, 0), (0, more), (0, more)))
            self._held_used = np.pad(self._held_used, ((0, 0), (0, more)))
