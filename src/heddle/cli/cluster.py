"""`heddle cluster import|show`: a cluster file from a real YARN, and what is in one."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heddle.cli.group import CommandGroup
from heddle.cli.inputs import MAY_CHANGE_RESULTS
from heddle.cli.output import Json, print_json, print_tables, say, table
from heddle.model.errors import BadInput

if TYPE_CHECKING:
    from heddle.model.cluster import Cluster
    from heddle.traces.cluster_import.imported import Left

app = typer.Typer(
    cls=CommandGroup,
    help="Make a cluster file from a real YARN's configuration.\n\n"
    "\b\nExamples:\n"
    "  heddle cluster import --rm rm.example.org:8088 -o cluster.yaml\n"
    "  heddle cluster import capacity-scheduler.xml --nodes 40x65536x24 -o cluster.yaml",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def cluster() -> None:
    """Keeps `import` a word of its own, as long as it is the only one."""


@app.command("import")
def import_cluster(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="capacity-scheduler.xml or fair-scheduler.xml.")
    ] = None,
    rm: Annotated[
        str | None,
        typer.Option(metavar="URL", help="A running ResourceManager: its nodes, and its queues unless FILE is given."),
    ] = None,
    nodes: Annotated[
        str | None, typer.Option(help="The nodes, if there is no RM to ask: NODESxMEMORY_MBxVCORES or a cluster file.")
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Output file [default: print it].")] = None,
    json: Json = False,
) -> None:
    """Import the nodes and the queue tree of a YARN cluster.

    Everything that is said there and not modelled by heddle is listed, and kept in the file under `about`.

    \b
    Examples:
      heddle cluster import --rm rm.example.org:8088 -o cluster.yaml
      heddle cluster import capacity-scheduler.xml --nodes 40x65536x24 -o cluster.yaml
      heddle cluster import fair-scheduler.xml --rm rm.example.org:8088 -o cluster.yaml --json
    """
    from heddle.traces.clusters import dump_cluster

    made, left = _imported(file, rm, nodes)
    if output is not None:
        made = replace(made, name=output.stem)  # as tables and reports will call it
    text = dump_cluster(made)
    if output is not None:
        _write(output, text)
    if json:
        listed = [asdict(one) for one in left]
        facts = {"nodes": made.n_nodes, "queues": len(made.queues), "policy": made.policy}
        print_json({"file": None if output is None else str(output), **facts, "not_modelled": listed, "cluster": text})
        return
    if output is None:
        print(text, end="")
    if left:
        headings = {
            True: "not imported, may change results",
            False: "not imported, changes no results",
        }
        for matters, heading in headings.items():
            rows = [(one.setting, one.value, one.why) for one in left if one.matters == matters]
            if rows:
                print_tables([table((heading, "value", "why"), rows)], to_stderr=output is None)
    say(f"{made.n_nodes} nodes, {len(made.queues)} queues; its policy is {made.policy}, the baseline for comparisons")


def _imported(file: Path | None, rm: str | None, nodes: str | None) -> tuple[Cluster, list[Left]]:
    from heddle.traces.cluster_import.imported import with_queues
    from heddle.traces.cluster_import.scheduler_xml import read_queues_xml
    from heddle.traces.clusters import load_cluster
    from heddle.yarn.live.client import RmClient
    from heddle.yarn.live.pace import Pace
    from heddle.yarn.observe.cluster_import import nodes_of, of_nodes, queues_of

    if (rm is None) == (nodes is None):
        what = "name the nodes with either --rm (a ResourceManager) or --nodes (40x65536x24)"
        raise BadInput.of("heddle cluster import", what)
    if rm is None and file is None:
        raise BadInput.of("heddle cluster import", "name the scheduler's XML file, or a ResourceManager with --rm")
    if file is not None and not file.is_file():
        raise BadInput.of(str(file), "no such file")
    left: list[Left] = []
    if rm is not None:
        with RmClient(rm, pace=Pace()) as client:
            found, resources, untold = nodes_of(client)
            left += untold.found
            imported = queues_of(client) if file is None else None
        base = of_nodes(found, resources)
    else:
        base, imported = load_cluster(nodes or ""), None
    if imported is None:
        assert file is not None
        imported = read_queues_xml(file, base.total_allowance())
    left += imported.left
    about = {
        "imported_from": ", ".join(part for part in (rm, str(file) if file else None) if part),
        "not_modelled": [str(one) for one in left if not one.matters],
        MAY_CHANGE_RESULTS: [str(one) for one in left if one.matters],
    }
    made = replace(with_queues(base, imported), about=about)
    return (made if file is None else replace(made, name=file.stem)), left


def _write(output: Path, text: str) -> None:
    from heddle.model.whole_files import write_whole

    if output.suffix not in (".yaml", ".yml"):
        raise BadInput.of(str(output), "the name must end in .yaml", field="--output")
    write_whole(output, text)
    say(f"wrote {output}")
