"""The results of a sweep on disk: a folder of Parquet files, one per run, that Polars and DuckDB open as one table.

A run's file appears whole, under the name of its configuration, or not at all. So whatever kills the sweep, at
whatever moment, nothing is lost but the runs in flight, and running it again doubles nothing.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import polars as pl

from heddle.experiments.attempts import Failed
from heddle.experiments.sweep_file import Sweep
from heddle.experiments.sweep_run import METRIC_COLUMNS, SweepRun
from heddle.model.errors import BadInput, HeddleError
from heddle.model.nested_text import from_json
from heddle.model.whole_files import or_bad_input, remove_partials, write_whole

RUNS: Final = "runs"
FAILED_RUNS: Final = "failed"  # one JSON for each run that has an error instead of a row
_PLAN: Final = "sweep.json"  # the name of the sweep, its file as it was, and the keys of all its runs
_TYPES: Final[dict[str, pl.DataType]] = {
    "key": pl.String(), "workload": pl.String(), "workload_template": pl.String(), "load": pl.Float64(),
    "cluster": pl.String(), "nodes": pl.Int64(), "policy": pl.String(), "policy_template": pl.String(),
    "executor": pl.String(), "seed": pl.Int64(), "sampling": pl.String(), "blocks": pl.Int64(), "block_s": pl.Float64(),
    "too_short": pl.String(), "outcome": pl.String(), "reason": pl.String(), "jobs": pl.Int64(), "tasks": pl.Int64(),
    "workload_hash": pl.String(), "cluster_hash": pl.String(), "heddle_version": pl.String(),
    "simulate_s": pl.Float64(),
}  # fmt: skip


class SweepStore:
    """The folder of one sweep."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def open_for(self, sweep: Sweep, described: str) -> None:
        """Make the folder ready, or take it up again; BadInput if it is something else. `described`: by its file."""
        plan = {"name": sweep.name, "file": described, "keys": [one.key for one in sweep.runs]}
        with or_bad_input(self.folder):
            if self.folder.exists() and any(self.folder.iterdir()) and not (self.folder / _PLAN).exists():
                raise BadInput.of(str(self.folder), "is not empty and not a sweep's folder; nothing was written")
            for part in (RUNS, FAILED_RUNS):
                (self.folder / part).mkdir(parents=True, exist_ok=True)
                remove_partials(self.folder / part)
        write_whole(self.folder / _PLAN, json.dumps(plan, indent=1), durable=True)

    def plan(self) -> tuple[str, list[str]]:
        """The name of the sweep that was last run here, and the keys of its runs."""
        try:
            plan = from_json((self.folder / _PLAN).read_bytes())
            return str(plan["name"]), [str(key) for key in plan["keys"]]
        except (OSError, ValueError, KeyError, TypeError):
            raise BadInput.of(str(self.folder), f"is not a sweep's folder: it has no {_PLAN}") from None

    def done(self) -> set[str]:
        """The keys of the runs that are there."""
        return {path.stem for path in (self.folder / RUNS).glob("*.parquet")}

    def put(self, row: Mapping[str, Any], parameters: Mapping[str, pl.DataType]) -> None:
        """Keep one run; on disk when this returns."""
        kinds = _TYPES | {f"param_{name}": dtype for name, dtype in parameters.items()}
        kinds |= dict.fromkeys(METRIC_COLUMNS.values(), pl.Float64())
        frame = pl.DataFrame({name: [row.get(name)] for name in kinds}, schema=kinds)
        content = io.BytesIO()
        frame.write_parquet(content)
        write_whole(self.folder / RUNS / f"{row['key']}.parquet", content.getvalue(), durable=True)
        self._failed(str(row["key"])).unlink(missing_ok=True)  # of an earlier try

    def failed(self) -> set[str]:
        """The keys of the runs that had an error when they were tried last."""
        return {path.stem for path in (self.folder / FAILED_RUNS).glob("*.json")}

    def put_failed(self, one: SweepRun, why: Failed) -> None:
        """Keep why a run has no row; running the sweep again tries it again."""
        content = {
            "key": one.key,
            "run": one.words,
            "error": why.says,
            "trace": "" if isinstance(why.error, HeddleError) else why.trace,
        }
        write_whole(self._failed(one.key), json.dumps(content, indent=1), durable=True)

    def _failed(self, key: str) -> Path:
        return self.folder / FAILED_RUNS / f"{key}.json"

    def table(self, keys: Iterable[str]) -> pl.DataFrame:
        """The rows of these runs, as far as they are there."""
        wanted = sorted(set(keys) & self.done())
        if not wanted:
            raise BadInput.of(str(self.folder), "holds no run of this sweep yet: heddle sweep run")
        paths = [self.folder / RUNS / f"{key}.parquet" for key in wanted]
        try:
            found = pl.concat([pl.read_parquet(path) for path in paths], how="diagonal")
        except (OSError, pl.exceptions.PolarsError) as error:
            raise BadInput.of(str(self.folder), f"a run cannot be read: {error}") from error
        if lacking := [name for name in _TYPES if name not in found.columns]:
            what = f"was written by an older heddle, without {', '.join(lacking)}: heddle sweep run computes it anew"
            raise BadInput.of(str(self.folder), what)
        return found


def parameter_types(runs: Sequence[SweepRun]) -> dict[str, pl.DataType]:
    """The column type of each parameter, the same in every file."""
    found: dict[str, pl.DataType] = {}
    for one in runs:
        for name, value in one.parameters:
            found[name] = pl.String() if isinstance(value, str) else pl.Float64()
    return found
