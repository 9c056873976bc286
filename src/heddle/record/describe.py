"""docs/record.md, made from the schema."""

from __future__ import annotations

from heddle.record.journal import JOURNAL_FILE
from heddle.record.manifest import FORMAT_VERSION, MANIFEST
from heddle.record.parts import PART_ROWS
from heddle.record.schema import event_kinds, tables

_INTRODUCTION = f"""# The run record

A record is a folder with `manifest.json` and, for each table, parts: complete Parquet files `<table>-00000.parquet`,
`<table>-00001.parquet` and so on, with {PART_ROWS:,} rows each and fewer in the last.
`pl.read_parquet("run/jobs-*.parquet")` reads a whole table. A record holds what was seen, what was decided and why, and
what happened: every metric can be computed from it without another run. Records of live clusters have the same form.
This page is generated from `manifest.py` and `schema.py` in `src/heddle/record/` (format version {FORMAT_VERSION}); a
test checks that it is up to date.

Times are milliseconds since the start of the run (in a live record, times before the observation began are
negative), memory is in MB, vcores are in thousandths. `<resource>` stands for each resource of the cluster:
`memory_mb`, `vcores_milli`, then any others. The same workload, cluster, policy and seed
give the same bytes in every Parquet file; what depends on the machine (`wall_s` and the like) is only in the manifest.

heddle still reads format 1, in which each table was one file and attempts were in order of allocation.

## While a run goes on
`heddle simulate --record NAME` writes parts to `NAME.partial` as they fill, in a thread next to the engine. The
journal `{JOURNAL_FILE}` there describes the run and lists the finished parts. At the end of the run, the manifest
replaces the journal and the folder is renamed to `NAME`. So `NAME` is either complete or what it was before. Ctrl-C and
a full disk leave nothing behind; a killed run leaves `NAME.partial`, until the next run with the same name.

Everything that reads records can also read `NAME.partial`, even during the run, and says that it is partial. It covers
the time up to the last attempt end or the last event in finished parts, whichever is earlier: jobs that ended
by then have ended, and containers that had not ended are missing. Its `outcome` is `partial`, and its totals are sums
over its attempts. Until the first part of both tables is finished, nothing is known.
[Why](decisions/0005-a-record-while-the-run-goes-on.md).
"""


def record_markdown() -> str:
    """The text of docs/record.md."""
    placeholder = ("<resource>",)
    lines = [_INTRODUCTION, "## manifest.json", "", "| field | type | meaning |", "|---|---|---|"]
    lines += [f"| `{field.name}` | {field.kind} | {field.meaning} |" for field in MANIFEST]
    lines.append("| `files` | object | for each Parquet file: size in bytes, number of rows, SHA-256 |")
    for table in tables(placeholder).values():
        lines += ["", f"## {table.name}", "", table.meaning, "", "| column | type | meaning |", "|---|---|---|"]
        for column in table.columns:
            dtype = "Enum" if column.name == "kind" and table.name == "events" else str(column.dtype)
            lines.append(f"| `{column.name}` | {dtype}{' or null' if column.nullable else ''} | {column.meaning} |")
    lines += ["", "Kinds of events:", "", "| kind | meaning |", "|---|---|"]
    lines += [f"| `{kind}` | {meaning} |" for kind, meaning in event_kinds(placeholder).items()]
    return "\n".join(lines) + "\n"
