"""`heddle yarn steer` and `heddle yarn restore`."""

from __future__ import annotations

import getpass
import json as jsonlib
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from heddle.cli.output import DONE, Json, print_json, say
from heddle.cli.yarn_cluster import client_of, until_told
from heddle.model.errors import BadInput, RunRefused

if TYPE_CHECKING:
    from heddle.yarn.controller import Step

Rm = Annotated[str | None, typer.Option("--rm", help="Address of a ResourceManager [default: a local cluster's].")]
Name = Annotated[str | None, typer.Option("--name", help="A cluster of `heddle yarn up` [default: local].")]


def steer(
    policy: Annotated[str, typer.Option("--policy", "-p", help="See `heddle policies`.")] = "usage-feedback",
    rm: Rm = None,
    name: Name = None,
    mode: Annotated[
        Literal["shadow", "live"], typer.Option(help="shadow: decide and record, change nothing.")
    ] = "shadow",
    lease_s: Annotated[float, typer.Option("--lease", min=2, help="Seconds after which changes are put back.")] = 60,
    every_s: Annotated[float, typer.Option("--every", min=0.2, help="Seconds between two steps.")] = 1.0,
    for_s: Annotated[float | None, typer.Option("--for", min=0.1, help="End after so many seconds.")] = None,
    young_s: Annotated[
        float,
        typer.Option("--young", min=0, help="So long a new container counts with all it reserves (usage-feedback)."),
    ] = 10,
    overcommit: Annotated[float, typer.Option(min=1, help="Promise at most this many times a node's own size.")] = 4,
    rise: Annotated[float, typer.Option(min=0.01, help="Grow at most by this share of a node's own size a step.")] = 1,
    stale_s: Annotated[
        float, typer.Option("--stale", min=2, help="Metrics that stand still so long are not used.")
    ] = 15,
    pressure: Annotated[
        float, typer.Option(min=0.1, max=1, help="Share of memory in use at which a node is promised nothing more.")
    ] = 0.92,
    dead_band_mb: Annotated[int, typer.Option(min=1, help="Smaller changes are not worth a call.")] = 256,
    node: Annotated[list[str] | None, typer.Option(help="Steer only this node; may be repeated.")] = None,
    best_effort: Annotated[bool, typer.Option("--best-effort", help="Live although parts cannot be acted on.")] = False,
    accept_sizes: Annotated[bool, typer.Option("--accept-sizes", help="Take nodes' sizes as they are now.")] = False,
    pause: Annotated[bool, typer.Option("--pause", help="Tell a running controller to change nothing.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Tell it to go on.")] = False,
    record: Annotated[Path | None, typer.Option(help="Append every decision to this file, as JSON lines.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print every decision as a JSON line.")] = False,
) -> int:
    """Steer a real YARN with a policy, until interrupted; or, in shadow mode, say what it would do.

    Only the sizes of nodes are changed, over REST; no container is ever killed. Live, everything is put back when it
    ends; a watchdog does so if it dies, and `heddle yarn restore` does so from any state. One controller per cluster.

    \b
    Examples:
      heddle yarn steer --policy usage-feedback
      heddle yarn steer --policy usage-feedback --mode live --lease 30 --node worker7:8041
      heddle yarn steer --pause
    """
    from heddle.policy.parse import parse_policy
    from heddle.yarn.controller import Settings
    from heddle.yarn.levers import charging_young
    from heddle.yarn.steering.desk import desk_of
    from heddle.yarn.steering.limits import Limits
    from heddle.yarn.steering.session import Session, Terms, not_acted_on
    from heddle.yarn.trace.journal import Journal

    chosen = parse_policy(policy)
    with client_of(rm, name) as client:
        desk = desk_of(client.address)
        if pause or resume:
            if pause and resume:
                raise BadInput.of("--pause", "say either --pause or --resume")
            desk.pause(pause)
            return DONE
        if unacted := not_acted_on(chosen):
            said = f"YARN has no knob from outside for: {', '.join(unacted)}; not acted on"
            if mode == "live" and not best_effort:
                raise RunRefused(f"{said}. --best-effort goes on nevertheless")
            say(f"note: {said}")
        only = frozenset(node) if node else None
        limits = Limits(overcommit, rise, round(1000 * stale_s), pressure, only, keep_largest=True)
        settings = Settings(dead_band=(dead_band_mb, 1000), shadow=mode == "shadow", limits=limits)
        chosen = charging_young(chosen, round(1000 * young_s), settings.report_ms)
        terms = Terms(lease_s, getpass.getuser(), accept_sizes)
        journal = Journal(record, say) if record is not None else None
        began_s = time.monotonic()
        session = Session(client, chosen, settings, desk, terms, say)
        with until_told() as told, session.at_work():
            say(f"{mode}: {chosen} on {client.address}; Ctrl-C ends it" + (", sizes are put back" * (mode == "live")))
            while not told and (for_s is None or time.monotonic() - began_s < for_s):
                step_began_s = time.monotonic()
                step = session.step()
                if step is not None:
                    _tell(step, chosen.name, mode, json, journal)
                time.sleep(max(0.0, step_began_s + every_s - time.monotonic()))
    return DONE


