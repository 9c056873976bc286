"""Compiled functions as files: a line with the function's symbol, then its object code.

Whoever compiles one (with Numba) writes it here; whoever runs it loads it with LLVM's linker alone, which takes
milliseconds where importing Numba and reading its cache take most of a second. Both run the same bytes.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from llvmlite import binding

from heddle.model.access import make_folders
from heddle.model.code_folders import FOLDER_MODE, cannot_be_written, refuse_others
from heddle.model.own_sources import PACKAGE
from heddle.model.whole_files import whole_file

SUFFIX: Final = ".code"


SHIPPED: Final = "x86-64-v3"  # the processors that a wheel has code for, beside those of the machine it was built on
SHIPPED_FEATURES: Final = (
    "avx", "avx2", "bmi", "bmi2", "cmov", "cx16", "cx8", "f16c", "fma", "fxsr", "lzcnt", "mmx", "movbe", "popcnt",
    "sahf", "sse", "sse2", "sse3", "sse4.1", "sse4.2", "ssse3", "xsave",
)  # fmt: skip
_SHIPPED_IN: Final = PACKAGE / "compiled"


def places_of(folder: Path) -> list[Path]:
    """Where code may be that belongs into this folder of the cache: there for this processor, then in the wheel."""
    shipped = _SHIPPED_IN / folder.name / SHIPPED
    return [folder / processor(), *([shipped] if shipped.is_dir() and _has(SHIPPED_FEATURES) else [])]


def _has(features: Sequence[str]) -> bool:
    here = binding.get_host_cpu_features()
    return "NUMBA_CPU_NAME" not in os.environ and all(here.get(feature) for feature in features)


@cache
def processor() -> str:
    """Names the kind of processor that Numba compiles for here, so that machines which share a home do not mix."""
    name = os.environ.get("NUMBA_CPU_NAME") or str(binding.get_host_cpu_name())
    features = os.environ.get("NUMBA_CPU_FEATURES") or str(binding.get_host_cpu_features().flatten())
    if features == shipped_features():
        return SHIPPED
    return f"{name}-{hashlib.sha256(features.encode()).hexdigest()[:8]}"


def shipped_features() -> str:
    """As Numba wants to be told of them."""
    return ",".join(f"+{feature}" for feature in SHIPPED_FEATURES)


def write_code(file: Path, symbol: str, object_code: bytes) -> None:
    """RunRefused where it cannot be written."""
    try:
        make_folders(file.parent, FOLDER_MODE)
        with whole_file(file) as partial:
            partial.write_bytes(symbol.encode() + b"\n" + object_code)
    except OSError as error:
        raise cannot_be_written(file.parent, error) from error


def load_code(files: Sequence[Path]) -> list[int]:
    """The addresses of these functions, which stay in memory until the process ends."""
    into = linker()
    symbols = []
    for file in files:
        if not file.is_relative_to(_SHIPPED_IN):
            for folder in (file.parent.parent.parent, file.parent.parent, file.parent):
                refuse_others(folder)
        symbol, object_code = file.read_bytes().split(b"\n", 1)
        into.add_object_file(binding.ObjectFileRef.from_data(object_code))
        symbols.append(symbol.decode())
    into.finalize_object()
    return [int(into.get_function_address(symbol)) for symbol in symbols]


@cache
def linker() -> Any:
    """Of all that this process has loaded."""
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    machine = binding.Target.from_default_triple().create_target_machine()
    return binding.create_mcjit_compiler(binding.parse_assembly(""), machine)
