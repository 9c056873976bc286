"""Comparing pairs without a branch: what the engine's heaps do most, on keys that no branch predictor can guess."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


@intrinsic
def pair_before(typingctx: Any, first: Any, second: Any, other_first: Any, other_second: Any) -> Any:
    """Whether (first, second) < (other_first, other_second); the second ones are not negative."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        wide = ir.IntType(128)

        def joined(high: Any, low: Any) -> Any:
            return builder.or_(builder.shl(builder.sext(high, wide), ir.Constant(wide, 64)), builder.zext(low, wide))

        return builder.icmp_signed("<", joined(args[0], args[1]), joined(args[2], args[3]))

    return types.boolean(types.int64, types.int64, types.int64, types.int64), codegen
