"""The policy's hooks as the engine calls them: `key(sim, stage)`.

Each gets the view, which begins at a fixed place of the engine's memory, and the addresses of its lever's state and
parameters. What these look like only the hook knows: the engine is compiled once for all levers.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types

from heddle.model.view import View
from heddle.policy.handle_types import WORD, load_word
from heddle.policy.native import call_address, intrinsic_of
from heddle.policy.question import ALL_HOOKS, HOOKS, Question
from heddle.sim.handle import params_word, state_word
from heddle.sim.numba.sim_type import SimType


def _caller(question: Question, hook: str) -> Any:
    n_integers = len(HOOKS[question][hook])

    def call(typingctx: Any, sim: SimType, *integers: Any) -> Any:
        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            view = builder.add(args[0], ir.Constant(WORD, 8 * sim.word(View._fields[0])))
            state = load_word(builder, args[0], state_word(question))
            params = load_word(builder, args[0], params_word(question))
            address = load_word(builder, args[0], ALL_HOOKS.index((question, hook)))
            return call_address(builder, address, [view, state, params, *args[1:]])

        return types.int64(sim, *(types.int64,) * n_integers), codegen

    return intrinsic_of(call, f"{question}_{hook}", "sim", n_integers)


admits = _caller(Question.ADMISSION, "admits")
total = _caller(Question.SIZING, "total")
pool = _caller(Question.PARTITION, "pool")
limit = _caller(Question.PARTITION, "limit")
key = _caller(Question.ORDERING, "key")
queue_key = _caller(Question.QUEUES, "key")
queue_allows = _caller(Question.QUEUES, "allows")
user_allows = _caller(Question.QUEUES, "user_allows")
keeps = _caller(Question.QUEUES, "keeps")
headroom = _caller(Question.QUEUES, "headroom")
fit = _caller(Question.ORDERING, "fit")
term = _caller(Question.ORDERING, "term")
combine = _caller(Question.ORDERING, "combine")
offer = _caller(Question.ORDERING, "offer")
score = _caller(Question.PLACEMENT, "score")
place_allows = _caller(Question.PLACEMENT, "allows")
queues_event = _caller(Question.QUEUES, "on_event")
admission_event = _caller(Question.ADMISSION, "on_event")
sizing_event = _caller(Question.SIZING, "on_event")
partition_event = _caller(Question.PARTITION, "on_event")
ordering_event = _caller(Question.ORDERING, "on_event")
placement_event = _caller(Question.PLACEMENT, "on_event")
