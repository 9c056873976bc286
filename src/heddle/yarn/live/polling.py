"""One poll of the ResourceManager: a snapshot.

Containers are read with one call per running application. The bulk answers hold only sums per node and per
application, which do not say what was reserved where, nor show a container that ended while another began. Nodes come
last: where applications are many, all that takes seconds, and what a person does to a node meanwhile must be seen.
"""

from __future__ import annotations

from heddle.yarn.live.client import RmClient
from heddle.yarn.live.names import Names, Passing
from heddle.yarn.live.rm_answers import read_app, read_apps, read_containers, read_nodes, read_queues
from heddle.yarn.live.snapshot import Snapshot
from heddle.yarn.live.things_seen import ContainerSeen


def take_snapshot(client: RmClient, at_ms: int, before: Snapshot | None = None) -> Snapshot:
    """Polls the RM. Names keep the numbers of the poll before; of applications gone since it asks how they ended."""
    names = before.names if before else Names()
    apps = read_apps(client.apps(), client.address)
    queues = read_queues(client.scheduler(), client.address)
    ended = {}
    for number in before.columns.apps["app"].tolist() if before else ():
        if (app_id := names.apps.name(number)) not in apps:
            answer = client.app(app_id)  # one that the RM has forgotten counts as a success
            still = read_app(answer, client.address)
            if still is None:
                ended[app_id] = answer is None or answer["app"].get("finalStatus") == "SUCCEEDED"
            else:
                apps[app_id] = still  # the list left it out
    containers: dict[str, ContainerSeen] = {}
    for app in apps.values():
        answer = client.containers(app.id, app.attempt) if app.attempt else None
        if answer is not None:
            containers.update(read_containers(answer, app, client.address))
    nodes = read_nodes(client.nodes(), client.address)
    snapshot = Snapshot.of(names, at_ms, nodes, apps, containers, queues, ended)
    if isinstance(names.containers, Passing):
        names.containers.end_look()
    return snapshot
