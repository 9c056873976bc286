"""The engine's memory as compiled code sees it: one pointer.

A NamedTuple of sixty arrays is passed to a compiled function by value, as hundreds of words; functions then
have to be inlined into one giant that takes minutes to compile. `SimHandle` is one address: of a table that holds,
for each array of Sim, where its data are and how long it is. `sim.slot` in compiled code builds the array from its
entry of the table - two loads, which LLVM drops or shares - so functions stay small, compile fast and cost nothing
to call.

In compiled code a handle has these attributes: every array of Sim and of its View by name; `known`, the View as levers
get it; `<question>_state` and `<question>_params` of each lever; and every hook of the policy as `call_<hook>`. `shown`
is the handle itself, so that `sim.shown.node` reads like what it is: something that levers see.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numba
import numpy as np
from llvmlite import ir
from numba import cfunc, types
from numba.core import cgutils
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import NativeValue, intrinsic, lower_getattr_generic, models, register_model, typeof_impl, unbox
from numba.np import arrayobj

from heddle.model import compiled as _cache_location  # noqa: F401  (sets the cache folder before anything compiles)
from heddle.model.view import LeverState, View, view_dtypes
from heddle.model.workload import JOB, STAGE, TASK, segment_dtype
from heddle.policy.compile import HOOKS, signature, state_type, view_type
from heddle.policy.lever import Question
from heddle.sim import arrays
from heddle.sim.arrays import Sim

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
HEADER: Final = 1 + len(UNITS)
WORDS_PER_ARRAY: Final = 3  # address, length, second axis


@cache
def _fields(n_resources: int) -> dict[str, tuple[int, np.dtype[Any], int]]:
    """Every array: name -> (entry in the table, dtype, number of axes)."""
    dtypes = view_dtypes(n_resources)
    i64, i32 = np.dtype(np.int64), np.dtype(np.int32)
    found: dict[str, tuple[np.dtype[Any], int]] = {}
    for name in View._fields:
        found[name] = ({"job_spec": JOB, "stage_spec": STAGE}.get(name) or getattr(dtypes, name), 1)
    for question in Question:
        found |= {
            f"{question}_{part}": (i64, 1 if part in ("table", "params") else 2)
            for part in (*LeverState._fields, "params")
        }
    found |= {
        "control": (arrays.control_dtype(n_resources), 1), "setting": (arrays.SETTING, 1), "increment": (i64, 1),
        "task_spec": (TASK, 1), "segment": (segment_dtype(n_resources), 1), "task": (arrays.TASK_RUN, 1),
        "stage_run": (arrays.STAGE_RUN, 1), "job_run": (arrays.JOB_RUN, 1),
        "node_run": (arrays.node_run_dtype(n_resources), 1), "slot": (arrays.slot_dtype(n_resources), 1),
        "due": (arrays.DUE, 1), "timer": (arrays.TIMER, 1), "heap": (arrays.WAITING, 1),
        "bucket": (arrays.BUCKET, 1), "lane": (arrays.LANE, 1), "want": (arrays.WANT, 1),
        "queue_tried": (i64, 1), "level": (i64, 2), "tree_free": (i64, 2), "tree_score": (i64, 1), "full": (i64, 1),
        "endings": (i64, 1), "scratch": (i64, 1), "log": (arrays.LOG_ROW, 1),
    }  # fmt: skip
    for name in (
        "stage_combo", "leaf_bases", "after", "before_first", "before", "job_before_first", "job_before",
        "heartbeat_order", "report_order", "level_first", "prefers", "gained", "touched", "starts", "asks", "rekeys",
    ):  # fmt: skip
        found[name] = (i32, 1)
    return {name: (entry, dtype, axes) for entry, (name, (dtype, axes)) in enumerate(found.items())}


class SimHandle:
    """Keeps the arrays alive and knows the address of their table."""

    def __init__(self, sim: Sim) -> None:
        self.sim = sim
        self.n_resources = sim.shown.shape["demand"].shape[1]
        self._hooks = np.zeros(len(HOOKS) * HOOK_BYTES // 8, np.int64)
        given = {**sim._asdict(), **sim.shown._asdict()}
        for question in Question:
            state: LeverState = getattr(sim.levers, question)
            given |= {f"{question}_{part}": array for part, array in state._asdict().items()}
            given[f"{question}_params"] = getattr(sim.levers, f"{question}_params")
        fields = _fields(self.n_resources)
        table = np.zeros(HEADER + WORDS_PER_ARRAY * len(fields), np.int64)
        table[0] = self._hooks.ctypes.data
        table[1 : 1 + len(UNITS)] = unit_addresses(self.n_resources)
        for name, (entry, dtype, axes) in fields.items():
            array = given[name]
            if array.dtype != dtype or array.ndim != axes or not array.flags.c_contiguous:
                raise TypeError(f"{name}: {array.dtype}, {array.ndim} axes; the engine wants {dtype}, {axes}")
            second = array.shape[1] if axes == 2 else 1
            table[HEADER + WORDS_PER_ARRAY * entry :][:WORDS_PER_ARRAY] = array.ctypes.data, array.shape[0], second
        self._table = table
        self.address = int(table.ctypes.data)

    def moved_to(self, sim: Sim) -> SimHandle:
        """A handle to other arrays that goes on with the same policy."""
        moved = SimHandle(sim)
        moved._hooks[:] = self._hooks
        return moved


class SimType(types.Type):  # type: ignore[misc]
    """Numba's type of a SimHandle."""

    def __init__(self, n_resources: int) -> None:
        self.n_resources = n_resources
        super().__init__(name=f"heddle.SimHandle({n_resources})")


