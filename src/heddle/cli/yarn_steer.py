"""`heddle yarn steer` and `heddle yarn restore`."""

from __future__ import annotations

import getpass
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from heddle.cli.choosing import Candidates, Choose, Horizon
from heddle.cli.declared import DeclaredOption, NetworkOption, declared_data, say_unknown_hosts
from heddle.cli.durations import For
from heddle.cli.live_choosing import (
    ChooseEvery,
    JournalFolder,
    Rest,
    Yes,
    choosing_beside,
    told_candidates,
    wanted,
)
from heddle.cli.output import DONE, Json, complain, print_json, say
from heddle.cli.pausing import pausing
from heddle.cli.steer_telling import telling
from heddle.cli.yarn_cluster import (
    MAX_CALLS,
    MaxCalls,
    Name,
    Rm,
    Stretched,
    address_of,
    client_of,
    secret_of,
    until_told,
)
from heddle.model.errors import BadInput, RunRefused

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from heddle.dashboard.board import Board
    from heddle.policy.policy import Policy
    from heddle.yarn.live.steering.desk import Desk


def steer(
    policy: Annotated[str, typer.Option("--policy", "-p", help="See `heddle policies`.")] = "usage-feedback",
    rm: Rm = None,
    name: Name = None,
    mode: Annotated[
        Literal["shadow", "live"], typer.Option(help="shadow: decide and record, but change nothing.")
    ] = "shadow",
    lease_s: Annotated[
        float,
        typer.Option(
            "--lease", min=2, help="Seconds after which the watchdog undoes changes if the controller falls silent."
        ),
    ] = 60,
    every_s: Annotated[float, typer.Option("--every", min=0.2, help="Seconds between two steps.")] = 1.0,
    for_s: For = None,
    young_s: Annotated[
        float,
        typer.Option(
            "--young",
            min=0,
            help="Minimum seconds for which a new container counts in full; longer where starts are slow. "
            "0: exactly as the policy says.",
        ),
    ] = 10,
    overcommit: Annotated[
        float, typer.Option(min=1, help="Maximum size of a node, as a multiple of its own size.")
    ] = 4,
    rise: Annotated[
        float, typer.Option(min=0.01, help="Maximum growth per step, as a share of the node's own size.")
    ] = 1,
    stale_s: Annotated[
        float, typer.Option("--stale", min=2, help="Ignore metrics that have not changed for this many seconds.")
    ] = 15,
    pressure: Annotated[
        float, typer.Option(min=0.1, max=1, help="Share of memory in use at which overcommitting a node stops.")
    ] = 0.92,
    dead_band_mb: Annotated[int, typer.Option(min=1, help="Skip smaller changes of memory.")] = 256,
    dead_band_vcores: Annotated[int, typer.Option(min=1, help="Skip smaller changes of vcores.")] = 1,
    node: Annotated[list[str] | None, typer.Option(help="Steer only this node; repeatable.")] = None,
    queue: Annotated[
        list[str] | None,
        typer.Option(help="Change AM shares and priorities only in this leaf queue (root.etl); repeatable."),
    ] = None,
    best_effort: Annotated[
        bool, typer.Option("--best-effort", help="Go live even if YARN has no knob for some part of the policy.")
    ] = False,
    accept_sizes: Annotated[
        bool, typer.Option("--accept-sizes", help="Accept the nodes' current sizes as their own.")
    ] = False,
    use_bridge: Annotated[
        bool, typer.Option("--bridge/--no-bridge", help="Decide request by request where the RM has the bridge.")
    ] = True,
    bridge_secret: Annotated[
        Path | None, typer.Option(help="File with the bridge's secret [default: a local cluster's own].")
    ] = None,
    declared: DeclaredOption = None,
    network: NetworkOption = None,
    pause: Annotated[
        bool, typer.Option("--pause", help="Make a running controller undo its changes and wait.")
    ] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Let it continue.")] = False,
    record: Annotated[Path | None, typer.Option(help="Append every decision to this file, as JSON lines.")] = None,
    record_mb: Annotated[
        float | None,
        typer.Option(
            min=0.01,
            help="Start the file of --record anew at this many MB, and keep one older one as FILE.1 "
            "[default: it grows without limit].",
        ),
    ] = None,
    metrics_port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Serve Prometheus metrics on this port; 0: any.")
    ] = None,
    metrics_host: Annotated[str, typer.Option(help="Address on which to serve metrics.")] = "127.0.0.1",
    dashboard: Annotated[bool, typer.Option("--dashboard", help="Also serve the dashboard; prints its link.")] = False,
    dashboard_port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port of the dashboard on 127.0.0.1; 0: any.")
    ] = 0,
    choose: Choose = False,
    candidate: Candidates = None,
    choose_every: ChooseEvery = None,
    horizon: Horizon = None,
    rest: Rest = None,
    journal: JournalFolder = None,
    yes: Yes = False,
    max_calls_per_s: MaxCalls = MAX_CALLS,
    json: Annotated[bool, typer.Option("--json", help="Print every decision as a JSON line.")] = False,
) -> int:
    """Steer a real YARN with a policy until interrupted or, in shadow mode, show what it would do.

    Sizing sets node sizes, admission the AM shares of queues, partition the shares of two queues, and ordering the
    priorities of applications (or, with the bridge in the ResourceManager, the order of requests for each node). All
    changes go over REST, and no container is ever killed. In live mode everything is restored at the end; if the
    controller dies, a watchdog does that, and `heddle yarn restore` does it from any state. One controller per cluster.
    On a terminal it shows nodes and decisions live.
    With --choose the twin looks ahead at intervals, in a process of its own, and the policy that promises most takes
    over; in live mode that needs an hour of shadow mode first.

    \b
    Examples:
      heddle yarn steer --policy usage-feedback
      heddle yarn steer --policy usage-feedback --mode live --lease 30 --node worker7:8041
      heddle yarn steer --policy admission-control --mode live --metrics-port 9464
      heddle yarn steer --policy usage-feedback --mode live --dashboard
      heddle yarn steer --policy haste --mode live --bridge-secret /etc/heddle/bridge/secret
      heddle yarn steer --policy network-aware --mode live --declared dags.csv --network cluster.yaml
      heddle yarn steer --policy weave --choose
      heddle yarn steer --pause
    """
    from heddle.model.resources import MILLI
    from heddle.policy.parse import parse_policy
    from heddle.yarn.live.applying.seen import Limits
    from heddle.yarn.live.applying.table_knob import BridgeKnob
    from heddle.yarn.live.applying.wanted import without_knob
    from heddle.yarn.live.bridge.endpoint import BridgeEndpoint
    from heddle.yarn.live.controller import Settings
    from heddle.yarn.live.levers import charging_young
    from heddle.yarn.live.recognising import recognise
    from heddle.yarn.live.rm_answers import read_queues
    from heddle.yarn.live.steering.am_room import note_on_ams
    from heddle.yarn.live.steering.bridging import leaves_to_decide
    from heddle.yarn.live.steering.decisions import decision_of
    from heddle.yarn.live.steering.desk import desk_of
    from heddle.yarn.live.steering.metrics_page import SteeringMetrics
    from heddle.yarn.live.steering.session import Session, Terms
    from heddle.yarn.live.steering.showing import Showing
    from heddle.yarn.observe.journal import Journal

    if record_mb is not None and record is None:
        raise BadInput.of("--record-mb", "needs --record")
    chosen = parse_policy(policy)
    to_choose = wanted(choose, candidate, choose_every, horizon, rest, journal, yes)
    calls_per_s = max_calls_per_s if to_choose is None else max(1, max_calls_per_s // 2)  # two processes then ask
    with client_of(rm, name, max_calls_per_s=calls_per_s) as client:
        desk = desk_of(client.address)
        if pause or resume:
            if pause and resume:
                raise BadInput.of("--pause", "use either --pause or --resume")
            desk.pause(pause)
            return DONE
        recognise(client)
        secret = secret_of(bridge_secret, rm, name)
        endpoint = BridgeEndpoint(client, secret)
        decided = (
            leaves_to_decide(client, endpoint, chosen, bool(secret) or mode == "shadow", say)
            if use_bridge and not choose  # what is chosen between are ways to turn knobs
            else frozenset()
        )
        bridge = BridgeKnob.for_steps(endpoint, decided, every_s, lease_s) if decided else None
        if missing := without_knob(chosen, bridge is not None):
            said = f"cannot be acted on: {'; '.join(missing)}"
            if mode == "live" and not best_effort:
                raise RunRefused(f"{said}. Use --best-effort to continue anyway")
            say(f"note: {said}")
        if note := note_on_ams(chosen, read_queues(client.scheduler(), client.address), overcommit):
            say(f"note: {note}")
        known = declared_data(declared, network, rm, name)
        if known is not None:
            say_unknown_hosts(client, known)
        policies = told_candidates(client, policy, to_choose, say) if to_choose is not None else [chosen]
        only = frozenset(node) if node else None
        limits = Limits(
            overcommit, rise, round(1000 * stale_s), pressure, only, _leaves(queue, policies), keep_largest=True
        )
        young_ms = round(1000 * young_s)
        charging, *others = (charging_young(one, young_ms, Settings.report_ms) for one in policies)
        settings = Settings(
            dead_band=(dead_band_mb, MILLI * dead_band_vcores),
            shadow=mode == "shadow",
            limits=limits,
            learn_starts=young_ms > 0,
        )
        chosen = charging
        terms = Terms(lease_s, getpass.getuser(), accept_sizes)
        most_bytes = None if record_mb is None else round(1e6 * record_mb)
        kept = Journal(record, say, most_bytes=most_bytes) if record is not None else None
        metrics = SteeringMetrics(str(chosen), mode) if metrics_port is not None else None
        who = f"{chosen} first, of {len(policies)} policies," if others else str(chosen)
        restores = " and restore everything" if mode == "live" else ""
        about = f"{mode}: {who} on {client.address}; press Ctrl-C to stop{restores}"
        showing = Showing(desk, str(chosen), mode, every_s, lease_s)
        with (
            until_told() as told,
            _dashboard(client.address, desk, stale_s, dashboard_port if dashboard else None) as board,
            telling(about, json, kept, metrics, (metrics_host, metrics_port or 0), showing) as teller,
        ):
            session = Session(client, chosen, settings, desk, terms, teller.say, bridge, others, known)
            with (
                choosing_beside(
                    to_choose, policies, address_of(rm, name), terms.user, calls_per_s, young_ms, desk,
                    mode == "shadow", teller.say,
                ) as beside,
                showing.at_work(teller.say),
                session.at_work(),
                pausing(client, session, bridge is not None) as until_next,
            ):  # fmt: skip
                teller.begin(about)
                began_s = time.monotonic()
                stretched = Stretched(client, every_s, teller.say)
                while not told and (for_s is None or time.monotonic() - began_s < for_s):
                    if desk.is_to_end(showing.name):
                        teller.say("stopped from the dashboard")
                        break
                    step_began_s = time.monotonic()
                    stretched.begin()
                    step = session.step()
                    stretched.end()
                    acted = policies[beside.in_force if beside is not None else 0].name
                    between = until_next.take_tables()
                    decision = decision_of(step, acted, mode, time.time(), between) if step is not None else None
                    if beside is not None:
                        if beside.after(step, session):
                            teller.in_force(policies[beside.in_force].name)
                        decision = decision and decision | beside.taken()
                    teller.tell(decision, session.paused)
                    if board is not None:
                        board.saw(step.snapshot) if step is not None else board.missed(session.trouble)
                    until_next.wait(step_began_s + every_s - time.monotonic())
                if mode == "shadow":
                    teller.end()
    return DONE


@contextmanager
def _dashboard(rm: str, desk: Desk, stale_s: float, port: int | None) -> Iterator[Board | None]:
    """Fed by the controller's own looks, so that it costs the ResourceManager no call. None: not wanted."""
    if port is None:
        yield None
        return
    from heddle.dashboard.board import Board
    from heddle.dashboard.serving import LOOPBACK, served

    board = Board(rm, desk, stale_s)
    with served(board, LOOPBACK, port) as link:
        complain(f"dashboard at {link}")
        yield board


def _leaves(queue: list[str] | None, policies: Sequence[Policy]) -> frozenset[str] | None:
    from heddle.yarn.live.applying.wanted import pool_leaves

    for policy in policies if queue else ():
        if pools := pool_leaves(policy):
            raise RunRefused(
                f"{policy} shares the cluster out between {' and '.join(pools)}: --queue cannot restrict that"
            )
    return frozenset(queue) if queue else None


def restore(
    rm: Rm = None,
    name: Name = None,
    from_nodes: Annotated[
        bool,
        typer.Option(
            "--from-nodes", help="Restore the sizes that NodeManagers were configured with, ignoring what was saved."
        ),
    ] = False,
    json: Json = False,
) -> int:
    """Undo everything a controller has changed, from any state, and verify it by reading it back.

    \b
    Examples:
      heddle yarn restore
      heddle yarn restore --rm http://rm.example:8088 --from-nodes
    """
    from heddle.yarn.live.applying.putting_back import in_words
    from heddle.yarn.live.steering.desk import desk_of
    from heddle.yarn.live.steering.session import restore as put_all_back

    with client_of(rm, name) as client:
        done = put_all_back(client, desk_of(client.address), from_nodes=from_nodes, say=say)
    if json:
        print_json({"put_back": [{**vars(one), "proven": one.proven} for one in done]})
    else:
        changed = sum(one.before != one.now for one in done)
        away = [one.name for one in done if one.away]
        say(f"{in_words(done)}, read back; {changed} were changed" if done else in_words(done))
        if away:
            say(f"away, so not verified: {', '.join(away)}")
    return DONE
