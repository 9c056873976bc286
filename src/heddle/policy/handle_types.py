"""Handles (handles.py) as Numba sees them: types whose value is one address, and what their attributes are."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numba
import numpy as np
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
from heddle.policy.handles import WORDS_PER_ARRAY, ParamsHandle, StateHandle, ViewHandle, short_name, view_columns
from heddle.policy.state import StateLayout

WORD: Final = ir.IntType(64)


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


for _kind in (ViewType, StateType, ParamsType):
    register_model(_kind)(AddressModel)


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