@register_model(SimType)
class _SimModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, ir.IntType(64))


@typeof_impl.register(SimHandle)
def _typeof(handle: SimHandle, context: Any) -> SimType:
    return SimType(handle.n_resources)


@unbox(SimType)
def _unbox(typ: Any, obj: Any, c: Any) -> NativeValue:
    address = c.pyapi.object_getattr_string(obj, "address")
    value = c.pyapi.long_as_longlong(address)
    c.pyapi.decref(address)
    return NativeValue(value, is_error=cgutils.is_not_null(c.builder, c.pyapi.err_occurred()))


@cache
def _array_type(name: str, n_resources: int) -> Any:
    _, dtype, axes = _fields(n_resources)[name]
    return types.Array(numba.from_dtype(dtype), axes, "C", aligned=dtype.isalignedstruct or dtype.fields is None)


def _tuple_parts(attr: str) -> list[str]:
    if attr == "known":
        return list(View._fields)
    return [f"{attr.removesuffix('_state')}_{part}" for part in LeverState._fields]


@infer_getattr
class _SimAttributes(AttributeTemplate):  # type: ignore[misc]
    key = SimType

    def generic_resolve(self, sim: Any, attr: str) -> Any:
        if attr == "shown":
            return sim
        if attr == "known":
            return view_type(sim.n_resources)
        if attr.endswith("_state"):
            return state_type()
        if attr.startswith(CALL):
            return types.FunctionType(signature(attr.removeprefix(CALL), sim.n_resources))
        return _array_type(attr, sim.n_resources) if attr in _fields(sim.n_resources) else None


def _load(builder: Any, address: Any, word: int) -> Any:
    i64 = ir.IntType(64)
    pointer = builder.inttoptr(builder.add(address, ir.Constant(i64, 8 * word)), i64.as_pointer())
    return builder.load(pointer)


