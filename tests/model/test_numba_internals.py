"""What heddle expects of Numba beyond what Numba promises, piece by piece: the first to fail when Numba changes."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path
from typing import Any

import numba
import pytest
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from heddle.model import numba_internals
from heddle.model.code_files import load_code, write_code
from heddle.model.compiled import INTO_FILES
from heddle.model.errors import RunRefused
from heddle.model.numba_version import NEWEST, OLDEST, refuse_untried
from heddle.model.own_sources import PACKAGE

INTERNAL = re.compile(r"numba\.(core|np|typed|misc|cpython)\b|call_conv|\.overloads\b|\.fndesc|get_pointer_to_function")


def test_internals_are_named_in_one_module() -> None:
    found = {
        path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py") if INTERNAL.search(path.read_text())
    }
    assert found == {"model/numba_internals.py"}


def test_everything_that_is_imported_is_there() -> None:
    for name in numba_internals.__all__:
        assert getattr(numba_internals, name) is not None


def test_functions_are_called_by_address_with_a_status_and_two_pointers() -> None:
    signature = types.int64(types.int64, types.int64)
    called = njit(signature, error_model="numpy")(lambda a, b: 10 * a + b)
    address = numba_internals.where_code_is(called, signature.args)

    @intrinsic
    def by_address(typingctx: Any, a: Any, b: Any) -> Any:
        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            word = ir.IntType(64)
            status, answer = numba_internals.call_status_and_answer(
                context, builder, word(address), signature.args, args, word
            )
            return builder.add(answer, builder.mul(builder.zext(status, word), word(1000)))

        return signature, codegen

    assert njit(lambda a, b: by_address(a, b))(4, 2) == 42


def test_an_index_out_of_bounds_is_a_status_that_is_not_0() -> None:
    signature = types.int64(types.UniTuple(types.int64, 2), types.int64)
    called = njit(signature, boundscheck=True)(lambda numbers, i: numbers[i])
    assert called((7, 8), 1) == 8
    with pytest.raises(IndexError):
        called((7, 8), 2)


def test_object_code_runs_without_the_compiler_that_made_it(tmp_path: Path) -> None:
    signature = types.int64(types.int64)
    compiled = njit(signature, **INTO_FILES)(lambda a: 3 * a)
    write_code(tmp_path / "a" / "b" / "triple.code", *numba_internals.object_code(compiled, signature.args))
    (address,) = load_code([tmp_path / "a" / "b" / "triple.code"])
    answer, words = ctypes.c_int64(), (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
    status = ctypes.CFUNCTYPE(ctypes.c_int32, *words)(address)(ctypes.addressof(answer), None, 14)
    assert (status, answer.value) == (0, 42)


def _larger(a, b):  # type: ignore[no-untyped-def]
    return a if a > b else b


def test_code_for_words_answers_as_a_function_of_c_does(tmp_path: Path) -> None:
    signature = types.int64(types.int64, types.int64)
    compiled = njit(signature, **INTO_FILES)(_larger)
    write_code(tmp_path / "a" / "b" / "larger.code", *numba_internals.code_for_words(compiled, signature.args))
    (address,) = load_code([tmp_path / "a" / "b" / "larger.code"])
    in_memory = numba_internals.where_code_for_words_is(njit(signature)(_larger), signature.args)
    for place in (address, in_memory):
        larger = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)(place)
        assert (larger(-3, -7), larger(2, 1 << 40)) == (-3, 1 << 40)


def test_an_overload_tells_its_typed_code() -> None:
    compiled = njit((types.int64,))(lambda a: a + 1)
    overload = numba_internals.overload_of(compiled, (types.int64,))
    assert overload.signature.return_type == types.int64
    typed = overload.type_annotation
    returns = [one for block in typed.blocks.values() for one in block.find_insts(numba_internals.numba_ir.Return)]
    assert [typed.typemap[one.value.name] for one in returns] == [types.int64]


def test_the_place_of_compiled_code_is_asked_for_by_these_methods() -> None:
    wanted = {"from_function", "ensure_cache_path", "get_cache_path", "get_source_stamp", "get_disambiguator"}
    assert wanted <= set(dir(numba_internals.CacheLocator))
    assert hasattr(numba.config, "CACHE_LOCATOR_CLASSES")


@pytest.mark.parametrize("version", ["0.61.2", "0.69.0", "1.0.0", "none"])
def test_a_numba_that_was_never_tried_is_refused(version: str) -> None:
    with pytest.raises(
        RunRefused, match=rf"Numba 0.62 to 0.68.*is {re.escape(version)}.*pip install 'numba>=0.62,<0.69'"
    ):
        refuse_untried(version)


def test_what_is_refused_is_what_pip_would_not_install() -> None:
    declared = (Path(__file__).parents[2] / "pyproject.toml").read_text()
    least, most = (".".join(map(str, one)) for one in (OLDEST, (NEWEST[0], NEWEST[1] + 1)))
    assert f'"numba>={least},<{most}"' in declared
    refuse_untried("0.62.0")
    refuse_untried("0.68.1")
