"""docs/record.md, made from the schema."""

from __future__ import annotations

from heddle.record.journal import JOURNAL_FILE
from heddle.record.manifest import FORMAT_VERSION, MANIFEST
from heddle.record.parts import PART_ROWS
from heddle.record.schema import event_kinds, tables

_INTRODUCTION = f"""# The run record

A record is a folder with `manifest.json` and, for each table, parts: complete Parquet files `<table>-00000.parquet`,
`<table>-00001.parquet` and so on, of {PART_ROWS:,} rows each and fewer in the last;
`pl.read_parquet("run/jobs-*.parquet")` reads a whole table. A record holds what was seen, decided, why, and what came
of it: every metric can be computed from it without running again, and a live cluster's record has the same form. This
page is made from `manifest.py` and `schema.py` in `src/heddle/record/` (format version {FORMAT_VERSION}); a test keeps
them together.

Times are milliseconds since the start of the run (what a live record tells of the time before anybody looked is
negative), memory is in MB, vcores are in thousandths. `<resource>` stands for each resource of the cluster:
`memory_mb`, `vcores_milli`, then any other. The same workload, cluster, policy and seed
give the same bytes in every Parquet file; what depends on the machine (`wall_s` and the like) is in the manifest alone.

Format 1, in which each table was one file and attempts stood in the order of allocations, is still read.

## While a run goes on
`heddle simulate --record NAME` writes parts as they fill, in a thread beside the engine, into `NAME.partial`; its
journal `{JOURNAL_FILE}` says what the run is and lists the parts that are finished. When the run is over, the manifest
takes the place of the journal and the folder becomes `NAME`. So `NAME` is whole, or what it was before. Ctrl-C and a
full disk leave nothing; a run that is killed leaves `NAME.partial`, until the next one is written to the same place.

Whatever reads records reads `NAME.partial`, too, even while the run goes on, and says that it is partial. It holds what
happened up to the earlier of the last end of an attempt and the last event that are in finished parts: jobs that ended
by then have ended, and containers that had not are not in it. Its `outcome` is `partial`, and its totals are sums over
its attempts. Before the first part of each of the two tables is finished, nothing can be told.
[Why so](decisions/0005-a-record-while-the-run-goes-on.md).
"""


def record_markdown() -> str:
    """The text of docs/record.md."""
    placeholder = ("<resource>",)
    lines = [_INTRODUCTION, "## manifest.json", "", "| field | type | meaning |", "|---|---|---|"]
    lines += [f"| `{field.name}` | {field.kind} | {field.meaning} |" for field in MANIFEST]
    lines.append("| `files` | object | for each Parquet file its size in bytes, its rows and its SHA-256 |")
    for table in tables(placeholder).values():
        lines += ["", f"## {table.name}", "", table.meaning, "", "| column | type | meaning |", "|---|---|---|"]
        for column in table.columns:
            dtype = "Enum" if column.name == "kind" and table.name == "events" else str(column.dtype)
            lines.append(f"| `{column.name}` | {dtype}{' or null' if column.nullable else ''} | {column.meaning} |")
    lines += ["", "Kinds of events:", "", "| kind | meaning |", "|---|---|"]
    lines += [f"| `{kind}` | {meaning} |" for kind, meaning in event_kinds(placeholder).items()]
    return "\n".join(lines) + "\n"
