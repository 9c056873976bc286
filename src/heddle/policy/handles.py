"""The view, a lever's state and its parameters as compiled hooks get them: one address each.

A NamedTuple of eleven arrays is passed to a compiled function by value, as seventy words, and that costs more than most
hooks do. A handle is the address of a table that holds, for each array, where its data are and how long it is;
`view.node` in a hook builds the array from its entry - two loads, which LLVM drops or shares. A hook cannot tell
the difference, and the same compiled hook serves the simulator, whose table holds more than the view, and the
controller of a live cluster.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cache
from typing import Any, Final

import numba
import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.extending import (
    NativeValue,
    lower_getattr_generic,
    models,
    register_model,
    typeof_impl,
    unbox,
)

from heddle.model import compiled as _cache_location  # noqa: F401  (sets the cache folder before anything compiles)
from heddle.model.numba_internals import AttributeTemplate, arrayobj, cgutils, infer_getattr
from heddle.model.view import View, view_dtypes
from heddle.model.workload import JOB, STAGE
from heddle.policy.state import StateLayout

WORDS_PER_ARRAY: Final = 3  # address, length, second axis
WORD: Final = ir.IntType(64)


def array_entry(array: npt.NDArray[Any]) -> tuple[int, int, int]:
    """What a table holds of an array."""
    return array.ctypes.data, array.shape[0], array.shape[1] if array.ndim == 2 else 1


def array_table(arrays: Iterable[npt.NDArray[Any]]) -> npt.NDArray[np.int64]:
    """The table of these arrays; whoever makes it keeps them alive."""
    return np.array([word for array in arrays for word in array_entry(array)] or [0], np.int64)


class ViewHandle:
    """Keeps a view's arrays alive and knows the address of their table."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.n_resources = view.shape["demand"].shape[1]
        self._numba_type_ = ViewType(self.n_resources)  # read at every call, and faster than asking typeof
        self._table = array_table(view)
        self.address = int(self._table.ctypes.data)


class StateHandle:
    """The same for what a lever remembers."""

    def __init__(self, layout: StateLayout, state: Any) -> None:
        self.layout, self.state = layout, state
        self._numba_type_ = StateType(layout)
        self._table = array_table(state)
        self.address = int(self._table.ctypes.data)


class ParamsHandle:
    """The same for its parameters, in thousandths; they lie at the address itself."""

    def __init__(self, names: tuple[str, ...], params: npt.NDArray[np.int64]) -> None:
        self.names, self.params = names, params
        self._numba_type_ = ParamsType(names)
        self.address = int(params.ctypes.data)


class AddressType(types.Type):  # type: ignore[misc]
    """A Numba type whose value is one address."""


@register_model(AddressType)
class AddressModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, WORD)


class ViewType(AddressType):
    """Numba's type of a ViewHandle. Users' hooks get one that they cannot write to."""

    def __init__(self, n_resources: int, writable: bool = True) -> None:
        self.n_resources, self.writable = n_resources, writable
        super().__init__(name=f"heddle.View({n_resources}{'' if writable else ', read-only'})")

    @property
    def parts(self) -> dict[str, Any]:
        return view_parts(self.n_resources, self.writable)


class StateType(AddressType):
    """Numba's type of a StateHandle: each layout is a type of its own, so that columns lie at constant offsets."""

    def __init__(self, layout: StateLayout) -> None:
        self.layout = layout
        super().__init__(name=f"heddle.State({short_name(layout)})")

    @property
    def parts(self) -> dict[str, Any]:
        return state_parts(self.layout)


class ParamsType(AddressType):
    """Numba's type of a ParamsHandle."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        super().__init__(name=f"heddle.Params({', '.join(names)})")


@cache
def short_name(layout: StateLayout) -> str:
    """Of a few characters, because it becomes part of the names of compiled functions."""
    return hashlib.sha256(repr(layout).encode()).hexdigest()[:12]


for _kind in (ViewType, StateType, ParamsType):
    register_model(_kind)(AddressModel)


@cache
def view_columns(n_resources: int) -> dict[str, np.dtype[Any]]:
    """The dtype of each array of a view."""
    dtypes = view_dtypes(n_resources)
    of_workload = {"job_spec": JOB, "stage_spec": STAGE}
    return {name: of_workload.get(name) or getattr(dtypes, name) for name in View._fields}


@cache
def view_parts(n_resources: int, writable: bool = True) -> dict[str, Any]:
    """Numba's type of each array of a view."""
    return {name: array_type(dtype, 1, writable) for name, dtype in view_columns(n_resources).items()}


