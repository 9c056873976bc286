"""A policy: one lever for each question, written as a string like `drf+n-sigma(n=5)`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from traceback import extract_tb
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from heddle.model.cluster import Calculator
from heddle.model.errors import BadInput, Problem
from heddle.model.view import View
from heddle.model.workload import Workload
from heddle.policy.declaration import is_ours
from heddle.policy.lever import Admission, Lever, Ordering, Partition, Placement, Question, Queues, Sizing
from heddle.policy.state import read_only

L = TypeVar("L", bound=Lever)


class Declared(NamedTuple):
    """What an operator says of data and of the network, and no ResourceManager knows."""

    after: npt.NDArray[np.int32]  # as stage_spec["first_after"] and ["n_after"] point into it
    edge_bytes: npt.NDArray[np.int64]  # aligned with it: what all tasks of the later stage read together
    preferred_bytes: npt.NDArray[np.int64]  # aligned with `preferred`: input of the stage's tasks on that node
    bandwidth: npt.NDArray[np.int64]  # bytes per ms, of each node
    uplink: npt.NDArray[np.int64]  # bytes per ms, of each rack; 0 = no limit
    heartbeats: bool  # nodes are offered one at a time
    # Bytes per ms between two nodes, [n * nodes + m], 0: what their links have; empty: all have.
    pairs: npt.NDArray[np.int64] = np.zeros(0, np.int64)


class Setup(NamedTuple):
    """What a lever's prepare() gets: the view at time 0, its own zeroed columns and, if it declares that, the truth."""

    lever: Lever  # with its parameters set
    view: View  # at time 0
    state: Any  # its own columns, all 0; it may fill them
    truth: Workload | None  # for levers with truth=("workload",)
    # Nodes that hold the input of some task of a stage; those of stage s are
    # preferred[first_preferred[s]:first_preferred[s + 1]].
    first_preferred: npt.NDArray[np.int64]
    preferred: npt.NDArray[np.int64]  # numbers of nodes, as above
    declared: Declared | None = None  # data sizes and bandwidths, with reads_declared

    def prepared_lists(self) -> dict[str, npt.NDArray[np.int64]]:
        """Calls it. Its lists, all that the lever declares. BadInput with the user's line if it cannot."""
        assert self.lever.prepare is not None
        code = self.lever.prepare.__code__
        try:
            made = self.lever.prepare(self._replace(view=View(*map(read_only, self.view)))) or {}
        except Exception as error:
            if is_ours(self.lever.prepare):
                raise
            lines = [one.lineno for one in extract_tb(error.__traceback__) if one.filename == code.co_filename]
            said = f"{self.lever.name}: prepare() raised {type(error).__name__}: {error}"
            if isinstance(error, AttributeError) and isinstance(error.obj, Setup):
                said += f"; a Setup has {', '.join(self._fields)}"
            if self._asks_for_a_truth(error):
                said = f'{self.lever.name}: prepare(): setup.truth is None: say truth=("workload",)'
            raise BadInput.of(code.co_filename, said, row=lines[-1] if lines else code.co_firstlineno) from error
        wanted = self.lever.state.lists
        problems = []
        if not isinstance(made, Mapping) or set(made) != set(wanted):
            given = sorted(made) if isinstance(made, Mapping) else made
            problems.append(f"prepare() returns {given!r}, the lists that it declares are {sorted(wanted)}")
        else:
            problems += [f"the list {name!r} {what}" for name in wanted if (what := _not_a_list(made[name]))]
        if problems:
            raise BadInput(
                [Problem(code.co_filename, f"{self.lever.name}: {one}", code.co_firstlineno) for one in problems]
            )
        return {name: np.ascontiguousarray(made[name], np.int64) for name in wanted}

    def _asks_for_a_truth(self, error: Exception) -> bool:
        """It is not declared, prepare() looks at it, and None has nothing to look at."""
        assert self.lever.prepare is not None
        looks = "truth" in self.lever.prepare.__code__.co_names
        return isinstance(error, AttributeError) and error.obj is None and looks and self.truth is None


def _not_a_list(made: Any) -> str:
    """Why it is no list of whole numbers; empty if it is one."""
    try:
        array = np.asarray(made)
    except ValueError as error:
        return f"is no list: {error}"
    if array.ndim != 1:
        return f"has {array.ndim} dimensions, not one"
    if array.dtype.kind not in "iubf":
        return f"holds {array.dtype}, not whole numbers"
    return "" if np.array_equal(array, np.trunc(array)) else "holds fractions, which would be cut to whole numbers"


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

    def calculator(self, of_cluster: Calculator) -> Calculator:
        """How resources count under this policy: some schedulers look at all of them, or at memory alone, whatever the
        cluster says."""
        if self.ordering.trait(self.ordering.by_memory):
            return "memory"
        return "dominant" if self.queues.counts_all else of_cluster

    def __str__(self) -> str:
        return "+".join(str(lever) for lever in self.levers)
