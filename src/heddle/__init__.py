"""heddle: simulate and compare the scheduling of Apache Hadoop YARN clusters.

    import heddle

    result = heddle.simulate("mix", "drf", seed=1, record=True)
    result.jobs                                  # Polars frames
    heddle.compare("mix", ["fifo", "drf"]).verdict

Everything here is loaded when it is first used, so that the import itself costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from heddle.api.functions import bound, cluster, compare, read_record, simulate, workload
    from heddle.api.results import ComparisonResult, Explanation, Result
    from heddle.model.errors import BadInput, CheckFailed, HeddleError, RunRefused

_HOME = {
    "heddle.api.functions": ("bound", "cluster", "compare", "read_record", "simulate", "workload"),
    "heddle.api.results": ("ComparisonResult", "Explanation", "Result"),
    "heddle.model.errors": ("BadInput", "CheckFailed", "HeddleError", "RunRefused"),
}

__all__ = [
    "BadInput",
    "CheckFailed",
    "ComparisonResult",
    "Explanation",
    "HeddleError",
    "Result",
    "RunRefused",
    "bound",
    "cluster",
    "compare",
    "read_record",
    "simulate",
    "workload",
]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    for module, names in _HOME.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"module 'heddle' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
