"""Tables and columns as the compiled code of the engine and of heddle's own levers sees them: `sim.slot["phase"][s]`.

A table is the address of the memory it is in (the engine's, a view, a lever's state) and, in its type, its name; a
column adds the field. Indexing reads or writes the field of one row and nothing else: no check for negative
indices, which none of this code uses, and no array structure to build, which would be most of the code and most of the
compile time. Every field is read as int64.
"""

from __future__ import annotations

import operator
from math import gcd
from typing import Any

import numpy as np
from llvmlite import ir
from numba import from_dtype, types
from numba.extending import lower_builtin, lower_getattr_generic, register_model

from heddle.model.numba_internals import (
    AbstractTemplate,
    AttributeTemplate,
    cgutils,
    infer,
    infer_getattr,
    infer_global,
    signature,
)
from heddle.policy.handle_types import WORD, AddressModel, AddressType, load_word

BYTE = ir.IntType(8)


class RowsType(AddressType):
    """A table: `word` is where its entry begins in the table of entries; `fixed`: compiled code never writes it."""

    def __init__(self, name: str, dtype: np.dtype[Any], word: int, fixed: bool, beside: int | None = None) -> None:
        self.beside = beside  # bytes from the engine's memory to its only row, where that lies beside the table
        self.dtype = dtype
        self.word = word
        self.fixed = fixed
        super().__init__(name=f"heddle.Rows({name}, {word}, {dtype.descr}, {fixed}, {beside})")


class ColumnType(AddressType):
    """A field of a table, or a plain array. `vector`: lengths of the axes behind the rows; 0: known at run time."""

    def __init__(
        self,
        name: str,
        word: int,
        scalar: np.dtype[Any],
        row_bytes: int,
        offset: int,
        vector: tuple[int, ...],
        fixed: bool,
        beside: int | None = None,
    ) -> None:
        self.beside = beside
        self.word = word
        self.fixed = fixed
        self.scalar = scalar
        self.row_bytes = row_bytes
        self.offset = offset
        self.vector = vector
        super().__init__(
            name=f"heddle.Column({name}, {word}, {scalar}, {row_bytes}, {offset}, {vector}, {fixed}, {beside})"
        )


register_model(RowsType)(AddressModel)
register_model(ColumnType)(AddressModel)


def field_of(rows: RowsType, field: str) -> ColumnType | None:
    """The column of this name, or None."""
    fields: Any = rows.dtype.fields or {}
    if field not in fields:
        return None
    kind, offset = fields[field][:2]
    return ColumnType(
        f"{rows.name}.{field}", rows.word, kind.base, rows.dtype.itemsize, offset, kind.shape, rows.fixed, rows.beside
    )


def plain_column(name: str, word: int, dtype: np.dtype[Any], axes: int, fixed: bool) -> ColumnType:
    return ColumnType(name, word, dtype, dtype.itemsize, 0, () if axes == 1 else (0,), fixed)


@infer
class _RowsGetField(AbstractTemplate):  # type: ignore[misc]
    key = "static_getitem"

    def generic(self, args: Any, kws: Any) -> Any:
        rows, field = args
        if isinstance(rows, RowsType) and isinstance(field, str):
            column = field_of(rows, field)
            return None if column is None else signature(column, *args)
        return None


