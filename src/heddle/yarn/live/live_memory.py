"""The memory of a live view: the view's arrays and what it takes to keep them up to date, as compiled code sees them.

Arrays have room to spare; how many rows are in use is in `counts`. Compiled code takes rows as long as there is room
and else stops, Python makes room and lets it go on. Compiled code gets one address: that of a table which holds, for
each array, where it is and how long. The view's arrays come first, so that to levers the same address is a view.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
from numba.extending import intrinsic, lower_getattr_generic, register_model

from heddle.model.numba_internals import AttributeTemplate, infer_getattr
from heddle.model.view import View
from heddle.policy.handle_types import AddressModel, AddressType, array_type, build_array
from heddle.policy.handles import WORDS_PER_ARRAY, array_entry, view_columns

N_RESOURCES: Final = 2
NOTHING: Final = -1
FIRST_ROOM: Final = 64

# What is counted: rows in use, and below rows that there is room for.
(NODES, QUEUES, MEMBERS, POOLS, SHAPES, CONTAINERS, JOBS, STAGES, FREE_ROWS, LIVE_JOBS) = range(10)
EDGES, PLACES, N_COUNTS = range(10, 13)  # of declared stages: those they come after; their tasks, as room for places
_ONE: Final = -1  # clock
_COUNTED_BY: Final = {
    "clock": _ONE, "node": NODES, "queue": QUEUES, "member": MEMBERS, "pool": POOLS, "shape": SHAPES,
    "container": CONTAINERS, "job_spec": JOBS, "job": JOBS, "stage_spec": STAGES, "stage": STAGES,
}  # fmt: skip


class Own(NamedTuple):
    """An array beside the view's."""

    dtype: np.dtype[Any]
    axes: int
    second: int
    counted_by: int


def _integers(counted_by: int, second: int = 0) -> Own:
    return Own(np.dtype(np.int64), 2 if second else 1, second, counted_by)


FIRST, ROOM, USED = range(3)
LEAF, MEMBER = range(2)
OWN: Final = {
    "node_reports": _integers(NODES),  # of each node, so far
    "reports_before": _integers(CONTAINERS),  # of a container's node, when it was allocated
    "free_rows": _integers(CONTAINERS),  # of containers; the last is taken first
    "found_permille": _integers(QUEUES, 2),  # guarantee and maximum before we set them; -1: we do not
    "am_held": _integers(JOBS, N_RESOURCES),
    "held_on_labels": _integers(JOBS, N_RESOURCES),  # by its containers on nodes that have one
    "ams": _integers(JOBS),  # how many it has: one may hold nothing
    "came_to": _integers(JOBS, 2),  # leaf and member, as it was submitted
    "block": _integers(JOBS, 3),  # the rows of its stages: first, how many there is room for, how many are used
    "job_app": _integers(JOBS),  # the application's number
    "live_jobs": _integers(JOBS),  # rows of those that have not ended, in order of arrival
    "fate": _integers(JOBS),  # while it is found out who has ended: the state to come, -1: it goes on
    "stage_priority": _integers(STAGES),
}
# By numbers of names: the row of each, -1 if it has none.
BY_NAME: Final = ("row_of_node", "row_of_app", "row_of_container", "leaf_of_queue")
PARTS: Final = (*View._fields, *OWN, *BY_NAME, "counts", "rooms")


