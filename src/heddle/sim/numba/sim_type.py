"""The engine's memory (sim/handle.py) as Numba sees it: every table of Sim and of its View by name."""

from __future__ import annotations

from typing import Any

from numba.extending import lower_getattr_generic, register_model, unbox

from heddle.model.numba_internals import AttributeTemplate, infer_getattr
from heddle.policy.columns import RowsType, plain_column
from heddle.policy.handle_types import AddressModel, AddressType, unbox_address
from heddle.sim.handle import entries, layout


class SimType(AddressType):
    """Numba's type of a SimHandle."""

    def __init__(self, n_resources: int) -> None:
        self.n_resources = n_resources
        super().__init__(name=f"heddle.SimHandle({n_resources})")

    def word(self, name: str) -> int:
        """Where the entry of an array begins."""
        return layout(self.n_resources).entries[name]


register_model(SimType)(AddressModel)
unbox(SimType)(unbox_address)


@infer_getattr
class _SimAttributes(AttributeTemplate):  # type: ignore[misc]
    key = SimType

    def generic_resolve(self, sim: Any, attr: str) -> Any:
        if attr == "shown":
            return sim
        entry = entries(sim.n_resources).get(attr)
        if entry is None:
            return None
        if entry.dtype.fields is None:
            return plain_column(attr, sim.word(attr), entry.dtype, entry.axes, entry.fixed)
        beside = 8 * layout(sim.n_resources).beside[attr] if entry.one_row else None
        return RowsType(attr, entry.dtype, sim.word(attr), entry.fixed, beside)


@lower_getattr_generic(SimType)
def _lower_attribute(context: Any, builder: Any, typ: Any, value: Any, attr: str) -> Any:
    return value
