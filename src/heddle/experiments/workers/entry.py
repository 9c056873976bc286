"""The entry points of the group `heddle.engines`: what is not installed is told in one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heddle.model.errors import BadInput
from heddle.model.extras import how_to_install

if TYPE_CHECKING:
    from heddle.experiments.engines import Engine


def dask(rest: str) -> Engine:
    """`dask://scheduler:8786`, `dask` for workers on this machine, `dask:4` for so many of them."""
    try:
        from heddle.experiments.workers.dask_engine import DaskEngine
    except ModuleNotFoundError as error:
        raise _not_installed("dask", error) from None
    return DaskEngine(rest)


def spark(rest: str) -> Engine:
    """`spark` as it is configured here, `spark:yarn`, `spark:local[2]`, `spark://master:7077`."""
    try:
        import pyspark  # noqa: F401  # first, so that it is named, and not what it brings along

        from heddle.experiments.workers.spark_engine import SparkEngine
    except ModuleNotFoundError as error:
        raise _not_installed("spark", error) from None
    return SparkEngine(rest)


def _not_installed(name: str, error: ModuleNotFoundError) -> BadInput:
    return BadInput.of("--on", f"{name} needs {error.name}, which is not installed: {how_to_install(name)}")
