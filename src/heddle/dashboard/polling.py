"""A look at a cluster for the dashboard: three calls, however many applications run.

Containers, which cost a call for each application, it does not show.
"""

from __future__ import annotations

from heddle.dashboard.board import Board
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.names import Names
from heddle.yarn.live.rm_answers import read_apps, read_nodes, read_queues
from heddle.yarn.live.snapshot import Snapshot
from heddle.yarn.live.wire import YarnError


def look(client: RmClient, board: Board) -> None:
    """Tells the board what there is, or that nobody answers."""
    at_ms = round(1000 * board.desk.world.clock.monotonic())
    try:
        nodes = read_nodes(client.nodes(), client.address)
        apps = read_apps(client.apps(), client.address)
        queues = read_queues(client.scheduler(), client.address)
    except YarnError as error:
        board.missed(str(error))
        return
    board.saw(Snapshot.of(Names(), at_ms, nodes, apps, queues=queues))
