"""Everything of Numba that heddle uses and Numba does not promise to keep: the one place that names it.

`tests/model/test_numba_internals.py` holds what is here to what heddle expects of it, and fails in plain words when
Numba changes; no other module may import `numba.core` or `numba.np`. What is promised (`njit`, `types`,
`numba.extending`) is imported where it is used.
"""

from __future__ import annotations

from typing import Any

from heddle.model.numba_version import refuse_untried

refuse_untried()  # before anything that another version may not have

from numba import types  # noqa: E402
from numba.core import cgutils  # noqa: E402
from numba.core import ir as numba_ir  # noqa: E402
from numba.core.caching import _CacheLocator as CacheLocator  # noqa: E402
from numba.core.errors import NumbaError  # noqa: E402
from numba.core.typing.templates import (  # noqa: E402
    AbstractTemplate,
    AttributeTemplate,
    infer,
    infer_getattr,
    infer_global,
    signature,
)
from numba.np import arrayobj  # noqa: E402

__all__ = [
    "AbstractTemplate",
    "AttributeTemplate",
    "CacheLocator",
    "NumbaError",
    "arrayobj",
    "call_status_and_answer",
    "cgutils",
    "infer",
    "infer_getattr",
    "infer_global",
    "numba_ir",
    "object_code",
    "overload_of",
    "signature",
    "where_code_is",
]


def overload_of(compiled: Any, given: Any) -> Any:
    """What the dispatcher compiled for arguments of these types; `type_annotation` has its typed code."""
    return compiled.overloads[given]


def where_code_is(compiled: Any, given: Any) -> int:
    """The address of the native code of an overload."""
    overload = overload_of(compiled, given)
    return int(overload.library.get_pointer_to_function(overload.fndesc.llvm_func_name))


def object_code(compiled: Any, given: Any) -> tuple[str, bytes]:
    """The symbol of an overload, and an object file with all that it calls. Not of one that Numba's cache had."""
    overload = overload_of(compiled, given)
    library = overload.library
    return overload.fndesc.llvm_func_name, library.codegen._tm.emit_object(library._final_module)


def call_status_and_answer(
    context: Any, builder: Any, address: Any, argument_types: Any, arguments: Any, word: Any
) -> tuple[Any, Any]:
    """Emits a call by Numba's own convention: status = f(answer*, raised**, arguments...)."""
    kind = context.call_conv.get_function_type(types.int64, argument_types)
    function = builder.inttoptr(address, kind.as_pointer())
    # Not cgutils.alloca_once, which stores zeros, again wherever the caller is inlined, and LLVM cannot drop them.
    with builder.goto_entry_block():
        answer = builder.alloca(word)
        raised = builder.alloca(kind.args[1].pointee)
    status = builder.call(function, [answer, raised, *arguments])
    return status, builder.load(answer)
