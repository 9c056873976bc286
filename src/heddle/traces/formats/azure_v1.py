"""Arrivals of virtual machines in Azure's first public dataset, in a prepared form (docs/traces/azure-v1.md).

A line of flavours and the line of durations beside it describe the machines that came in five minutes; `|` ends a
tenant's batch, which becomes a job. Durations are bins.
"""

from __future__ import annotations

import re
from typing import Final

import polars as pl

from heddle.model.errors import BadInput
from heddle.model.resources import MILLI
from heddle.traces.assemble import TaskTable, assemble
from heddle.traces.imports.columns import MORE, drop_empty, fields_of, number, rows_of, set_aside_where, whole
from heddle.traces.imports.format import Files, Format, Given, Imported, about
from heddle.traces.imports.source import Head, Source

_LINES: Final = {
    "flavours": re.compile(r"\d+ ([a-z],|\|,?)+[a-z|]?"),
    "durations": re.compile(r"\d+ ([UC]\d+,|\|,?)+([UC]\d+|\|)?"),
    "flavour map": re.compile(r"\d+,[\d.]+ [a-z]"),
}
_END: Final = "|"


def _role(head: Head) -> str | None:
    first = head.first.strip()
    if "interval_map" in head.name:
        return "bins" if re.fullmatch(r"\d+ \d+", first) else None
    return next((role for role, line in _LINES.items() if line.fullmatch(first)), None)


def _read(files: Files, given: Given) -> Imported:
    notes = ["durations are bins: the middle of a bin is taken, its beginning for machines that outlived the trace"]
    flavours, bins = _flavours(files["flavour map"]), _bins(files["bins"])
    partners = {_series(source): source for source in files["durations"]}
    parts = []
    for source in files["flavours"]:
        partner = partners.pop(_series(source), None)
        if partner is None:
            source.rows.set_aside(source.lines().rows, "there is no file of durations beside it")
            continue
        parts.append(_machines(source, partner, flavours, bins))
    for left in partners.values():
        left.rows.set_aside(left.lines().rows, "there is no file of flavours beside it")
    tasks = pl.concat(parts) if parts else pl.DataFrame()
    if not tasks.height:
        raise BadInput.of("azure-v1", "no usable line in these files")
    if len(parts) > 1:
        notes.append(f"{len(parts)} series, at the times they have")
    censored = int(tasks["censored"].sum())
    notes.append(f"{censored} machines outlived the trace")
    tasks = tasks.drop("censored").with_columns(submit_at_ms=pl.col("submit_at_ms") - pl.col("submit_at_ms").min())
    return Imported(assemble("azure-v1", TaskTable(tasks, about=about("azure-v1", files, given))), notes=notes)


def _series(source: Source) -> str:
    """`v1.dev` for both `v1.dev.txt.gz` and `v1.dev.c2100000.txt.gz`."""
    return re.sub(r"\.c\d+$", "", source.stem)


def _flavours(sources: list[Source]) -> pl.DataFrame:
    parts = []
    for source in sources:
        rows = fields_of(drop_empty(source, source.lines()), " ", ("size", "flavour"))
        size = pl.col("size").str.split_exact(",", 1).struct
        rows = rows.with_columns(cores=size.field("field_0"), gb=size.field("field_1"))
        rows = rows.with_columns(number("cores"), number("gb"))
        rows = set_aside_where(source, rows, ~((pl.col("cores") > 0) & (pl.col("gb") > 0)), "not a flavour")
        source.rows.metadata(rows_of(rows), "flavours")
        parts.append(rows.select("flavour", "cores", "gb"))
    return pl.concat(parts).unique("flavour", keep="first", maintain_order=True)


