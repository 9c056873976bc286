"""docs/record.md, made from the schema."""

from __future__ import annotations

from heddle.record.manifest import FORMAT_VERSION, MANIFEST
from heddle.record.schema import event_kinds, tables

_INTRODUCTION = f"""# The run record

A record is a folder with `manifest.json` and one Parquet file per table. It holds what was seen, decided, why, and what
came of it: every metric can be computed from it without running again, and a live cluster's record has the same form.
This page is made from `manifest.py` and `schema.py` in `src/heddle/record/` (format version {FORMAT_VERSION});
a test keeps them together.

Times are milliseconds since the start of the run (what a live record tells of the time before anybody looked is
negative), memory is in MB, vcores are in thousandths. `<resource>` stands for each resource of the cluster:
`memory_mb`, `vcores_milli`, then any other. The same workload, cluster, policy and seed
give the same bytes in every Parquet file; what depends on the machine (`wall_s` and the like) is in the manifest alone.
"""


def record_markdown() -> str:
    """The text of docs/record.md."""
    placeholder = ("<resource>",)
    lines = [_INTRODUCTION, "## manifest.json", "", "| field | type | meaning |", "|---|---|---|"]
    lines += [f"| `{field.name}` | {field.kind} | {field.meaning} |" for field in MANIFEST]
    lines.append(
        "| `files` | object | for each Parquet file its size in bytes and its SHA-256; written with the files |"
    )
    for table in tables(placeholder).values():
        lines += ["", f"## {table.name}.parquet", "", table.meaning, "", "| column | type | meaning |", "|---|---|---|"]
        for column in table.columns:
            dtype = "Enum" if column.name == "kind" and table.name == "events" else str(column.dtype)
            lines.append(f"| `{column.name}` | {dtype}{' or null' if column.nullable else ''} | {column.meaning} |")
    lines += ["", "Kinds of events:", "", "| kind | meaning |", "|---|---|"]
    lines += [f"| `{kind}` | {meaning} |" for kind, meaning in event_kinds(placeholder).items()]
    return "\n".join(lines) + "\n"
