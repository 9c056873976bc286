"""`heddle yarn bridge install|check|remove`: the bridge in the ResourceManagers of a cluster."""

from __future__ import annotations

import getpass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heddle.cli.group import CommandGroup
from heddle.cli.output import DONE, FAILED, Json, print_json, print_line, print_lines, say
from heddle.cli.yarn_cluster import Name, Rm, client_of, secret_of

if TYPE_CHECKING:
    from heddle.yarn.live.bridge.checking import Checked

app = typer.Typer(
    cls=CommandGroup,
    help="Let `steer` decide request by request, inside a stock ResourceManager.\n\n"
    "\b\nExamples:\n"
    "  heddle yarn bridge install --to /etc/heddle/bridge    the jar, a secret, and what to set\n"
    "  heddle yarn bridge check                              which ResourceManagers have it\n"
    "  heddle yarn bridge install --leaf root.etl            a leaf asks it from now on\n"
    "  heddle yarn bridge remove                             all leaves as they were",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Leaves = Annotated[list[str] | None, typer.Option("--leaf", help="Full name of a leaf queue; repeatable.")]


@app.command()
def install(
    to: Annotated[Path | None, typer.Option(help="Folder for the jar and the secret, on the RM's host.")] = None,
    leaf: Leaves = None,
    hadoop: Annotated[str, typer.Option(help="Version of Hadoop that the jar is compiled against.")] = "3.4.2",
    rm: Rm = None,
    name: Name = None,
) -> int:
    """Write the jar, a secret and what to set; once all ResourceManagers have it, switch leaves on, live.

    With --to: files, and the settings that load them, for each ResourceManager in turn. Needs a JDK. With --leaf: the
    leaf asks the bridge from now on. That is refused until every ResourceManager, standbys too, has the same jar.

    \b
    Examples:
      heddle yarn bridge install --to /etc/heddle/bridge
      heddle yarn bridge install --leaf root.etl --rm http://rm1:8088,http://rm2:8088
    """
    from heddle.model.errors import BadInput
    from heddle.yarn.live.bridge.checking import switch_on
    from heddle.yarn.testbed.bridge.jar import bridge_jar
    from heddle.yarn.testbed.bridge.settings import how_to_install, lay_out

    if (to is None) == (not leaf):
        raise BadInput.of("--to", "use either --to or --leaf")
    if to is not None:
        lay_out(to.resolve(), bridge_jar(hadoop))
        print_lines(how_to_install(to.resolve()))
        return DONE
    with client_of(rm, name) as client:
        checked = _checked(rm, name)
        switch_on(client, checked, leaf or [])
        say(f"{', '.join(leaf or [])}: now asks the bridge; {checked.about_store()}")
    return DONE


@app.command("check")
def check_command(
    on: Annotated[bool, typer.Option("--on", help="Turn it on again, after it has turned itself off.")] = False,
    bridge_secret: Annotated[Path | None, typer.Option(help="File with the bridge's secret, for --on.")] = None,
    rm: Rm = None,
    name: Name = None,
    json: Json = False,
) -> int:
    """Say which ResourceManagers have the bridge, which leaves ask it, and what cannot work.

    Exit code 1 unless all of them have the jar that this heddle makes.

    \b
    Example:
      heddle yarn bridge check --rm http://rm1:8088
    """
    from heddle.yarn.live.bridge.endpoint import BridgeEndpoint

    if on:
        with client_of(rm, name) as client:
            BridgeEndpoint(client, secret_of(bridge_secret, rm, name)).turn_on()
    checked = _checked(rm, name)
    if json:
        print_json(_document(checked))
    else:
        for line in _lines(checked):
            print_line(line)
    return FAILED if checked.missing else DONE


@app.command()
def remove(
    leaf: Leaves = None,
    files: Annotated[
        Path | None,
        typer.Option("--from", help="Delete the jar and the secret here, once no ResourceManager has them."),
    ] = None,
    rm: Rm = None,
    name: Name = None,
) -> int:
    """Take the bridge out, in the order that never leaves a ResourceManager unable to start.

    First leaves go back to what they ordered by, live (all of them, or those named). Then the settings go, and each
    ResourceManager is restarted. The jar goes last: --from deletes it only when no ResourceManager has it any more.

    \b
    Examples:
      heddle yarn bridge remove
      heddle yarn bridge remove --from /etc/heddle/bridge
    """
    from heddle.model.errors import RunRefused
    from heddle.yarn.live.bridge.checking import switch_off
    from heddle.yarn.testbed.bridge.settings import delete, how_to_remove

    checked = _checked(rm, name)
    if files is not None:
        still = [one.address for one in checked.rms if one.bridge is not None or one.problem]
        if still or checked.leaves:
            users = [*still, *sorted(checked.leaves)]
            raise RunRefused(f"still in use, or possibly so: {', '.join(users)}. {how_to_remove()}")
        delete(files)
        return DONE
    with client_of(rm, name) as client:
        switch_off(client, checked, leaf or sorted(checked.leaves))
    say(f"{', '.join(leaf or sorted(checked.leaves)) or 'no leaf'}: as before the bridge. {checked.about_store()}")
    say(how_to_remove())
    return DONE


def _checked(rm: str | None, name: str | None) -> Checked:
    from heddle.yarn.live.bridge.checking import check
    from heddle.yarn.testbed.bridge.jar import build_id

    with client_of(rm, name) as client:
        return check(client, getpass.getuser(), build_id())


def _document(checked: Checked) -> dict[str, Any]:
    return {
        "build": checked.build,
        "hadoop": checked.hadoop,
        "store": checked.store,
        "keeps_switches": checked.keeps_switches,
        "leaves": sorted(checked.leaves),
        "missing": checked.missing,
        "resource_managers": [
            {"address": one.address, "problem": one.problem, "bridge": one.bridge.told if one.bridge else None}
            for one in checked.rms
        ],
    }


def _lines(checked: Checked) -> list[str]:
    lines = []
    for one in checked.rms:
        if one.bridge is None:
            lines.append(f"{one.address}: {one.problem or 'no bridge'}")
            continue
        state = one.bridge
        role = "active" if state.active else "standby"
        same = "this heddle's" if state.build == checked.build else f"build {state.build}, not {checked.build}"
        off = f"; OFF: {state.off}" if state.off else ""
        lines.append(f"{one.address}: {role}, the jar is {same}, table {state.table or 'none'}{off}")
    lines.append(f"leaves that use it: {', '.join(sorted(checked.leaves)) or 'none'}")
    lines.append(checked.about_store())
    if checked.impossible:
        lines.append(f"it cannot work here: {checked.impossible}")
    return lines