def _bins(sources: list[Source]) -> pl.DataFrame:
    """bin, low_s, high_s: the file has the bin of every multiple of 300 s."""
    parts = []
    for source in sources:
        rows = fields_of(drop_empty(source, source.lines()), " ", ("second", "bin"))
        rows = rows.with_columns(whole("second"), whole("bin"))
        rows = set_aside_where(
            source, rows, pl.col("second").is_null() | pl.col("bin").is_null(), "not a second and its bin"
        )
        source.rows.metadata(rows_of(rows), "bins of durations")
        parts.append(rows)
    return pl.concat(parts).group_by("bin").agg(low_s=pl.col("second").min(), high_s=pl.col("second").max())


def _machines(source: Source, partner: Source, flavours: pl.DataFrame, bins: pl.DataFrame) -> pl.DataFrame:
    names, ends = (_lines(one) for one in (source, partner))
    both = names.join(
        ends.select("second", partner_row="row", bins="items"), on="second", how="left", maintain_order="left"
    )
    matched = pl.col("bins").is_not_null() & (pl.col("items").list.len() == pl.col("bins").list.len())
    kept = set_aside_where(source, both, ~matched, "the line of durations is missing or of another length")
    each = kept.select("row", "second", "partner_row", "items", "bins").explode("items", "bins")
    batch = (pl.col("items") == _END).cum_sum().over("row")
    each = each.with_columns(batch=batch).filter(pl.col("items") != _END)
    each = each.join(flavours, left_on="items", right_on="flavour", how="left", maintain_order="left")
    each = each.with_columns(
        bin=pl.col("bins").str.slice(1).cast(pl.Int64, strict=False), censored=pl.col("bins").str.starts_with("C")
    ).join(bins, on="bin", how="left", maintain_order="left")
    wrong = each.filter(pl.col("cores").is_null() | pl.col("low_s").is_null())["row"].unique()
    kept = set_aside_where(
        source, kept, pl.col("row").is_in(wrong.implode()), "a flavour or bin that the maps do not know"
    )
    each = each.filter(~pl.col("row").is_in(wrong.implode()))
    source.rows.tasks(rows_of(kept))
    partner.rows.merged(kept["partner_row"].to_numpy(), "the machines of their line (durations)")
    partner.rows.set_aside(partner.rows.undecided(), "durations of a line of flavours that is not used")
    series = _series(source)
    seconds = pl.when("censored").then(pl.col("low_s")).otherwise((pl.col("low_s") + pl.col("high_s")) / 2)
    return each.select(
        "censored",
        job=f"{series}-" + pl.col("second").cast(pl.String) + "-" + pl.col("batch").cast(pl.String),
        stage="flavour-" + pl.col("items"),
        submit_at_ms=pl.col("second") * 1000,
        duration_ms=(seconds * 1000).cast(pl.Int64),
        memory_mb=(pl.col("gb") * 1024).ceil().cast(pl.Int64),
        vcores_milli=(pl.col("cores") * MILLI).cast(pl.Int64),
    )


def _lines(source: Source) -> pl.DataFrame:
    rows = fields_of(drop_empty(source, source.lines()), " ", ("second", "items"))
    rows = rows.with_columns(whole("second"))
    wrong = pl.col("second").is_null() | pl.col("items").is_null() | pl.col(MORE).is_not_null() | (pl.col("second") < 0)
    rows = set_aside_where(source, rows, wrong, "not a second and a list")
    rows = set_aside_where(source, rows, ~pl.col("second").is_first_distinct(), "a second that occurred before")
    return rows.with_columns(pl.col("items").str.strip_chars(",").str.split(","))


FORMAT = Format(
    name="azure-v1",
    summary="arrivals of Azure's virtual machines (first public dataset), flavours and binned durations",
    roles={
        "flavours": "machines that came, by flavour",
        "durations": "their binned durations",
        "flavour map": "vcores and GB of each flavour",
        "bins": "seconds of each bin (interval_map)",
    },
    role=_role,
    needs=("flavours", "durations", "flavour map", "bins"),
    read=_read,
    has="machines by flavour, tenants' batches, durations in bins",
    models="a duration is the middle of its bin; machines that outlived the trace end at their bin's beginning; no use",
)
