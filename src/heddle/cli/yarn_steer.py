"""`heddle yarn steer` and `heddle yarn restore`."""

from __future__ import annotations

import getpass
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from heddle.cli.durations import For
from heddle.cli.output import DONE, Json, complain, is_quiet, print_json, print_json_line, say
from heddle.cli.yarn_cluster import MAX_CALLS, MaxCalls, Name, Rm, Stretched, client_of, secret_of, until_told
from heddle.model.errors import BadInput, RunRefused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from heddle.cli.steer_view import SteerView
    from heddle.dashboard.board import Board
    from heddle.policy.policy import Policy
    from heddle.yarn.live.steering.desk import Desk
    from heddle.yarn.live.steering.metrics_page import SteeringMetrics
    from heddle.yarn.live.steering.showing import Showing
    from heddle.yarn.observe.journal import Journal


def steer(
    policy: Annotated[str, typer.Option("--policy", "-p", help="See `heddle policies`.")] = "usage-feedback",
    rm: Rm = None,
    name: Name = None,
    mode: Annotated[
        Literal["shadow", "live"], typer.Option(help="shadow: decide and record, change nothing.")
    ] = "shadow",
    lease_s: Annotated[float, typer.Option("--lease", min=2, help="Seconds after which changes are put back.")] = 60,
    every_s: Annotated[float, typer.Option("--every", min=0.2, help="Seconds between two steps.")] = 1.0,
    for_s: For = None,
    young_s: Annotated[
        float,
        typer.Option(
            "--young",
            min=0,
            help="Seconds for which a new container counts in full, at least; longer where starts are slow.",
        ),
    ] = 10,
    overcommit: Annotated[float, typer.Option(min=1, help="Promise at most this many times a node's own size.")] = 4,
    rise: Annotated[float, typer.Option(min=0.01, help="Grow at most by this share of a node's own size a step.")] = 1,
    stale_s: Annotated[
        float, typer.Option("--stale", min=2, help="Metrics that have stood still for this many seconds are not used.")
    ] = 15,
    pressure: Annotated[
        float, typer.Option(min=0.1, max=1, help="Share of memory in use at which a node is promised nothing more.")
    ] = 0.92,
    dead_band_mb: Annotated[int, typer.Option(min=1, help="Smaller changes are not worth a call.")] = 256,
    dead_band_vcores: Annotated[int, typer.Option(min=1, help="The same for vcores.")] = 1,
    node: Annotated[list[str] | None, typer.Option(help="Steer only this node; may be repeated.")] = None,
    queue: Annotated[
        list[str] | None,
        typer.Option(help="Change AM shares and priorities only in this leaf queue (root.etl); may be repeated."),
    ] = None,
    best_effort: Annotated[bool, typer.Option("--best-effort", help="Go live even if parts have no knob.")] = False,
    accept_sizes: Annotated[bool, typer.Option("--accept-sizes", help="Take nodes' sizes as they are now.")] = False,
    use_bridge: Annotated[
        bool, typer.Option("--bridge/--no-bridge", help="Decide request by request where the RM has the bridge.")
    ] = True,
    bridge_secret: Annotated[
        Path | None, typer.Option(help="File with the bridge's secret [default: a local cluster's own].")
    ] = None,
    pause: Annotated[bool, typer.Option("--pause", help="Tell a running controller to change nothing.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Tell it to go on.")] = False,
    record: Annotated[Path | None, typer.Option(help="Append every decision to this file, as JSON lines.")] = None,
    metrics_port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Offer metrics for Prometheus on this port; 0: any.")
    ] = None,
    metrics_host: Annotated[str, typer.Option(help="Address on which metrics are offered.")] = "127.0.0.1",
    dashboard: Annotated[
        bool, typer.Option("--dashboard", help="Offer the dashboard as well; the link is printed.")
    ] = False,
    dashboard_port: Annotated[int, typer.Option(min=0, max=65535, help="On this port of 127.0.0.1; 0: any.")] = 0,
    max_calls_per_s: MaxCalls = MAX_CALLS,
    json: Annotated[bool, typer.Option("--json", help="Print every decision as a JSON line.")] = False,
) -> int:
    """Steer a real YARN with a policy, until interrupted; or, in shadow mode, say what it would do.

    Sizing becomes sizes of nodes, admission AM shares of queues, partition shares of two queues, ordering priorities of
    applications (or, where the ResourceManager has the bridge, the order of requests for each node), all over REST; no
    container is ever killed. Live, everything is put back when it ends; a watchdog does
    so if it dies, and `heddle yarn restore` does so from any state. One controller per cluster. On a terminal it shows
    nodes and decisions as they are.

    \b
    Examples:
      heddle yarn steer --policy usage-feedback
      heddle yarn steer --policy usage-feedback --mode live --lease 30 --node worker7:8041
      heddle yarn steer --policy admission-control --mode live --metrics-port 9464
      heddle yarn steer --policy usage-feedback --mode live --dashboard
      heddle yarn steer --policy haste --mode live --bridge-secret /etc/heddle/bridge/secret
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
    from heddle.yarn.live.steering.bridging import leaves_to_decide
    from heddle.yarn.live.steering.decisions import decision_of
    from heddle.yarn.live.steering.desk import desk_of
    from heddle.yarn.live.steering.metrics_page import SteeringMetrics
    from heddle.yarn.live.steering.session import Session, Terms
    from heddle.yarn.live.steering.showing import Showing
    from heddle.yarn.observe.journal import Journal

    chosen = parse_policy(policy)
    with client_of(rm, name, max_calls_per_s=max_calls_per_s) as client:
        desk = desk_of(client.address)
        if pause or resume:
            if pause and resume:
                raise BadInput.of("--pause", "say either --pause or --resume")
            desk.pause(pause)
            return DONE
        secret = secret_of(bridge_secret, rm, name)
        endpoint = BridgeEndpoint(client, secret)
        decided = (
            leaves_to_decide(client, endpoint, chosen, bool(secret) or mode == "shadow", say)
            if use_bridge
            else frozenset()
        )
        bridge = BridgeKnob.for_steps(endpoint, decided, every_s, lease_s) if decided else None
        if missing := without_knob(chosen, bridge is not None):
            said = f"not acted on: {'; '.join(missing)}"
            if mode == "live" and not best_effort:
                raise RunRefused(f"{said}. --best-effort goes on nevertheless")
            say(f"note: {said}")
        only = frozenset(node) if node else None
        limits = Limits(
            overcommit, rise, round(1000 * stale_s), pressure, only, _leaves(queue, chosen), keep_largest=True
        )
        young_ms = round(1000 * young_s)
        charging = charging_young(chosen, young_ms, Settings.report_ms)
        settings = Settings(
            dead_band=(dead_band_mb, MILLI * dead_band_vcores),
            shadow=mode == "shadow",
            limits=limits,
            in_full_ms=young_ms if charging != chosen else 0,
        )
        chosen = charging
        terms = Terms(lease_s, getpass.getuser(), accept_sizes)
        journal = Journal(record, say) if record is not None else None
        metrics = SteeringMetrics(str(chosen), mode) if metrics_port is not None else None
        about = f"{mode}: {chosen} on {client.address}; Ctrl-C ends it" + (", all is put back" * (mode == "live"))
        showing = Showing(desk, str(chosen), mode, every_s, lease_s)
        with (
            until_told() as told,
            _dashboard(client.address, desk, stale_s, dashboard_port if dashboard else None) as board,
            _watched(about, json, journal, metrics, (metrics_host, metrics_port or 0), showing) as teller,
        ):
            session = Session(client, chosen, settings, desk, terms, teller.say, bridge)
            with showing.at_work(teller.say), session.at_work(), _pausing(rm, name, bridge is not None) as wait:
                teller.begin(about)
                began_s = time.monotonic()
                stretched = Stretched(client, every_s, teller.say)
                while not told and (for_s is None or time.monotonic() - began_s < for_s):
                    if desk.is_to_end(showing.name):
                        teller.say("asked to end from the dashboard")
                        break
                    step_began_s = time.monotonic()
                    stretched.begin()
                    step = session.step()
                    stretched.end()
                    decision = decision_of(step, chosen.name, mode, time.time()) if step is not None else None
                    teller.tell(decision, session.paused)
                    if board is not None:
                        board.saw(step.snapshot) if step is not None else board.missed(session.trouble)
                    wait(step_began_s + every_s - time.monotonic())
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


@contextmanager
def _pausing(rm: str | None, name: str | None, bridge: bool) -> Iterator[Callable[[float], None]]:
    """How to wait for the next step: with the bridge no longer than until a request comes."""
    if not bridge:
        yield lambda left_s: time.sleep(max(0.0, left_s))
        return
    from heddle.yarn.live.bridge.endpoint import BridgeEndpoint
    from heddle.yarn.live.bridge.listening import POLL_S, Listening
    from heddle.yarn.live.steering.bridging import SMALLEST_GAP_S

    with client_of(rm, name, timeout_s=2 * POLL_S) as client:
        listening = Listening(BridgeEndpoint(client))

        def wait(left_s: float) -> None:
            time.sleep(SMALLEST_GAP_S)
            listening.wait(left_s - SMALLEST_GAP_S)

        with listening.at_work():
            yield wait


def _leaves(queue: list[str] | None, policy: Policy) -> frozenset[str] | None:
    from heddle.yarn.live.applying.wanted import pool_leaves

    if queue and (pools := pool_leaves(policy)):
        raise RunRefused(f"the policy shares the cluster out between {' and '.join(pools)}: --queue cannot limit that")
    return frozenset(queue) if queue else None


class _Teller:
    """Tells people, machines and the record of every step."""

    def __init__(
        self,
        view: SteerView | None,
        json: bool,
        journal: Journal | None,
        metrics: SteeringMetrics | None,
        showing: Showing,
    ) -> None:
        self._view, self._json, self._journal, self._metrics = view, json, journal, metrics
        self._showing = showing

    def begin(self, about: str) -> None:
        if self._view is None:  # which has it above all the time
            say(about)

    def say(self, text: str) -> None:
        self._showing.said(text)
        if self._view is not None:
            self._view.say(text)
        else:
            say(text)

    def tell(self, decision: dict[str, Any] | None, paused: bool) -> None:
        """None: the ResourceManager did not answer."""
        from heddle.yarn.live.steering.decisions import changes_in_words

        if decision is None:
            self._showing.missed(paused)
        else:
            self._showing.stepped(decision, paused)

        if self._metrics is not None:
            if decision is None:
                self._metrics.missed()
            else:
                self._metrics.stepped(decision)
        if decision is None:
            return
        if self._journal is not None:
            self._journal.add(decision)
            self._journal.flush()
        if self._json:
            print_json_line(decision)
        elif self._view is not None:
            self._view.show(decision, changes_in_words(decision))
        else:
            for change in changes_in_words(decision):
                say(change)


@contextmanager
def _watched(
    about: str,
    json: bool,
    journal: Journal | None,
    metrics: SteeringMetrics | None,
    where: tuple[str, int],
    showing: Showing,
) -> Iterator[_Teller]:
    """A live view where there is a terminal to draw it on, and the page of metrics where one is wanted."""
    from rich.console import Console

    from heddle.cli.steer_view import SteerView
    from heddle.yarn.live.steering.metrics_page import served

    console = Console(stderr=True)
    with ExitStack() as opened:
        if metrics is not None:
            say(f"metrics at {opened.enter_context(served(metrics, *where))}")
        drawn = console.is_terminal and not json and not is_quiet()
        view = opened.enter_context(SteerView(about, console)) if drawn else None
        yield _Teller(view, json, journal, metrics, showing)


def restore(
    rm: Rm = None,
    name: Name = None,
    from_nodes: Annotated[
        bool, typer.Option("--from-nodes", help="To what their NodeManagers were configured with, whatever was saved.")
    ] = False,
    json: Json = False,
) -> int:
    """Put back all that a controller has changed, from any state, and prove it by reading it again.

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
            say(f"not there, so not proven: {', '.join(away)}")
    return DONE