class LiveMemory:
    """Zeroed rows."""

    def __init__(self, n_pools: int) -> None:
        self.counts = np.zeros(N_COUNTS, np.int64)
        self.rooms = np.full(N_COUNTS, FIRST_ROOM, np.int64)
        self.counts[POOLS] = self.rooms[POOLS] = n_pools
        self._arrays: dict[str, npt.NDArray[Any]] = {"counts": self.counts, "rooms": self.rooms}
        for name, dtype in view_columns(N_RESOURCES).items():
            self._arrays[name] = np.zeros(1 if _COUNTED_BY[name] == _ONE else self.rooms[_COUNTED_BY[name]], dtype)
        for name, own in OWN.items():
            room = int(self.rooms[own.counted_by])
            self._arrays[name] = np.zeros((room, own.second) if own.second else room, own.dtype)
        self._arrays |= {name: np.full(FIRST_ROOM, NOTHING, np.int64) for name in BY_NAME}
        self._table = np.zeros(WORDS_PER_ARRAY * len(PARTS), np.int64)
        self.address = int(self._table.ctypes.data)
        counted = [(at, _COUNTED_BY[name]) for at, name in enumerate(View._fields) if _COUNTED_BY[name] != _ONE]
        self._length_words = np.array([WORDS_PER_ARRAY * at + 1 for at, _ in counted])
        self._length_counts = np.array([count for _, count in counted])
        self._view: View | None = None
        self._shown = b""
        self._note_places()

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """An array with all of its room."""
        return self._arrays[name]

    @property
    def view(self) -> View:
        """The rows in use. The same object as long as there are no more of them."""
        shown = self.counts[:FREE_ROWS].tobytes()
        if self._view is None or shown != self._shown:
            self._shown = shown
            self._table[self._length_words] = self.counts[self._length_counts]
            used = (1 if at == _ONE else int(self.counts[at]) for at in (_COUNTED_BY[name] for name in View._fields))
            self._view = View(*(self._arrays[name][:n] for name, n in zip(View._fields, used, strict=True)))
        return self._view

    def make_room(self, *more: tuple[int, int]) -> None:
        """For so many more rows each and then some."""
        short = {kind: int(self.counts[kind]) + rows for kind, rows in more}
        short = {kind: wanted for kind, wanted in short.items() if wanted > self.rooms[kind]}
        for kind, wanted in short.items():
            self.rooms[kind] = 2 * wanted
        if short:
            counted_by = _COUNTED_BY | {name: own.counted_by for name, own in OWN.items()}
            for name, kind in counted_by.items():
                if kind in short:
                    self._arrays[name] = _longer(self._arrays[name], int(self.rooms[kind]), 0)
            self._note_places()

    def make_room_for_names(self, **counts: int) -> None:
        """For names with smaller numbers than these, by array."""
        for name, count in counts.items():
            if count > len(self._arrays[name]):
                self._arrays[name] = _longer(self._arrays[name], 2 * count, NOTHING)
                self._note_places()

    def _note_places(self) -> None:
        self._table[:] = [word for name in PARTS for word in array_entry(self._arrays[name])]
        self._view = None


def _longer(array: npt.NDArray[Any], room: int, filled_with: int) -> npt.NDArray[Any]:
    longer = np.zeros((room, *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    if filled_with:
        longer[len(array) :] = filled_with
    return longer


class LiveType(AddressType):
    """Numba's type of the address of a LiveMemory's table."""

    def __init__(self) -> None:
        super().__init__(name="heddle.LiveMemory")


register_model(LiveType)(AddressModel)


@cache
def _parts() -> dict[str, Any]:
    numbers = array_type(np.dtype(np.int64), 1)
    found = {name: array_type(dtype, 1) for name, dtype in view_columns(N_RESOURCES).items()}
    found |= {name: array_type(own.dtype, own.axes) for name, own in OWN.items()}
    return found | dict.fromkeys((*BY_NAME, "counts", "rooms"), numbers)


@infer_getattr
class _LiveParts(AttributeTemplate):  # type: ignore[misc]
    key = LiveType

    def generic_resolve(self, typ: Any, attr: str) -> Any:
        return _parts().get(attr)


@lower_getattr_generic(LiveType)
def _lower_part(context: Any, builder: Any, typ: Any, value: Any, attr: str) -> Any:
    return build_array(context, builder, value, WORDS_PER_ARRAY * PARTS.index(attr), _parts()[attr])


@intrinsic
def memory_at(typingctx: Any, address: Any) -> Any:
    """The memory at this address."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return args[0]

    return LiveType()(address), codegen
