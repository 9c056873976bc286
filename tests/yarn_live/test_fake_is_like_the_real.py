"""The fake ResourceManager answers in the shapes that a real one (Hadoop 3.4.2) was recorded with.

`real_shapes.json` is compared with a running YARN, and can be made anew, by tests/yarn_real/test_payload_shapes.py.
"""

import json
from pathlib import Path

from heddle.yarn.live.client import RmClient

from .fake_rm import FakeRm
from .shapes import shape_of

RECORDED = json.loads(Path(__file__).with_name("real_shapes.json").read_text())


def test_what_the_fake_says_the_real_one_says_too(rm: FakeRm, client: RmClient) -> None:
    rm.add_node("a:1", 4096, 4)
    app = rm.add_app()
    rm.gives_attempt_ids = False
    rm.start_am(app, "a:1", 512, 1)
    rm.allocate(app, "a:1", 256, 1)
    app.asks = [(20, 512, 1, 3)]
    containers = client.containers(app.id, app.attempt_id)
    rm.end_container(list(app.containers)[-1])
    answers = {
        "nodes": client.nodes(),
        "apps": client.apps(),
        "app": client.app(app.id),
        "containers": containers,
        "one_container": client.containers(app.id, app.attempt_id),
        "scheduler": client.scheduler(),
    }
    for name, answer in answers.items():
        said = shape_of(answer)
        assert {path: said[path] for path in said if RECORDED[name].get(path) != said[path]} == {}, name
