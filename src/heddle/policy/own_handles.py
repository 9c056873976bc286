"""The view and a lever's state as heddle's own hooks get them: columns in place of arrays (columns.py).

The memory is that of handles.py, and a hook cannot tell the difference, but that there is no test for negative indices
and that the number of resources is a constant: of what usage feedback's `total` cost, half. A user's hook gets arrays,
with its indices checked.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from numba.extending import lower_getattr_generic, register_model

from heddle.model.numba_internals import AttributeTemplate, infer_getattr
from heddle.policy.columns import RowsType, plain_column
from heddle.policy.handle_types import AddressModel, AddressType
from heddle.policy.handles import WORDS_PER_ARRAY, short_name, view_columns
from heddle.policy.state import StateLayout


class OwnViewType(AddressType):
    """What a ViewHandle, or the engine's memory, is to one of heddle's own hooks."""

    def __init__(self, n_resources: int) -> None:
        self.n_resources = n_resources
        super().__init__(name=f"heddle.OwnView({n_resources})")

    @property
    def parts(self) -> dict[str, Any]:
        return _view_parts(self.n_resources)


class OwnStateType(AddressType):
    """The same of a StateHandle."""

    def __init__(self, layout: StateLayout) -> None:
        self.layout = layout
        super().__init__(name=f"heddle.OwnState({short_name(layout)})")

    @property
    def parts(self) -> dict[str, Any]:
        return _state_parts(self.layout)


@cache
def _view_parts(n_resources: int) -> dict[str, Any]:
    return {
        name: RowsType(f"view.{name}", dtype, WORDS_PER_ARRAY * number, fixed=False)
        for number, (name, dtype) in enumerate(view_columns(n_resources).items())
    }


@cache
def _state_parts(layout: StateLayout) -> dict[str, Any]:
    parts: dict[str, Any] = {}
    for number, (name, dtype) in enumerate(layout.dtypes.items()):
        # The truth is the host's to write, and it does not while it waits for an answer.
        word, fixed = WORDS_PER_ARRAY * number, name == "truth"
        is_list = dtype.fields is None
        parts[name] = plain_column(name, word, dtype, 1, fixed) if is_list else RowsType(name, dtype, word, fixed)
    return parts


class _Parts(AttributeTemplate):  # type: ignore[misc]
    def generic_resolve(self, typ: Any, attr: str) -> Any:
        return typ.parts.get(attr)


@infer_getattr
class _ViewParts(_Parts):
    key = OwnViewType


@infer_getattr
class _StateParts(_Parts):
    key = OwnStateType


def _lower_part(context: Any, builder: Any, typ: Any, value: Any, attr: str) -> Any:
    return value


for _kind in (OwnViewType, OwnStateType):
    register_model(_kind)(AddressModel)
    lower_getattr_generic(_kind)(_lower_part)
