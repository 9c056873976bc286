"""What a hook reads and writes by columns is where arrays have it."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numba import njit, types

from heddle.model.numba_internals import where_code_for_words_is
from heddle.policy.handle_types import ParamsType
from heddle.policy.handles import ParamsHandle, StateHandle, ViewHandle
from heddle.policy.own_handles import OwnStateType, OwnViewType
from heddle.policy.parse import parse_policy
from heddle.policy.state import State, StateLayout, lever_state, per_resource, several
from heddle.sim.memory.run_inputs import RunInputs
from heddle.sim.memory.setup import build_sim
from heddle.traces.catalogue import make_workload, suggested_cluster

STATE = State(
    node=("plain", per_resource("both"), several(3, "three"), per_resource("ring", length=5)), lists=("table_",)
)
LAYOUT = StateLayout(STATE, (), 2)


def asked(function: Any, view: Any, state: Any, node: int) -> int:
    """As hosts call it: by its address, one word for each argument."""
    signature = types.int64(OwnViewType(2), OwnStateType(LAYOUT), ParamsType(("most",)), types.int64)
    compiled = njit(signature, _nrt=False, error_model="numpy")(function)
    params = ParamsHandle(("most",), np.array([17], np.int64))
    kind = ctypes.CFUNCTYPE(ctypes.c_int64, *(ctypes.c_int64,) * 4)
    words = ViewHandle(view).address, StateHandle(LAYOUT, state).address, params.address, node
    return int(kind(where_code_for_words_is(compiled, signature.args))(*words))


def hook(view, state, params, node):  # type: ignore[no-untyped-def]
    for r in range(view.shape["demand"].shape[1]):
        state.node["both"][node, r] = view.node["allowance"][node, r] - r
        for i in range(state.node["ring"].shape[2]):
            state.node["ring"][node, r, i] = 100 * node + 10 * r + i
    state.node["three"][node, 2] = params.most
    row = state.node[node]
    row["plain"] += 5
    row["three"][0] = -3
    state.table_[node] = state.node["ring"][node, 1, 4] + state.table_.shape[0]
    return view.node.shape[0] * 1000 + state.node["plain"][node]


def test_all_kinds_of_columns() -> None:
    name = "bench(tasks=10, nodes=4)"
    inputs = RunInputs(make_workload(name, 1), suggested_cluster(name), parse_policy("fifo"), 0, False)
    view = build_sim(inputs).shown
    by_columns, by_arrays = (
        lever_state({"node": STATE.zeroed("node", 4, 2), "table_": np.zeros(6, np.int64)}) for _ in range(2)
    )
    params = type("Params", (), {"most": 17})
    for node in (0, 3):
        assert asked(hook, view, by_columns, node) == hook(view, by_arrays, params, node)
    assert by_columns.node.tobytes() == by_arrays.node.tobytes()
    assert by_columns.table_.tolist() == by_arrays.table_.tolist()
    assert by_arrays.node["ring"][3, 1, 4] == 314
