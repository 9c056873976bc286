"""`heddle traces`: traces of others as workloads, with an account of every row."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heddle.cli import trace_tools
from heddle.cli.group import CommandGroup
from heddle.cli.output import Json, counted, print_json, print_tables, say, table
from heddle.model.errors import BadInput

if TYPE_CHECKING:
    from rich.table import Table

app = typer.Typer(
    cls=CommandGroup,
    help="Import traces, look at them, cut and share them.\n\n"
    "\b\nExamples:\n"
    "  heddle traces formats\n"
    "  heddle traces import job-history/ -o history.parquet\n"
    "  heddle traces import --format csv --map memory_mb=mem tasks.csv -o tasks.parquet\n"
    "  heddle traces describe history.parquet",
    no_args_is_help=True,
    rich_markup_mode=None,
)


def _pairs(option: str, texts: Iterable[str]) -> dict[str, str]:
    """`a=b` options as a mapping."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals):
            raise BadInput.of(option, f"say NAME=VALUE, not {text}")
        if name in found:
            raise BadInput.of(option, "given twice", field=name)
        found[name] = value
    return found


@app.command("import")
def import_command(
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help="Files or folders, compressed or not.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The .parquet file to write.")],
    format_name: Annotated[
        str | None, typer.Option("--format", "-f", help="See `heddle traces formats` [default: recognised].")
    ] = None,
    columns: Annotated[
        list[str] | None, typer.Option("--map", help="For csv: NAME=COLUMN, heddle's name and the file's. Repeatable.")
    ] = None,
    assume: Annotated[
        list[str] | None, typer.Option("--assume", help="NAME=NUMBER, a figure the source does not have. Repeatable.")
    ] = None,
    usage_model: Annotated[
        str, typer.Option(help="Use where none was recorded: none, reserved, fraction=0.4 or spread=0.2..0.8.")
    ] = "none",
    strict: Annotated[bool, typer.Option("--strict", help="A row that would be set aside is an error.")] = False,
    json: Json = False,
) -> None:
    """Import a trace as a workload, and account for every row.

    Next to OUT.parquet, heddle writes OUT.import.json (the account), OUT.cluster.yaml (if the source has machines; it
    becomes the default cluster of OUT.parquet) and OUT.set-aside.csv (rows that could not be used, with reasons).

    \b
    Examples:
      heddle traces import KTH-SP2-1996.swf.gz -o kth.parquet
      heddle traces import --format csv --map memory_mb=mem --map vcores=cores tasks.csv -o tasks.parquet
      heddle traces import history/ --strict --json -o history.parquet
      heddle traces import log.swf --usage-model spread=0.2..0.8 -o log.parquet
    """
    from heddle.traces.imports.importing import import_trace
    from heddle.traces.imports.store import store
    from heddle.traces.imports.usage_models import parse_usage_model

    result = import_trace(
        paths,
        format_name,
        assumed=_pairs("--assume", assume or []),
        columns=_pairs("--map", columns or []),
        usage_model=parse_usage_model(usage_model),
        strict=strict,
    )
    account = store(result, output)
    account["out"] = str(output)
    for note in account["notes"]:
        say(f"note: {note}")
    if json:
        print_json(account)
        return
    print_tables([_account_table(account)])
    say(f"wrote {output}: {counted(account['jobs'], 'job')}, {counted(account['tasks'], 'task')}")


def _account_table(account: dict[str, Any]) -> Table:
    """Where every row went; the lines add up to the first."""
    found = account["reconciliation"]
    how = "recognised" if account["detected"] else "as asked"
    rows = [(f"{found['rows']:,}", "rows read", counted(len(account["files"]), "file"))]
    became = f"{counted(account['tasks'], 'task')} of {counted(account['jobs'], 'job')}"
    rows.append((f"{found['task_rows']:,}", "became tasks", became))
    rows += [(f"{count:,}", "merged into", what) for what, count in found["merged"].items()]
    rows += [(f"{count:,}", "metadata", what) for what, count in found["metadata"].items()]
    rows += [
        (f"{count:,}", "set aside", f"{reason} ({', '.join(found['examples'][reason])})")
        for reason, count in found["set_aside"].items()
    ]
    rows += [("", "not read", f"{one['file']}: {one['why']}") for one in found["not_read"]]
    return table(("rows", "", ""), rows, title=f"{account['format']} ({how})")


@app.command("formats")
def formats(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="One format, in full.")] = None,
    json: Json = False,
) -> None:
    """List the formats that can be imported, and what heddle assumes where a source has no data.

    \b
    Examples:
      heddle traces formats
      heddle traces formats swf
    """
    from heddle.traces.imports.registry import all_formats, format_of

    chosen = list(all_formats()) if name is None else [format_of(name)]
    if json:
        print_json(
            {
                "formats": [
                    {
                        "name": one.name,
                        "summary": one.summary,
                        "files": dict(one.roles),
                        "has": one.has,
                        "models": one.models,
                        "assumptions": {
                            key: {"default": value.default, "what": value.what}
                            for key, value in one.assumptions.items()
                        },
                        "writes": one.writes,
                    }
                    for one in chosen
                ]
            }
        )
        return
    if name is None:
        print_tables([table(("format", "what it is"), [(one.name, one.summary) for one in chosen])])
        say("more about one: heddle traces formats NAME")
        return
    one = chosen[0]
    rows = [("has", one.has), ("models", one.models)]
    rows += [(f"file: {role}", what) for role, what in one.roles.items()]
    rows += [(f"--assume {key}={value.default:g}", value.what) for key, value in one.assumptions.items()]
    print_tables([table(("", ""), rows, title=f"{one.name}: {one.summary}")])


app.command("describe")(trace_tools.describe)
app.command("slice")(trace_tools.slice_trace)
app.command("scale")(trace_tools.scale)
app.command("sample")(trace_tools.sample)
app.command("repeat")(trace_tools.repeat)
app.command("export")(trace_tools.export)
app.command("fit")(trace_tools.fit)
app.command("share")(trace_tools.share)
