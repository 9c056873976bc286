"""The real ResourceManager's answers have the shapes that were recorded, on which the fake one rests.

HEDDLE_RECORD_SHAPES=1 writes tests/yarn_live/real_shapes.json anew.
"""

import time
from collections.abc import Callable
from pathlib import Path

from heddle.yarn.live.client import RmClient
from heddle.yarn.live.polling import take_snapshot
from heddle.yarn.testbed.local.cluster import LocalCluster
from heddle.yarn.testbed.replay.plan import ReplayJob
from yarn_live.shapes import check_recorded, shape_of

from .conftest import NODE_MB, NODE_VCORES, NODES

RECORD = Path(__file__).parents[1] / "yarn_live" / "real_shapes.json"


def test_shapes_and_what_is_read_from_them(
    cluster: LocalCluster, rm: RmClient, submit: Callable[[ReplayJob], str]
) -> None:
    # Two tasks may run, the third waits: it wants more than is left of any node.
    lines = ["stage 1792 1 -", *2 * ["task 0 600000 50:0:10000"], "stage 1984 1 -", "task 1 1000 50:0:10000"]
    job = ReplayJob("shapes", 0, "root.default", 0, (256, 1), (), 3, tuple(lines))
    app_id = submit(job)
    attempt = app_id.replace("application", "appattempt") + "_000001"
    answers = {}
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            containers = rm.containers(app_id, attempt) or {}
            held = containers.get("container")
            if isinstance(held, dict):
                answers["one_container"] = containers
            if isinstance(held, list):
                answers["containers"] = containers
                break
            time.sleep(0.1)
        answers |= {"nodes": rm.nodes(), "apps": rm.apps(), "app": rm.app(app_id), "scheduler": rm.scheduler()}
        snapshot = take_snapshot(rm, 0)
    finally:
        rm.kill(app_id)
    shapes = {
        name: {path: kind for path, kind in shape_of(answer).items() if "resourceInformations" not in path}
        for name, answer in answers.items()
    }
    check_recorded(shapes, RECORD)

    assert len(snapshot.nodes) == NODES
    assert {node.total for node in snapshot.nodes.values()} == {(NODE_MB, NODE_VCORES * 1000)}
    app = snapshot.apps[app_id]
    assert (app.queue, app.running, app.attempt, app.has_am) == ("root.default", True, attempt, True)
    assert {(ask.size, ask.containers) for ask in app.asks} >= {((1984, 1000), 1)}
    sizes = sorted((container.size, container.is_am) for container in snapshot.containers.values())
    assert sizes[0] == ((256, 1000), True)
    assert sizes[1] == ((1792, 1000), False)
    assert [queue.name for queue in snapshot.queues] == ["root", "root.default"]
