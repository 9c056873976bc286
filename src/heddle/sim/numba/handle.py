"""The engine's memory as compiled code sees it: one address.

`SimHandle` is the address of a table that holds, for each array of Sim, where its data are and how long it
is. Functions get it instead of sixty arrays, so they stay small, compile fast and cost nothing to call.

In compiled code a handle has as attributes every table of Sim and of its View by name (columns.py), and of the levers'
states as `<question>_node` and so on. `shown` is the handle itself, so that `sim.shown.node` reads like what it is:
something that levers see. Levers' hooks are called by hooks.py, the engine's own units by units.py.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numpy as np
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import lower_getattr_generic, register_model, typeof_impl, unbox

from heddle.model.view import LeverState
from heddle.model.workload import TASK, segment_dtype
from heddle.policy.compile import HOOKS
from heddle.policy.handles import (
    WORDS_PER_ARRAY,
    AddressModel,
    AddressType,
    array_entry,
    unbox_address,
    view_columns,
)
from heddle.policy.lever import Question
from heddle.sim.memory import network_tables, tables
from heddle.sim.memory.tables import Sim
from heddle.sim.numba.columns import RowsType, plain_column

# Functions that are compiled apart and called through the table. Numba optimises a function together with all it
# calls, again at each level; without these borders the engine takes ten times as long to compile. The order is part of
# compiled code.
UNITS: Final = (
    "allocate", "begin_fetching", "begin_flows", "begin_job", "begin_work", "best_in_leaf", "catch_up_reports",
    "change_links_of_node", "change_use", "check_memory", "choose", "come_back", "count_allocated", "early_limit",
    "end", "end_fetching", "end_flows", "fill_executors", "find_dues", "find_sources", "finish_job", "future_peak",
    "give_way_to_maps", "insert", "keep_attempt", "maps_starve", "next_am", "next_offer_node",
    "next_report_that_matters", "node_event", "note", "observe", "preempt", "refresh_free", "refresh_tree", "rekey",
    "rekey_all",
    "rekey_job", "remove", "renew_flows", "renew_rates", "resize", "serve_heartbeats", "serve_timer", "settle_due",
    "settle_reports", "stage_asks", "start_slot", "stop_fetching", "task_near", "tell_levers", "timer_pop",
    "timer_push", "withdraw", "write_outputs",
)  # fmt: skip
# What the engine never writes: compiled code may read it once and keep it.
FIXED: Final = frozenset(
    {
        "setting", "increment", "shape", "job_spec", "stage_spec", "task_spec", "segment", "stage_combo", "leaf_bases",
        "after", "before_first", "before", "job_before_first", "job_before", "heartbeat_order",
        "heartbeat_first", "report_order",
        "level_first", "level", "prefers", "running_jobs", "running_on", "running_since_ms",
        "edge_bytes", "input_bytes", "uplink",
    }
)  # fmt: skip
HEADER: Final = len(HOOKS) + len(UNITS)  # addresses of code


@cache
def _fields(n_resources: int) -> dict[str, tuple[int, np.dtype[Any], int]]:
    """Every array: name -> (entry in the table, dtype, number of axes)."""
    i64, i32 = np.dtype(np.int64), np.dtype(np.int32)
    # First the view, then each lever's state: as handles of their own they point into this table.
    found = {name: (dtype, 1) for name, dtype in view_columns(n_resources).items()}
    for question in Question:
        found |= {f"{question}_{part}": (i64, 1 if part == "table" else 2) for part in LeverState._fields}
    for question in Question:
        found[f"{question}_params"] = (i64, 1)
    found |= {
        "control": (tables.control_dtype(n_resources), 1), "setting": (tables.SETTING, 1), "increment": (i64, 1),
        "task_spec": (TASK, 1), "segment": (segment_dtype(n_resources), 1), "task": (tables.TASK_RUN, 1),
        "stage_run": (tables.STAGE_RUN, 1), "job_run": (tables.JOB_RUN, 1),
        "node_run": (tables.node_run_dtype(n_resources), 1), "slot": (tables.slot_dtype(n_resources), 1),
        "due": (tables.DUE, 1), "timer": (tables.TIMER, 1), "run": (tables.WAITING, 1),
        "heap": (tables.WAITING, 1),
        "bucket": (tables.BUCKET, 1), "lane": (tables.LANE, 1), "want": (tables.WANT, 1),
        "queue_tried": (i64, 1), "dues": (tables.dues_dtype(n_resources), 1), "called": (tables.CALLED, 1),
        "level": (i64, 2), "tree": (tables.tree_dtype(n_resources), 1), "full": (i64, 1),
        "endings": (i64, 1), "scratch": (i64, 1), "log": (tables.LOG_ROW, 1),
        "attempt": (tables.attempt_dtype(n_resources), 1),
        "flight": (i64, 2), "flight_container": (i64, 2), "running_since_ms": (i64, 1),
        "edge_bytes": (i64, 1), "input_bytes": (i64, 1), "bytes_on_node": (i64, 1),
        "link": (network_tables.LINK, 1), "route": (network_tables.ROUTE, 1), "flow": (network_tables.FLOW, 1),
    }  # fmt: skip
    for name in (
        "due_place", "stage_combo", "leaf_bases", "after", "before_first", "before", "job_before_first", "job_before",
        "heartbeat_order", "heartbeat_first", "report_order", "level_first", "prefers", "gained", "stale", "coarse",
        "touched", "untold", "telling", "starts", "asks",
        "rekeys", "running_jobs", "running_on", "output_node", "output_tasks", "uplink", "changed_links",
        "reached_links", "reached_routes", "link_heap", "fetchers", "sources", "route_from",
    ):  # fmt: skip
        found[name] = (i32, 1)
    return {name: (entry, dtype, axes) for entry, (name, (dtype, axes)) in enumerate(found.items())}


BESIDE: Final = ("control", "setting", "clock")  # of one row: they lie behind the table, one add from its address


@cache
def _beside(n_resources: int) -> dict[str, int]:
    at = HEADER + WORDS_PER_ARRAY * len(_fields(n_resources))
    found = {}
    for name in BESIDE:
        found[name] = 8 * at
        at += -(-_fields(n_resources)[name][1].itemsize // 8)
    found[""] = 8 * at
    return found


class SimHandle:
    """Keeps the arrays alive and knows the address of their table."""

    def __init__(self, sim: Sim, code: list[int]) -> None:
        self.n_resources = sim.shown.shape["demand"].shape[1]
        places = _beside(self.n_resources)
        self._table = np.zeros(places[""] // 8, np.int64)
        rows = {}
        for name, before in (("control", sim.control), ("setting", sim.setting), ("clock", sim.shown.clock)):
            words = -(-before.dtype.itemsize // 8)
            at = places[name] // 8
            rows[name] = self._table[at : at + words].view(np.uint8)[: before.dtype.itemsize].view(before.dtype)
            rows[name][:] = before
        sim = sim._replace(
            control=rows["control"], setting=rows["setting"], shown=sim.shown._replace(clock=rows["clock"])
        )
        self.sim = sim
        self._code = code  # addresses of the policy's hooks, then of the units
        given = {**sim._asdict(), **sim.shown._asdict()}
        for question in Question:
            state: LeverState = getattr(sim.levers, question)
            given |= {f"{question}_{part}": array for part, array in state._asdict().items()}
            given[f"{question}_params"] = getattr(sim.levers, f"{question}_params")
        table = list(code)
        for name, (_, dtype, axes) in _fields(self.n_resources).items():
            array = given[name]
            if array.dtype != dtype or array.ndim != axes or not array.flags.c_contiguous:
                raise TypeError(f"{name}: {array.dtype}, {array.ndim} axes; the engine wants {dtype}, {axes}")
            table.extend(array_entry(array))
        self._table[: len(table)] = table
        self.address = int(self._table.ctypes.data)

    def moved_to(self, sim: Sim) -> SimHandle:
        """A handle to other arrays that goes on with the same policy."""
        return SimHandle(sim, self._code)


class SimType(AddressType):
    """Numba's type of a SimHandle."""

    def __init__(self, n_resources: int) -> None:
        self.n_resources = n_resources
        super().__init__(name=f"heddle.SimHandle({n_resources})")

    def word(self, name: str) -> int:
        """Where the entry of an array begins."""
        return HEADER + WORDS_PER_ARRAY * _fields(self.n_resources)[name][0]


register_model(SimType)(AddressModel)
unbox(SimType)(unbox_address)


@typeof_impl.register(SimHandle)
def _typeof(handle: SimHandle, context: Any) -> SimType:
    return SimType(handle.n_resources)


@infer_getattr
class _SimAttributes(AttributeTemplate):  # type: ignore[misc]
    key = SimType

    def generic_resolve(self, sim: Any, attr: str) -> Any:
        if attr == "shown":
            return sim
        if attr not in _fields(sim.n_resources):
            return None
        _, dtype, axes = _fields(sim.n_resources)[attr]
        if dtype.fields is not None:
            beside = _beside(sim.n_resources).get(attr)
            return RowsType(attr, dtype, sim.word(attr), attr in FIXED, beside)
        return plain_column(attr, sim.word(attr), dtype, axes, attr in FIXED)


@lower_getattr_generic(SimType)
def _lower_attribute(context: Any, builder: Any, typ: Any, value: Any, attr: str) -> Any:
    return value
