"""Everything of Numba that heddle uses and Numba does not promise to keep: the one place that names it.

`tests/model/test_numba_internals.py` holds what is here to what heddle expects of it, and fails in plain words when
Numba changes; no other module may import `numba.core` or `numba.np`. What is promised (`njit`, `types`,
`numba.extending`) is imported where it is used.
"""

from __future__ import annotations

from typing import Any

from llvmlite import binding, ir

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
    "code_for_words",
    "infer",
    "infer_getattr",
    "infer_global",
    "numba_ir",
    "object_code",
    "overload_of",
    "signature",
    "where_code_for_words_is",
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


def code_for_words(compiled: Any, given: Any) -> tuple[str, bytes]:
    """As object_code, but the function is called as C has it: an int64 from so many words, without status or pointers.

    Around Numba's function, which always answers through a pointer, goes one that holds it inlined: no unit or hook
    raises anything, and what they answer comes in a register.
    """
    overload = overload_of(compiled, given)
    library, inner = overload.library, overload.fndesc.llvm_func_name
    outer, word = f"{inner}.words", ir.IntType(64)
    module = library._final_module.clone()
    module.link_in(binding.parse_assembly(str(_around(inner, outer, len(given), module, word))))
    function = module.get_function(inner)
    function.linkage = "internal"
    function.add_function_attribute("alwaysinline")
    passes = binding.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.add_sroa_pass()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    passes.add_global_dead_code_eliminate_pass()
    machine = library.codegen._tm
    passes.run(module, binding.create_pass_builder(machine, binding.create_pipeline_tuning_options(speed_level=3)))
    return outer, machine.emit_object(module)


def _around(inner: str, outer: str, n_words: int, beside: Any, word: Any) -> Any:
    """A module with a function `outer` of words that calls `inner` by Numba's convention."""
    module = ir.Module()
    module.triple, module.data_layout = beside.triple, str(beside.data_layout)
    answers, raises = word.as_pointer(), word.as_pointer().as_pointer()
    called = ir.Function(module, ir.FunctionType(ir.IntType(32), [answers, raises, *[word] * n_words]), inner)
    function = ir.Function(module, ir.FunctionType(word, [word] * n_words), outer)
    builder = ir.IRBuilder(function.append_basic_block())
    answer = builder.alloca(word)
    builder.call(called, [answer, ir.Constant(raises, ir.Undefined), *function.args])
    builder.ret(builder.load(answer))
    return module


def where_code_for_words_is(compiled: Any, given: Any) -> int:
    """The address of an overload as C calls it; slower than code_for_words(), which has to be loaded."""
    overload = overload_of(compiled, given)
    return int(overload.library.get_pointer_to_function(overload.fndesc.llvm_cfunc_wrapper_name))


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
