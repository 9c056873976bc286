"""Bitbrains' virtual machines, sampled every five minutes: one job each (docs/traces/bitbrains.md)."""

from __future__ import annotations

from typing import Final

import polars as pl

from heddle.model.errors import BadInput
from heddle.model.resources import MILLI
from heddle.traces.assemble import TaskTable, assemble
from heddle.traces.imports.format import Files, Format, Given, Imported, about
from heddle.traces.imports.json_items import LARGEST
from heddle.traces.imports.levels import levels_of_samples
from heddle.traces.imports.source import Head, Source

_COLUMNS: Final = (
    "vm_id", "unix_s", "cpu_cores", "cpu_provisioned_mhz", "cpu_used_mhz", "mem_provisioned_kb", "mem_used_kb",
)  # fmt: skip
_WINDOW_S: Final = 300
_KB_PER_MB: Final = 1024
# MHz as cores: a core is what was provisioned over the number of cores.
_USED_CORES: Final = (
    pl.when(pl.col("cpu_provisioned_mhz") > 0)
    .then(pl.col("cpu_used_mhz") / pl.col("cpu_provisioned_mhz") * pl.col("cpu_cores"))
    .otherwise(0.0)
)


def _role(head: Head) -> str | None:
    return "samples" if set(_COLUMNS) <= set(head.columns) else None


def _read(files: Files, given: Given) -> Imported:
    samples = pl.concat([_samples(source, place) for place, source in enumerate(files["samples"])])
    samples = samples.sort("vm_id", "unix_s", maintain_order=True)
    if not samples.height:
        raise BadInput.of("bitbrains", "no usable sample in these files")
    repeated = ~pl.struct("vm_id", "unix_s").is_first_distinct()
    again = samples.filter(repeated)
    samples = samples.filter(~repeated)
    leaders = samples.filter(pl.col("vm_id").is_first_distinct())
    for place, source in enumerate(files["samples"]):
        mine = pl.col("file") == place
        source.rows.set_aside(again.filter(mine)["row"].to_numpy(), "a second sample of the same instant")
        source.rows.tasks(leaders.filter(mine)["row"].to_numpy())
        source.rows.merged(source.rows.undecided(), "their machine (samples)")
    machines = samples.group_by("vm_id", maintain_order=True).agg(
        first=pl.col("unix_s").min(),
        last=pl.col("unix_s").max() + _WINDOW_S,
        memory_mb=(pl.col("mem_provisioned_kb").max() / _KB_PER_MB).ceil().cast(pl.Int64),
        vcores_milli=(pl.col("cpu_cores").max() * MILLI).ceil().cast(pl.Int64),
    )
    origin = int(machines["first"].to_numpy().min())
    tasks = machines.select(
        "memory_mb",
        "vcores_milli",
        job="vm-" + pl.col("vm_id").cast(pl.String),
        submit_at_ms=(pl.col("first") - origin) * 1000,
        duration_ms=(pl.col("last") - pl.col("first")) * 1000,
    )
    levels = _levels(samples, machines)
    notes = [
        "memory use is VMware's active memory, far below what is resident: sizing by it is bolder than it looks",
        "a machine switched off in between uses what its neighbouring samples say",
    ]
    table = TaskTable(tasks, levels=levels, about=about("bitbrains", files, given))
    return Imported(assemble("bitbrains", table), notes=notes)


def _samples(source: Source, place: int) -> pl.DataFrame:
    frame, rows = source.parquet(list(_COLUMNS))
    with source.reading():
        frame = frame.select(
            pl.col("vm_id", "unix_s").cast(pl.Int64, strict=False), pl.col(_COLUMNS[2:]).cast(pl.Float64, strict=False)
        ).with_columns(row=pl.Series(rows), file=pl.lit(place))
    off = (pl.col("cpu_cores") == 0) & (pl.col("mem_provisioned_kb") == 0)
    known = pl.all_horizontal(pl.col(name).is_between(0, 1e12) for name in _COLUMNS[2:])
    known = known & pl.col("unix_s").is_between(0, 10**11) & pl.col("vm_id").is_not_null()
    known = known & (_USED_CORES < LARGEST)
    good = frame.select(known.fill_null(False)).to_series()
    source.rows.set_aside(frame.filter(~good)["row"].to_numpy(), "a sample without a machine, time or amount")
    frame = frame.filter(good)
    is_off = frame.select(off).to_series()
    source.rows.set_aside(
        frame.filter(is_off)["row"].to_numpy(), "a sample of a machine without cores and memory (switched off)"
    )
    return frame.filter(~is_off)


def _levels(samples: pl.DataFrame, machines: pl.DataFrame) -> pl.DataFrame:
    place = machines.with_row_index("place").select("vm_id", "place", "first", "last")
    joined = samples.join(place, on="vm_id", maintain_order="left").select(
        "mem_used_kb",
        row=pl.col("place").cast(pl.Int64),
        until_ms=(pl.col("unix_s") + _WINDOW_S - pl.col("first")) * 1000,
        duration_ms=(pl.col("last") - pl.col("first")) * 1000,
        cores=_USED_CORES,
    )
    return levels_of_samples(
        joined, {"memory_mb": pl.col("mem_used_kb") / _KB_PER_MB, "vcores_milli": pl.col("cores") * MILLI}
    )


FORMAT = Format(
    name="bitbrains",
    summary="Bitbrains' virtual machines with provisioned and used CPU and memory every five minutes",
    roles={"samples": "samples of all machines (Parquet)"},
    role=_role,
    needs=("samples",),
    read=_read,
    has="machines with what was provisioned and used over time",
    models="a machine is a job of one task that lives from its first sample to its last; CPU use in MHz becomes cores",
)