def _tell(step: Step, policy: str, mode: str, json: bool, journal: Any) -> None:
    nodes = [_node_line(step, resize) for resize in step.resizes]
    line = {
        "at": round(time.time(), 3),
        "policy": policy,
        "mode": mode,
        "applications": len(step.snapshot.apps),
        "containers": len(step.snapshot.containers),
        "nodes": nodes,
        "observe_ms": round(1000 * step.observe_s, 1),
        "decide_ms": round(1000 * step.decide_s, 1),
        "act_ms": round(1000 * step.act_s, 1),
    }
    if journal is not None:
        journal.add(line)
        journal.flush()
    if json:
        print(jsonlib.dumps(line), flush=True)
        return
    for node in nodes:
        if node["verdict"] in ("posted", "shadow", "failed"):
            say(
                f"{node['node']}: {node['verdict']} {node['before'][0]} -> {node['wanted'][0]} MB ({node['cause']});"
                f" reserved {node['allocated_mb']}, used {node['used_mb']} MB {node['problem']}".rstrip()
            )


def _node_line(step: Step, resize: Any) -> dict[str, Any]:
    seen = step.snapshot.nodes.get(resize.node)
    return {
        "node": resize.node,
        "before": resize.before,
        "wanted": resize.wanted,
        "verdict": str(resize.verdict),
        "cause": str(resize.cause),
        "problem": resize.problem,
        "allocated_mb": seen.allocated[0] if seen else None,
        "used_mb": seen.containers_memory_mb if seen else None,
    }


def restore(
    rm: Rm = None,
    name: Name = None,
    from_nodes: Annotated[
        bool, typer.Option("--from-nodes", help="To what their NodeManagers were configured with, whatever was saved.")
    ] = False,
    json: Json = False,
) -> int:
    """Put the sizes of all nodes back, from any state, and prove it by reading them again.

    \b
    Examples:
      heddle yarn restore
      heddle yarn restore --rm http://rm.example:8088 --from-nodes
    """
    from heddle.yarn.steering.desk import desk_of
    from heddle.yarn.steering.session import restore as put_all_back

    with client_of(rm, name) as client:
        done = put_all_back(client, desk_of(client.address), from_nodes=from_nodes)
    if json:
        print_json({"nodes": [{**vars(one), "proven": one.proven} for one in done]})
    else:
        changed = sum(one.before != one.now for one in done)
        away = [one.node for one in done if one.now is None]
        say(
            f"{len(done)} nodes have their own sizes, read back; {changed} were changed" if done else "nothing was left"
        )
        if away:
            say(f"not there, so not proven: {', '.join(away)}")
    return DONE
