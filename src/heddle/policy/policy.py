"""A policy: one lever for each question, written as a string like `drf+n-sigma(n=5)`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from heddle.model.errors import BadInput
from heddle.model.view import View
from heddle.model.workload import Workload
from heddle.policy.lever import Admission, Lever, Ordering, Partition, Placement, Question, Queues, Sizing

L = TypeVar("L", bound=Lever)


class Declared(NamedTuple):
    """What an operator says of data and of the network, and no ResourceManager knows."""

    after: npt.NDArray[np.int32]  # as stage_spec["first_after"] and ["n_after"] point into it
    edge_bytes: npt.NDArray[np.int64]  # aligned with it: what all tasks of the later stage read together
    preferred_bytes: npt.NDArray[np.int64]  # aligned with `preferred`: input of the stage's tasks on that node
    bandwidth: npt.NDArray[np.int64]  # bytes per ms, of each node
    uplink: npt.NDArray[np.int64]  # bytes per ms, of each rack; 0 = no limit
    heartbeats: bool  # nodes are offered one at a time


class Setup(NamedTuple):
    """What a lever's prepare() gets: the view at time 0, its own zeroed columns and, if it declares that, the truth."""

    lever: Lever
    view: View
    state: Any
    truth: Workload | None
    # Nodes that hold the input of some task of a stage; those of stage s are
    # preferred[first_preferred[s]:first_preferred[s + 1]].
    first_preferred: npt.NDArray[np.int64]
    preferred: npt.NDArray[np.int64]
    declared: Declared | None = None  # None on a live cluster

    def prepared_lists(self) -> dict[str, npt.NDArray[np.int64]]:
        """Calls it. Its lists, all that the lever declares."""
        assert self.lever.prepare is not None
        made = self.lever.prepare(self) or {}
        wanted = self.lever.state.lists
        if set(made) != set(wanted):
            code = self.lever.prepare.__code__
            what = f"{self.lever.name}: prepare() returns the lists {sorted(made)}, declared are {sorted(wanted)}"
            raise BadInput.of(code.co_filename, what, row=code.co_firstlineno)
        return {name: np.ascontiguousarray(made[name], np.int64) for name in wanted}


@dataclass(frozen=True)
class Policy:
    """Six levers. `name` is what the user wrote; str() is the canonical string that parses back to an equal policy."""

    name: str
    levers: tuple[Lever, ...]  # in the order of Question

    @cached_property
    def by_question(self) -> Mapping[Question, Lever]:
        return {lever.question: lever for lever in self.levers}

    def _of(self, kind: type[L]) -> L:
        return next(lever for lever in self.levers if isinstance(lever, kind))

    @property
    def queues(self) -> Queues:
        return self._of(Queues)

    @property
    def ordering(self) -> Ordering:
        return self._of(Ordering)

    @property
    def admission(self) -> Admission:
        return self._of(Admission)

    @property
    def sizing(self) -> Sizing:
        return self._of(Sizing)

    @property
    def partition(self) -> Partition:
        return self._of(Partition)

    @property
    def placement(self) -> Placement:
        return self._of(Placement)

    @property
    def clairvoyant(self) -> tuple[str, ...]:
        """Levers that know the future, and so cannot run on a live cluster."""
        return tuple(lever.name for lever in self.levers if lever.clairvoyant)

    @property
    def may_deadlock(self) -> bool:
        return any(lever.trait(lever.may_deadlock) for lever in self.levers)

    def __str__(self) -> str:
        return "+".join(str(lever) for lever in self.levers)
