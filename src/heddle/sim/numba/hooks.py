"""The policy's hooks as the engine calls them: `key(sim, stage)`.

Each gets the view, its lever's state and its lever's parameters, which all lie in the engine's memory.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types

from heddle.model.view import View
from heddle.policy.compile import HOOKS, signature
from heddle.policy.handles import WORD, load_word
from heddle.policy.native import call_address, intrinsic_of
from heddle.sim.numba.handle import SimType


def _caller(hook: str) -> Any:
    question, _, n_integers = HOOKS[hook]

    def call(typingctx: Any, sim: SimType, *integers: Any) -> Any:
        wanted = signature(hook, sim.n_resources)
        given = [View._fields[0], f"{question}_table", f"{question}_params"]

        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            handles = [builder.add(args[0], ir.Constant(WORD, 8 * sim.word(name))) for name in given]
            address = load_word(builder, args[0], list(HOOKS).index(hook))
            return call_address(context, builder, address, wanted.args, [*handles, *args[1:]])

        return types.int64(sim, *(types.int64,) * n_integers), codegen

    return intrinsic_of(call, hook, "sim", n_integers)


admits = _caller("admits")
total = _caller("total")
pool = _caller("pool")
limit = _caller("limit")
key = _caller("key")
queue_key = _caller("queue_key")
queue_allows = _caller("queue_allows")
user_allows = _caller("user_allows")
fit = _caller("fit")
term = _caller("term")
combine = _caller("combine")
offer = _caller("offer")
score = _caller("score")
place_allows = _caller("place_allows")
queues_event = _caller("queues_event")
admission_event = _caller("admission_event")
sizing_event = _caller("sizing_event")
partition_event = _caller("partition_event")
ordering_event = _caller("ordering_event")
placement_event = _caller("placement_event")