def _build_array(context: Any, builder: Any, address: Any, name: str, n_resources: int) -> Any:
    entry, dtype, axes = _fields(n_resources)[name]
    array = arrayobj.make_array(_array_type(name, n_resources))(context, builder)
    data = builder.inttoptr(_load(builder, address, HEADER + WORDS_PER_ARRAY * entry), array.data.type)
    shape = [_load(builder, address, HEADER + 1 + WORDS_PER_ARRAY * entry)]
    itemsize = context.get_constant(types.intp, dtype.itemsize)
    strides = [itemsize]
    if axes == 2:
        shape.append(_load(builder, address, HEADER + 2 + WORDS_PER_ARRAY * entry))
        strides = [builder.mul(shape[1], itemsize), itemsize]
    arrayobj.populate_array(
        array, data=data, shape=cgutils.pack_array(builder, shape), strides=cgutils.pack_array(builder, strides),
        itemsize=itemsize, meminfo=None,
    )  # fmt: skip
    return array._getvalue()


def _hook_pointer(context: Any, builder: Any, address: Any, hook: str, n_resources: int) -> Any:
    llvm_type = context.get_value_type(types.FunctionType(signature(hook, n_resources)))
    offset = ir.Constant(ir.IntType(64), list(HOOKS).index(hook) * HOOK_BYTES)
    return builder.inttoptr(builder.add(_load(builder, address, 0), offset), llvm_type.as_pointer())


@lower_getattr_generic(SimType)
def _lower_attribute(context: Any, builder: Any, typ: Any, value: Any, attr: str) -> Any:
    n_resources = typ.n_resources
    if attr == "shown":
        return value
    if attr.startswith(CALL):
        return builder.load(_hook_pointer(context, builder, value, attr.removeprefix(CALL), n_resources))
    if attr == "known" or attr.endswith("_state"):
        tuple_type = view_type(n_resources) if attr == "known" else state_type()
        parts = [_build_array(context, builder, value, part, n_resources) for part in _tuple_parts(attr)]
        return context.make_tuple(builder, tuple_type, parts)
    return _build_array(context, builder, value, attr, n_resources)


@intrinsic
def remember_hooks(typingctx: Any, sim: Any, hooks: Any) -> Any:
    """Writes the policy's functions to where `sim.key` and the others are read from."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        for i, hook in enumerate(HOOKS):
            pointer = _hook_pointer(context, builder, args[0], hook, sim.n_resources)
            builder.store(builder.extract_value(args[1], i), pointer)
        return context.get_dummy_value()

    return types.void(sim, hooks), codegen


_FUNCTIONS: Final[dict[str, Any]] = {}


def unit(function: Any) -> Any:
    """Declares a function of the engine as a unit: f(sim, integers...) -> integer, called from compiled functions."""
    name = function.__name__
    _FUNCTIONS[name] = function
    word = 1 + UNITS.index(name)
    n_integers = function.__code__.co_argcount - 1

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        i64 = ir.IntType(64)
        kind = ir.FunctionType(i64, [i64] * (1 + n_integers)).as_pointer()
        function_pointer = builder.inttoptr(_load(builder, args[0], word), kind)
        return builder.call(function_pointer, args)

    def call(typingctx: Any, sim: Any, *integers: Any) -> Any:
        return types.int64(sim, *(types.int64,) * n_integers), codegen

    names = ", ".join(f"a{i}" for i in range(n_integers))
    scope = {"call": call}
    exec(f"def {name}(typingctx, sim, {names}):\n    return call(typingctx, sim, {names})", scope)
    return intrinsic(scope[name])


@cache
def unit_addresses(n_resources: int) -> list[int]:
    """Compiles all units for this many resources (or takes them from the cache)."""
    return [compile_unit(name, n_resources) for name in UNITS]


def compile_unit(name: str, n_resources: int) -> int:
    """The address of one unit."""
    function = _FUNCTIONS[name]
    integers = (types.int64,) * (function.__code__.co_argcount - 1)
    wanted = types.int64(SimType(n_resources), *integers)
    return int(cfunc(wanted, cache=True, _nrt=False, error_model="numpy")(function).address)