@cache
def array_type(dtype: np.dtype[Any], axes: int, writable: bool = True) -> Any:
    aligned = dtype.isalignedstruct or dtype.fields is None
    return types.Array(numba.from_dtype(dtype), axes, "C", readonly=not writable, aligned=aligned)


@cache
def state_parts(layout: StateLayout) -> dict[str, Any]:
    """Numba's type of each array of a lever's state. The truth is the host's to write."""
    return {name: array_type(dtype, 1, writable=name != "truth") for name, dtype in layout.dtypes.items()}


@typeof_impl.register(ViewHandle)
def _typeof_view(handle: ViewHandle, context: Any) -> ViewType:
    return ViewType(handle.n_resources)


@typeof_impl.register(StateHandle)
def _typeof_state(handle: StateHandle, context: Any) -> StateType:
    return StateType(handle.layout)


@typeof_impl.register(ParamsHandle)
def _typeof_params(handle: ParamsHandle, context: Any) -> ParamsType:
    return ParamsType(handle.names)


def unbox_address(typ: Any, obj: Any, c: Any) -> NativeValue:
    """From the Python object, which has an `address`."""
    address = c.pyapi.object_getattr_string(obj, "address")
    value = c.pyapi.long_as_longlong(address)
    c.pyapi.decref(address)
    return NativeValue(value, is_error=cgutils.is_not_null(c.builder, c.pyapi.err_occurred()))


for _kind in (ViewType, StateType, ParamsType):
    unbox(_kind)(unbox_address)


def load_word(builder: Any, address: Any, word: int) -> Any:
    """A word of a table. Tables never change, so LLVM may load it once and keep it."""
    pointer = builder.inttoptr(builder.add(address, ir.Constant(WORD, 8 * word)), WORD.as_pointer())
    loaded = builder.load(pointer)
    loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
    return loaded


def build_array(context: Any, builder: Any, address: Any, word: int, array_type: Any) -> Any:
    """The array whose entry begins at this word of the table."""
    array = arrayobj.make_array(array_type)(context, builder)
    itemsize = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(array_type.dtype)))
    shape = [load_word(builder, address, word + 1)]
    strides = [itemsize]
    if array_type.ndim == 2:
        shape.append(load_word(builder, address, word + 2))
        strides = [builder.mul(shape[1], itemsize), itemsize]
    arrayobj.populate_array(
        array, data=builder.inttoptr(load_word(builder, address, word), array.data.type),
        shape=cgutils.pack_array(builder, shape), strides=cgutils.pack_array(builder, strides),
        itemsize=itemsize, meminfo=None,
    )  # fmt: skip
    return array._getvalue()


class _Parts(AttributeTemplate):  # type: ignore[misc]
    def generic_resolve(self, typ: Any, attr: str) -> Any:
        return typ.parts.get(attr)


@infer_getattr
class _ViewParts(_Parts):
    key = ViewType


@infer_getattr
class _StateParts(_Parts):
    key = StateType


def _lower_part(context: Any, builder: Any, typ: Any, value: Any, attr: str) -> Any:
    return build_array(context, builder, value, WORDS_PER_ARRAY * list(typ.parts).index(attr), typ.parts[attr])


lower_getattr_generic(ViewType)(_lower_part)
lower_getattr_generic(StateType)(_lower_part)


@infer_getattr
class _ParamNames(AttributeTemplate):  # type: ignore[misc]
    key = ParamsType

    def generic_resolve(self, typ: Any, attr: str) -> Any:
        return types.int64 if attr in typ.names else None


@lower_getattr_generic(ParamsType)
def _lower_param(context: Any, builder: Any, typ: Any, value: Any, attr: str) -> Any:
    return load_word(builder, value, typ.names.index(attr))  # no host changes them while it waits for an answer
