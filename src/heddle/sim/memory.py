"""The engine's memory as compiled code sees it: one address.

`SimHandle` is the address of a table that holds, for each array of Sim, where its data are and how long it
is. Functions get it instead of sixty arrays, so they stay small, compile fast and cost nothing to call.

In compiled code a handle has these attributes: every table of Sim and of its View by name (columns.py); `known`, the
View as levers get it; `<question>_state` and `<question>_params` of each lever; and every hook of the policy as
`call_<hook>`. `shown` is the handle itself, so that `sim.shown.node` reads like what it is: something that levers see.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import intrinsic, lower_getattr_generic, register_model, typeof_impl, unbox

from heddle.model.view import LeverState
from heddle.model.workload import TASK, segment_dtype
from heddle.policy.compile import HOOKS, PARAMS_TYPE, signature
from heddle.policy.handles import (
    WORD,
    WORDS_PER_ARRAY,
    AddressModel,
    AddressType,
    StateType,
    ViewType,
    array_entry,
    build_array,
    load_word,
    unbox_address,
    view_columns,
)
from heddle.policy.lever import Question
from heddle.sim import arrays
from heddle.sim.arrays import Sim
from heddle.sim.columns import RowsType, plain_column

HOOK_BYTES: Final = 64  # room for one first-class function
CALL: Final = "call_"

# Functions that are compiled apart and called through the table. Numba optimises a function together with all it
# calls, again at each level; without these borders the engine takes ten times as long to compile. The order is part of
# compiled code.
UNITS: Final = (
    "allocate", "arrive", "ask_soon", "begin_job", "begin_work", "best_in_leaf", "catch_up_reports", "change_use",
    "check_memory", "choose", "come_back", "count_allocated", "count_waiting", "due_clear", "due_set", "early_limit",
    "end", "fill_executors", "finish_job", "future_peak", "give_way_to_maps", "insert", "make_runnable", "maps_starve",
    "new_slot", "next_am", "next_offer_node", "node_event", "note", "pass_mark", "refresh_tree", "rekey", "rekey_job",
    "remove", "renew_rates", "resize", "serve_heartbeats", "serve_timer", "set_due", "settle_reports", "stage_asks",
    "stage_done", "start_slot", "task_near", "tell_levers", "timer_pop", "timer_push", "withdraw",
)  # fmt: skip
# What a run never writes: compiled code may read it once and keep it.
FIXED: Final = frozenset(
    {
        "setting", "increment", "shape", "job_spec", "stage_spec", "task_spec", "segment", "stage_combo", "leaf_bases",
        "after", "before_first", "before", "job_before_first", "job_before", "heartbeat_order", "report_order",
        "level_first", "level", "prefers",
    }
)  # fmt: skip
HEADER: Final = 1 + len(UNITS)  # where the hooks are, and the units' addresses


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
        "control": (arrays.control_dtype(n_resources), 1), "setting": (arrays.SETTING, 1), "increment": (i64, 1),
        "task_spec": (TASK, 1), "segment": (segment_dtype(n_resources), 1), "task": (arrays.TASK_RUN, 1),
        "stage_run": (arrays.STAGE_RUN, 1), "job_run": (arrays.JOB_RUN, 1),
        "node_run": (arrays.node_run_dtype(n_resources), 1), "slot": (arrays.slot_dtype(n_resources), 1),
        "due": (arrays.DUE, 1), "timer": (arrays.TIMER, 1), "run": (arrays.WAITING, 1),
        "heap": (arrays.WAITING, 1),
        "bucket": (arrays.BUCKET, 1), "lane": (arrays.LANE, 1), "want": (arrays.WANT, 1),
        "queue_tried": (i64, 1), "level": (i64, 2), "tree": (arrays.tree_dtype(n_resources), 1), "full": (i64, 1),
        "endings": (i64, 1), "scratch": (i64, 1), "log": (arrays.LOG_ROW, 1),
    }  # fmt: skip
    for name in (
        "due_place", "stage_combo", "leaf_bases", "after", "before_first", "before", "job_before_first", "job_before",
        "heartbeat_order", "report_order", "level_first", "prefers", "gained", "touched", "starts", "asks", "rekeys",
    ):  # fmt: skip
        found[name] = (i32, 1)
    return {name: (entry, dtype, axes) for entry, (name, (dtype, axes)) in enumerate(found.items())}


class SimHandle:
    """Keeps the arrays alive and knows the address of their table."""

    def __init__(self, sim: Sim, unit_addresses: list[int]) -> None:
        self.sim = sim
        self.n_resources = sim.shown.shape["demand"].shape[1]
        self._units = unit_addresses
        self._hooks = np.zeros(len(HOOKS) * HOOK_BYTES // 8, np.int64)
        given = {**sim._asdict(), **sim.shown._asdict()}
        for question in Question:
            state: LeverState = getattr(sim.levers, question)
            given |= {f"{question}_{part}": array for part, array in state._asdict().items()}
            given[f"{question}_params"] = getattr(sim.levers, f"{question}_params")
        table = [int(self._hooks.ctypes.data), *unit_addresses]
        for name, (_, dtype, axes) in _fields(self.n_resources).items():
            array = given[name]
            if array.dtype != dtype or array.ndim != axes or not array.flags.c_contiguous:
                raise TypeError(f"{name}: {array.dtype}, {array.ndim} axes; the engine wants {dtype}, {axes}")
            table.extend(array_entry(array))
        self._table = np.array(table, np.int64)
        self.address = int(self._table.ctypes.data)

    def moved_to(self, sim: Sim) -> SimHandle:
        """A handle to other arrays that goes on with the same policy."""
        moved = SimHandle(sim, self._units)
        moved._hooks[:] = self._hooks
        return moved


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
        if attr == "known":
            return ViewType(sim.n_resources)
        if attr.endswith("_state"):
            return StateType()
        if attr.endswith("_params"):
            return PARAMS_TYPE
        if attr.startswith(CALL):
            return types.FunctionType(signature(attr.removeprefix(CALL), sim.n_resources))
        if attr not in _fields(sim.n_resources):
            return None
        _, dtype, axes = _fields(sim.n_resources)[attr]
        if dtype.fields is not None:
            return RowsType(attr, dtype, sim.word(attr), attr in FIXED)
        return plain_column(attr, sim.word(attr), dtype, axes, attr in FIXED)


def _hook_pointer(context: Any, builder: Any, address: Any, hook: str, n_resources: int) -> Any:
    llvm_type = context.get_value_type(types.FunctionType(signature(hook, n_resources)))
    offset = ir.Constant(WORD, list(HOOKS).index(hook) * HOOK_BYTES)
    return builder.inttoptr(builder.add(load_word(builder, address, 0), offset), llvm_type.as_pointer())


@lower_getattr_generic(SimType)
def _lower_attribute(context: Any, builder: Any, typ: Any, value: Any, attr: str) -> Any:
    if attr.startswith(CALL):
        return builder.load(_hook_pointer(context, builder, value, attr.removeprefix(CALL), typ.n_resources))
    if attr.endswith("_params"):
        return build_array(context, builder, value, typ.word(attr), PARAMS_TYPE)
    first = next(iter(_fields(typ.n_resources))) if attr == "known" else f"{attr.removesuffix('_state')}_table"
    if attr == "known" or attr.endswith("_state"):
        return builder.add(value, ir.Constant(WORD, 8 * typ.word(first)))
    return value


@intrinsic
def remember_hooks(typingctx: Any, sim: Any, hooks: Any) -> Any:
    """Writes the policy's functions to where `sim.call_key` and the others are read from."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        for i, hook in enumerate(HOOKS):
            pointer = _hook_pointer(context, builder, args[0], hook, sim.n_resources)
            builder.store(builder.extract_value(args[1], i), pointer)
        return context.get_dummy_value()

    return types.void(sim, hooks), codegen
