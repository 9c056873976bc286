"""Standard Workload Format of the Parallel Workloads Archive, and MetaCentrum's extended kind (docs/traces/swf.md).

A parallel job asks for processors; a YARN container must fit into a node. So a job becomes containers of as many
processors as a node has, and a smaller one for the rest, asked for together but, as in YARN, not started together.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

import polars as pl

from heddle.model.cluster import Cluster, Node
from heddle.model.errors import BadInput
from heddle.traces.assemble import TaskTable, assemble
from heddle.traces.imports.columns import MORE, drop_empty, fields_of, number, rows_of, set_aside_where, typed_blocks
from heddle.traces.imports.fits import LARGER_THAN_ANY, fits_some
from heddle.traces.imports.format import Assumption, Files, Format, Given, Imported, about
from heddle.traces.imports.source import Head, Source

_FIELDS: Final = (
    "job", "submit_s", "wait_s", "run_s", "processors", "cpu_s", "used_kb", "requested_processors", "requested_s",
    "requested_kb", "status", "user", "group", "application", "queue", "partition", "preceding", "think_s",
)  # fmt: skip
_KEPT: Final = (
    "row", "job", "submit_s", "wait_s", "run_s", "cpu_s", "used_kb", "requested_kb", "user", "queue", "preceding",
    MORE, "asked", "queue_name", "nodes", "per_node",
)  # fmt: skip
_TYPES: Final = {name: pl.Float64 if name in ("cpu_s", "used_kb") else pl.Int64 for name in _FIELDS}
_HEADER: Final = re.compile(r"^;\s*(?P<key>\w+):\s*(?P<value>.*?)\s*$", re.MULTILINE)
_LAYOUT: Final = r"(\d+):ppn=(\d+)"  # of the extended kind: nodes and processors on each
_CANCELLED: Final = 5
_PARTIAL: Final = (2, 3, 4)
_KB_PER_MB: Final = 1024
_BYTES_PER_MB: Final = 1 << 20


def _role(head: Head) -> str | None:
    if head.name.endswith(".machines"):
        fields = head.first.split()
        return "machines" if len(fields) == 6 and all(part.isdigit() for part in (fields[0], *fields[2:])) else None
    for line in head.lines[:400]:
        if not line.strip() or line.startswith(";"):
            continue
        fields = line.split()
        return "log" if len(fields) >= len(_FIELDS) and all(map(_is_number, fields[: len(_FIELDS)])) else None
    return None


def _is_number(text: str) -> bool:
    return re.fullmatch(r"-?\d+(\.\d+)?", text) is not None


@dataclass
class _Log:
    """What one log gave: its tasks, its machine and what is worth saying."""

    tasks: pl.DataFrame
    nodes: list[Node]
    notes: list[str]


def _read(files: Files, given: Given) -> Imported:
    sources = files["log"]
    machines = {source.name.removesuffix(".machines"): source for source in files.get("machines", [])}
    logs = []
    for source in sources:
        unpacked = source.name.removesuffix(".gz")
        logs.append(_read_log(source, machines.pop(unpacked, None), given, prefixed=len(sources) > 1))
    for unused in machines.values():
        unused.rows.set_aside(unused.lines().rows, "machines of a log that is not among the files")
    tasks = pl.concat([log.tasks for log in logs], how="diagonal_relaxed")
    if not tasks.height:
        raise BadInput.of("swf", "no usable job in these files")
    notes = [note for log in logs for note in log.notes]
    if len(logs) > 1:
        notes.append(
            f"{len(logs)} logs laid over each other: each begins at 0 and has a queue and (by label) nodes of its own"
        )
    name = sources[0].stem if len(sources) == 1 else "swf"
    workload = assemble(name, TaskTable(tasks, about=about("swf", files, given)))
    nodes = tuple(node for log in logs for node in log.nodes)
    return Imported(workload, Cluster(nodes, name=name) if nodes else None, notes)


def _read_log(source: Source, machines: Source | None, given: Given, *, prefixed: bool) -> _Log:
    parts = [_typed(source, block) for block in typed_blocks(source, " ", _TYPES, comment=";", collapse=True)]
    header = {match["key"]: match["value"] for match in _HEADER.finditer(source.head().text)}
    rows = pl.concat(parts) if parts else pl.DataFrame()
    if not rows.height:
        return _Log(pl.DataFrame(), [], [f"{source.name}: no usable job"])
    extended = rows[MORE].null_count() < rows.height
    duplicate = rows.filter(~pl.col("job").is_first_distinct())
    source.rows.set_aside(rows_of(duplicate), "a job number that occurred before")
    rows = rows.filter(pl.col("job").is_first_distinct())
    per_node, guessed = _processors_per_node(header, machines, given)
    tasks = _containers(rows, per_node, extended, given)
    nodes = _machine_nodes(machines) if machines else _nodes(header, per_node, tasks)
    if machines:
        lost = tasks.filter(~pl.Series(fits_some(tasks, nodes)))["place"].unique(maintain_order=True)
        source.rows.set_aside(rows_of(rows)[lost], LARGER_THAN_ANY)
        tasks = tasks.filter(~pl.col("place").is_in(lost.implode()))
    source.rows.tasks(rows_of(rows)[tasks["place"].unique()])
    queue = _queue_names(rows["queue_name"] if extended else rows["queue"], header)
    prefix, label = (f"{source.stem}/", source.stem) if prefixed else ("", "")
    tasks = tasks.with_columns(
        job=prefix + pl.col("job").cast(pl.String),
        queue=pl.lit(source.stem.replace(".", "-")) if prefixed else queue.gather(tasks["place"]),
        user=pl.when(pl.col("user") >= 0).then(f"{prefix}user-" + pl.col("user").cast(pl.String)),
        submit_at_ms=pl.col("submit_at_ms") - pl.col("submit_at_ms").min(),
        label=pl.lit(label),
    ).drop("place")
    if prefixed:
        nodes = [replace(node, name=f"{label}-{node.name}", label=label) for node in nodes]
    notes = _notes(source, rows, extended, guessed, per_node)
    return _Log(tasks, nodes, notes)


def _typed(source: Source, rows: pl.DataFrame) -> pl.DataFrame:
    """Numbers where numbers belong; rows that are no jobs are set aside."""
    rows = set_aside_where(
        source, rows, pl.any_horizontal(pl.col(name).is_null() for name in _FIELDS), "not 18 numbers"
    )
    rows = rows.with_columns(
        asked=pl.when(pl.col("processors") > 0).then(pl.col("processors")).otherwise(pl.col("requested_processors")),
        queue_name=pl.col(MORE).str.extract(r"^\S+\s+(\S+)", 1),
        nodes=pl.col(MORE).str.extract(_LAYOUT, 1).cast(pl.Int64, strict=False),
        per_node=pl.col(MORE).str.extract(_LAYOUT, 2).cast(pl.Int64, strict=False),
    )
    rows = set_aside_where(
        source, rows, pl.col("status").is_in(_PARTIAL), "part of a checkpointed job, which has a row of its own"
    )
    rows = set_aside_where(source, rows, pl.col("submit_s") < 0, "submission unknown")
    never = (pl.col("status") == _CANCELLED) & (pl.col("run_s") <= 0)
    rows = set_aside_where(source, rows, never, "cancelled before it ran")
    rows = set_aside_where(source, rows, pl.col("run_s") < 0, "run time unknown")
    rows = set_aside_where(source, rows, pl.col("asked") <= 0, "number of processors unknown")
    return rows.select(_KEPT)


def _containers(rows: pl.DataFrame, per_node: int, extended: bool, given: Given) -> pl.DataFrame:
    """Full containers and, where the processors do not divide, one for the rest."""
    assumed_mb = given.assumed["memory_mb_per_processor"]
    size, asked = pl.col("size"), pl.col("asked")
    # The extended kind gives the bytes of the whole job.
    memory_mb = pl.col("requested_kb") / _BYTES_PER_MB / asked if extended else pl.col("requested_kb") / _KB_PER_MB
    fits_layout = (pl.col("nodes") * pl.col("per_node") == asked).fill_null(False)
    used_mb = pl.when((pl.col("used_kb") > 0) & (not extended)).then(pl.col("used_kb") / _KB_PER_MB)
    # A job that requests no memory reserves at least what it was seen to use: it did run.
    enough_mb = pl.max_horizontal(pl.lit(assumed_mb), used_mb)
    rows = rows.with_row_index("place").with_columns(
        size=pl.when(fits_layout).then(pl.col("per_node")).otherwise(pl.min_horizontal(asked, pl.lit(per_node))),
        mb=pl.when(pl.col("requested_kb") > 0).then(memory_mb).otherwise(enough_mb),
        used_mb=used_mb,
        load=pl.when((pl.col("cpu_s") > 0) & (pl.col("run_s") > 0) & (not extended)).then(
            pl.col("cpu_s") / pl.col("run_s")
        ),
    )
    full = rows.with_columns(count=asked // size, stage=pl.lit("processors"))
    rest = rows.filter(asked % size > 0).with_columns(count=1, stage=pl.lit("rest"), size=asked % size)
    both = pl.concat([full, rest], how="vertical_relaxed").sort("place", maintain_order=True)
    known = pl.col("used_mb").is_not_null() & pl.col("load").is_not_null()
    return both.select(
        "job", "stage", "count", "user", "place",
        submit_at_ms=pl.col("submit_s") * 1000,
        duration_ms=pl.col("run_s") * 1000,
        memory_mb=(pl.col("mb") * size).ceil().cast(pl.Int64),
        vcores_milli=size * 1000,
        used_memory_mb=pl.when(known).then((pl.col("used_mb") * size).ceil().cast(pl.Int64)),
        used_vcores_milli=pl.when(known).then((pl.col("load").clip(0, 1) * size * 1000).ceil().cast(pl.Int64)),
    )  # fmt: skip


def _processors_per_node(header: dict[str, str], machines: Source | None, given: Given) -> tuple[int, bool]:
    """(processors of a node, whether that was assumed)."""
    if given.assumed["processors_per_node"] > 0:
        return int(given.assumed["processors_per_node"]), False
    processors, nodes = (_leading_number(header.get(key, "")) for key in ("MaxProcs", "MaxNodes"))
    if processors > 0 and nodes > 0:
        return max(1, processors // nodes), False
    return _PROCESSORS_IF_UNKNOWN, machines is None


_PROCESSORS_IF_UNKNOWN: Final = 16


def _leading_number(text: str) -> int:
    match = re.match(r"\d{1,9}", text)
    return int(match[0]) if match else 0


def _queue_names(queue: pl.Series, header: dict[str, str]) -> pl.Series:
    if queue.dtype == pl.String:
        return queue.fill_null("default").str.replace_all(".", "-", literal=True)
    numbered = pl.DataFrame({"queue": queue}).select(
        pl.when(pl.col("queue") >= 0).then("queue-" + pl.col("queue").cast(pl.String)).otherwise(pl.lit("default"))
    )
    return numbered.to_series()


def _nodes(header: dict[str, str], per_node: int, tasks: pl.DataFrame) -> list[Node]:
    """The machine of the header, with memory for the largest container."""
    processors = _leading_number(header.get("MaxProcs", ""))
    if not processors:
        return []
    memory_mb = max(int(tasks["memory_mb"].to_numpy().max(initial=1)), 1)
    size = (memory_mb, per_node * 1000)
    count = -(-processors // per_node)
    return [Node(f"node-{number}", size, size) for number in range(count)]


def _machine_nodes(machines: Source) -> list[Node]:
    """MetaCentrum's list: number, name, nodes, processors of each, speed, KB of each."""
    lines = drop_empty(machines, machines.lines())
    rows = fields_of(lines.collapsed(), " ", ("number", "name", "count", "processors", "speed", "kb"))
    usable = pl.all_horizontal(number(column) > 0 for column in ("count", "processors", "kb")) & pl.col(MORE).is_null()
    rows = set_aside_where(machines, rows, ~usable, "not a group of machines")
    machines.rows.metadata(rows_of(rows), "machines")
    nodes = []
    for name, count, processors, kb in rows.select("name", "count", "processors", "kb").rows():
        size = (int(float(kb)) // _KB_PER_MB, int(float(processors)) * 1000)
        nodes += [Node(f"{name}-{one}", size, size, rack=name) for one in range(int(float(count)))]
    return nodes


def _notes(source: Source, rows: pl.DataFrame, extended: bool, guessed: bool, per_node: int) -> list[str]:
    notes = []
    if guessed:
        notes.append(f"{source.name}: does not say how many processors a node has; {per_node} assumed")
    if extended:
        notes.append(
            f"{source.name}: extended SWF: memory is read as bytes per job, its constant used memory is ignored"
        )
    else:
        if (rows["requested_kb"] <= 0).all():
            notes.append(
                f"{source.name}: no memory was requested in any job; an assumed amount per processor stands for it"
            )
        if chained := int((rows["preceding"] > 0).sum()):
            notes.append(
                f"{source.name}: {chained} jobs name a preceding job; those dependencies and think times are not kept"
            )
        if (rows["wait_s"] < 0).all():
            notes.append(f"{source.name}: no waits are known: its submissions are its starts")
    return notes


FORMAT = Format(
    name="swf",
    summary="Standard Workload Format of the Parallel Workloads Archive, also MetaCentrum's extended kind",
    roles={"log": "jobs, 18 numbers to a line", "machines": "MetaCentrum's list of machines"},
    role=_role,
    needs=("log",),
    read=_read,
    has="jobs with submission, run time, processors, user, queue; requested and used memory in few logs",
    models="a job is containers of a node's processors each; memory per processor where none was requested",
    assumptions={
        "memory_mb_per_processor": Assumption(
            1024, "reserved for each processor where the log requests none; more where more was used", 1
        ),
        "processors_per_node": Assumption(0, "largest container; 0: what the header says, else 16"),
    },
)
