"""`heddle yarn dashboard`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from heddle.cli.durations import For
from heddle.cli.output import DONE, complain, print_line, say
from heddle.cli.yarn_cluster import MAX_CALLS, MaxCalls, Name, Rm, client_of, until_told

ANSWER_WITHIN_S = 5.0


def dashboard(
    rm: Rm = None,
    name: Name = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Serve the page on this port; 0: any.")] = 0,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    public_name: Annotated[
        list[str] | None, typer.Option(help="A host name that browsers may use for it; repeatable.")
    ] = None,
    every_s: Annotated[float, typer.Option("--every", min=0.2, help="Seconds between two refreshes.")] = 1.0,
    stale_s: Annotated[
        float,
        typer.Option("--stale", min=2, help="A node is stale once its figures have not changed for this many seconds."),
    ] = 15,
    forecasts: Annotated[
        Path | None, typer.Option(help="A twin's folder of forecasts: also show when applications will end.")
    ] = None,
    for_s: For = None,
    max_calls_per_s: MaxCalls = MAX_CALLS,
) -> int:
    """Show a cluster, and the controller that steers it, on a local web page, until interrupted.

    It prints a link with a token; without the token the page shows nothing. The page shows nodes, queues, who is
    waiting, what the controller decides and why, and the age of every number. You can pause, resume and end your own
    controller from it if that runs on this machine. Each refresh makes three calls to the ResourceManager; the
    dashboard itself changes nothing.

    \b
    Examples:
      heddle yarn dashboard
      heddle yarn dashboard --rm http://rm.example:8088 --port 8790
    """
    from heddle.dashboard.board import Board
    from heddle.dashboard.polling import look
    from heddle.dashboard.serving import is_loopback, served
    from heddle.yarn.live.recognising import recognise
    from heddle.yarn.live.steering.desk import desk_of

    with (
        until_told() as told,
        client_of(rm, name, timeout_s=ANSWER_WITHIN_S, max_calls_per_s=max_calls_per_s) as client,
    ):
        recognise(client)
        board = Board(client.address, desk_of(client.address), stale_s, forecasts)
        with served(board, host, port, frozenset(one.lower() for one in public_name or ())) as link:
            if not is_loopback(host):
                complain("warning: others on the network can reach this page, and the traffic is not encrypted")
            print_line(link)
            say("open this link in a browser; press Ctrl-C to stop")
            began_s = time.monotonic()
            while not told and (for_s is None or time.monotonic() - began_s < for_s):
                look_began_s = time.monotonic()
                look(client, board)
                took_s = time.monotonic() - look_began_s
                time.sleep(max(took_s, every_s - took_s))  # at least as long as it took: looking must be no load
    return DONE
