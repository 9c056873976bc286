"""Alibaba's GPU cluster of 2023, "openb": pods and nodes (docs/traces/openb.md). GPUs are counted in thousandths."""

from __future__ import annotations

from typing import Final

import polars as pl

from heddle.model.cluster import Cluster, Node
from heddle.model.errors import BadInput
from heddle.model.resources import BASE_RESOURCES
from heddle.traces.assemble import TaskTable, assemble
from heddle.traces.imports.columns import rows_of, set_aside_where, whole
from heddle.traces.imports.fits import LARGER_THAN_ANY, fits_some
from heddle.traces.imports.format import Files, Format, Given, Imported, about
from heddle.traces.imports.header_tables import read_header_table
from heddle.traces.imports.source import Head, Source

GPU: Final = "gpu_milli"
_RESOURCES: Final = (*BASE_RESOURCES, GPU)
_POD: Final = ("name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli")
_TIMES: Final = ("creation_time", "deletion_time", "scheduled_time")
_NODE: Final = ("sn", "cpu_milli", "memory_mib", "gpu", "model")


def _role(head: Head) -> str | None:
    names = {name.strip() for name in head.first.split(",")}
    if set(_NODE) <= names:
        return "nodes"
    if not set(_POD) <= names:
        return None
    return "pods" if set(_TIMES) <= names else "untimed"


def _read(files: Files, given: Given) -> Imported:
    notes = []
    for source in files.get("untimed", []):
        source.rows.set_aside(source.lines().rows, "a list of pods without times")
    if "pods" not in files:
        raise BadInput.of("openb", "there is no list of pods with times among the files")
    # The variants are upstream's resamplings of one list, not other clusters.
    chosen = min(files["pods"], key=lambda source: ("default" not in source.name, source.name))
    for source in files["pods"]:
        if source is not chosen:
            source.rows.set_aside(source.lines().rows, "a resampling of the same pods: import it by itself")
    if len(files["pods"]) > 1:
        notes.append(f"of {len(files['pods'])} lists of pods {chosen.name} was read")
    nodes = _nodes(files.get("nodes", []), notes)
    tasks = _pods(chosen, nodes, notes)
    cluster = Cluster(tuple(nodes), _RESOURCES, exclusive=(GPU,), increment=(1, 1, 1), name="openb") if nodes else None
    notes.append(
        "GPUs are shared by thousandths of a node's sum; that one pod's share must lie on one device is not modelled"
    )
    workload = assemble("openb", TaskTable(tasks, _RESOURCES, about=about("openb", files, given)))
    return Imported(workload, cluster, notes)


def _pods(source: Source, nodes: list[Node], notes: list[str]) -> pl.DataFrame:
    rows = read_header_table(source, (*_POD, *_TIMES))
    specific = int(rows["gpu_spec"].is_not_null().sum()) if "gpu_spec" in rows.columns else 0
    if specific:
        notes.append(f"{specific} pods want certain GPU models: this constraint is ignored")
    qos = pl.col("qos") if "qos" in rows.columns else pl.lit("default")
    rows = rows.select("row", "name", *(whole(name) for name in (*_POD[1:], *_TIMES)), queue=qos.fill_null("default"))
    rows = set_aside_where(source, rows, pl.col("scheduled_time").is_null(), "never scheduled")
    wrong = pl.any_horizontal(pl.col(name).is_null() | (pl.col(name) < 0) for name in (*_POD[1:], *_TIMES))
    rows = set_aside_where(source, rows, wrong | pl.col("name").is_null(), "a size or time is missing or negative")
    rows = set_aside_where(
        source, rows, pl.col("deletion_time") < pl.col("scheduled_time"), "deleted before it was scheduled"
    )
    gpu = (
        pl.when(pl.col("num_gpu") > 1).then(pl.col("num_gpu") * 1000).otherwise(pl.col("num_gpu") * pl.col("gpu_milli"))
    )
    tasks = rows.select(
        "row",
        "queue",
        job="name",
        submit_at_ms=pl.col("creation_time") * 1000,
        duration_ms=(pl.col("deletion_time") - pl.col("scheduled_time")) * 1000,
        memory_mb=pl.col("memory_mib"),
        vcores_milli=pl.col("cpu_milli"),
        gpu_milli=gpu,
    )
    if nodes:
        fits = pl.Series(fits_some(tasks, nodes, _RESOURCES))
        source.rows.set_aside(rows_of(tasks.filter(~fits)), LARGER_THAN_ANY)
        tasks = tasks.filter(fits)
    if not tasks.height:
        raise BadInput.of(source.name, "no usable pod")
    source.rows.tasks(rows_of(tasks))
    return tasks.drop("row").with_columns(submit_at_ms=pl.col("submit_at_ms") - pl.col("submit_at_ms").min())


def _nodes(sources: list[Source], notes: list[str]) -> list[Node]:
    """The longest list of nodes; shorter ones are selections of it."""
    lists: list[list[Node]] = []
    for source in sources:
        rows = read_header_table(source, _NODE).with_columns(whole(name) for name in ("cpu_milli", "memory_mib", "gpu"))
        wrong = pl.any_horizontal(
            pl.col(name).is_null() | (pl.col(name) < 0) for name in ("cpu_milli", "memory_mib", "gpu")
        )
        rows = set_aside_where(source, rows, wrong | pl.col("sn").is_null(), "a node without a name or size")
        rows = set_aside_where(source, rows, ~pl.col("sn").is_first_distinct(), "a node that occurred before")
        source.rows.metadata(rows_of(rows), "nodes")
        made = []
        for name, cpu, memory, gpu, model in rows.select("sn", "cpu_milli", "memory_mib", "gpu", "model").rows():
            size = (memory, cpu, gpu * 1000)
            made.append(Node(name, size, size, rack=model or "no-gpu"))
        lists.append(made)
    if len(lists) > 1:
        notes.append(f"of {len(lists)} lists of nodes the longest was taken")
    return max(lists, key=len, default=[])


FORMAT = Format(
    name="openb",
    summary='Alibaba\'s GPU cluster of 2023 ("openb"): pods and nodes',
    roles={"pods": "pods with times", "untimed": "pods without times", "nodes": "nodes with GPUs"},
    role=_role,
    read=_read,
    has="pods with requests of memory, CPU and (shared) GPUs, creation, scheduling and deletion; nodes",
    models="GPUs as thousandths of a node's sum; wanted GPU models are ignored; no use",
)