@lower_builtin("static_getitem", RowsType, types.StringLiteral)
def _lower_field(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return args[0]


@infer_global(operator.getitem)
class _RowsGet(AbstractTemplate):  # type: ignore[misc]
    """A whole row, `state.job[j]`: one of Numba's records, for levers that hand rows about."""

    def generic(self, args: Any, kws: Any) -> Any:
        rows, index = args
        if isinstance(rows, RowsType) and isinstance(index, types.Integer) and not rows.fixed:
            return signature(from_dtype(rows.dtype), rows, types.int64)
        return None


@lower_builtin(operator.getitem, RowsType, types.int64)
def _lower_row(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    first = load_word(builder, args[0], sig.args[0].word)
    at = builder.mul(args[1], ir.Constant(WORD, sig.args[0].dtype.itemsize))
    return builder.inttoptr(builder.add(first, at), context.get_value_type(sig.return_type))


def _is_index(column: ColumnType, index: Any) -> bool:
    if not column.vector:
        return isinstance(index, types.Integer)
    if not isinstance(index, types.BaseTuple) or len(index) != 1 + len(column.vector):
        return False
    return all(isinstance(i, types.Integer) for i in index)


@infer_global(operator.getitem)
class _ColumnGet(AbstractTemplate):  # type: ignore[misc]
    def generic(self, args: Any, kws: Any) -> Any:
        column, index = args
        if isinstance(column, ColumnType) and _is_index(column, index):
            return signature(types.int64, column, index)
        return None


@infer_global(operator.setitem)
class _ColumnSet(AbstractTemplate):  # type: ignore[misc]
    def generic(self, args: Any, kws: Any) -> Any:
        column, index, _ = args
        if isinstance(column, ColumnType) and _is_index(column, index) and not column.fixed:
            return signature(types.none, column, index, types.int64)
        return None


def _pointer(context: Any, builder: Any, column: ColumnType, index_type: Any, address: Any, index: Any) -> Any:
    if column.beside is not None:
        base = builder.inttoptr(builder.add(address, ir.Constant(WORD, column.beside)), BYTE.as_pointer())
    else:
        base = builder.inttoptr(load_word(builder, address, column.word), BYTE.as_pointer())
    if not column.vector:
        places = [context.cast(builder, index, index_type, types.int64)]
    else:
        given = zip(cgutils.unpack_tuple(builder, index), index_type, strict=True)
        places = [context.cast(builder, value, typ, types.int64) for value, typ in given]
    row_bytes = ir.Constant(WORD, column.row_bytes)
    if column.vector == (0,):
        row_bytes = builder.mul(row_bytes, load_word(builder, address, column.word + 2))
    at = builder.add(builder.mul(places[0], row_bytes), ir.Constant(WORD, column.offset))
    step = column.scalar.itemsize
    for place, length in zip(reversed(places[1:]), reversed(column.vector), strict=True):
        at = builder.add(at, builder.mul(place, ir.Constant(WORD, step)))
        step *= length
    kind = ir.IntType(8 * column.scalar.itemsize)
    return builder.bitcast(builder.gep(base, [at]), kind.as_pointer())


def _mark(builder: Any, access: Any, column: ColumnType) -> None:
    """Tells LLVM that columns do not overlap: a write to one leaves what was read from another as it is."""
    module = builder.module
    root = module.add_metadata(["heddle"])
    zero = ir.Constant(WORD, 0)
    kind = module.add_metadata([f"{column.word}+{column.offset}", root, zero])
    access.set_metadata("tbaa", module.add_metadata([kind, kind, zero]))


def _alignment(column: ColumnType) -> int:
    return gcd(column.row_bytes, column.offset, column.scalar.itemsize)


def _lower_get(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    column, index_type = sig.args
    pointer = _pointer(context, builder, column, index_type, *args)
    loaded = builder.load(pointer, align=_alignment(column))
    _mark(builder, loaded, column)
    if column.fixed:
        loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
    if column.scalar.itemsize == 8:
        return loaded
    return builder.sext(loaded, WORD) if column.scalar.kind == "i" else builder.zext(loaded, WORD)


def _lower_set(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    column, index_type, _ = sig.args
    pointer = _pointer(context, builder, column, index_type, *args[:2])
    value = args[2]
    if column.scalar.itemsize < 8:
        value = builder.trunc(value, ir.IntType(8 * column.scalar.itemsize))
    _mark(builder, builder.store(value, pointer, align=_alignment(column)), column)
    return context.get_dummy_value()


for _index in (types.Integer, types.BaseTuple):
    lower_builtin(operator.getitem, ColumnType, _index)(_lower_get)
    lower_builtin(operator.setitem, ColumnType, _index, types.int64)(_lower_set)


class _Shape(AttributeTemplate):  # type: ignore[misc]
    def generic_resolve(self, typ: Any, attr: str) -> Any:
        if attr != "shape":
            return None
        return types.UniTuple(types.int64, 1 if isinstance(typ, RowsType) else 1 + len(typ.vector))


@infer_getattr
class _RowsShape(_Shape):
    key = RowsType


@infer_getattr
class _ColumnShape(_Shape):
    key = ColumnType


@lower_getattr_generic(RowsType)
def _lower_rows_shape(context: Any, builder: Any, typ: Any, value: Any, attr: str) -> Any:
    return context.make_tuple(builder, types.UniTuple(types.int64, 1), [load_word(builder, value, typ.word + 1)])


@lower_getattr_generic(ColumnType)
def _lower_column_shape(context: Any, builder: Any, typ: Any, value: Any, attr: str) -> Any:
    lengths = [load_word(builder, value, typ.word + 1)]
    lengths += [ir.Constant(WORD, n) if n else load_word(builder, value, typ.word + 2) for n in typ.vector]
    return context.make_tuple(builder, types.UniTuple(types.int64, len(lengths)), lengths)
