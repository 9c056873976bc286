"""A ResourceManager and the simulated YARN take the same turns, and both are put back as they were found."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy.typing as npt
import pytest

from heddle.model.cluster import Cluster, Node, Queue
from heddle.policy.lever import Question
from heddle.policy.parse import parse_policy
from heddle.sim.handle import SimHandle
from heddle.sim.loading import Engine
from heddle.sim.memory.queue_tree import QueueTree
from heddle.sim.run import run_engine
from heddle.stock_yarn.levers import stock_policy
from heddle.stock_yarn.turning import SimulatedKnobs
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build
from heddle.yarn.live.applying.applier import Applier
from heddle.yarn.live.applying.knobs import Knobs
from heddle.yarn.live.applying.ownership import Ownership
from heddle.yarn.live.applying.putting_back import put_back
from heddle.yarn.live.applying.rm_knobs import PREFIX, RmKnobs
from heddle.yarn.live.applying.seen import Seen
from heddle.yarn.live.applying.standing import AM_SHARE, GUARANTEE, MAXIMUM, Standing
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.world import World
from yarn_live.fake_cluster import FakeCluster

from .fake_world import RM, FakeWorld

QUEUES = ("root.pool-0", "root.pool-1")
NODES = ("node-0:0", "node-1:0")
SHARES = {QUEUES[0]: {GUARANTEE: "60", MAXIMUM: "100"}, QUEUES[1]: {GUARANTEE: "40", MAXIMUM: "50", AM_SHARE: "0.3"}}


def wanted_of(app: str) -> list[Standing]:
    """Every knob turned; the same again; one of them turned back."""
    first = Standing({NODES[0]: (8300, 8000), NODES[1]: (6000, 7000)}, SHARES, {app: 7}, {app: QUEUES[1]})
    gone = replace(first, sizes={**first.sizes, "node-2:0": (1, 1000)})  # lost, by either host
    return [first, gone, replace(first, leaves={app: QUEUES[0]}, sizes={NODES[1]: (6256, 7000)})]


def turned(knobs: Knobs, app: str, world: World) -> tuple[list[list[tuple[object, ...]]], bool]:
    """What became of each knob, time after time; whether it was put back as it was found."""
    applier = Applier(knobs, Ownership(), guards=())
    all_knobs = wanted_of(app)[0]
    before = knobs.read(all_knobs)
    became = [
        [(turn.what, turn.name.replace(app, "app"), turn.verdict) for turn in applier.apply(wanted, Seen())]
        for wanted in wanted_of(app)
    ]
    done = put_back(knobs, applier.ownership.found, world.clock)
    return became, all(one.proven for one in done) and knobs.read(all_knobs) == before


class Turning:
    """Turns the knobs of the simulated YARN at its first look."""

    moves_to = QUEUES
    hears_in_ms = 0

    def __init__(self, knobs: SimulatedKnobs, app: str, world: World) -> None:
        self._knobs, self._app, self._world = knobs, app, world
        self.became: tuple[list[list[tuple[object, ...]]], bool] | None = None

    def look(self, engine: Engine, handle: SimHandle) -> npt.NDArray[Any]:
        self._knobs.at(engine, handle)
        if self.became is None:
            handle.sim.shown.node["alive"][2] = False
            self.became = turned(self._knobs, self._app, self._world)
            handle.sim.shown.node["alive"][2] = True
        self._knobs.settle()
        now_ms = int(handle.sim.shown.clock["now_ms"][0])
        handle.sim.control["look_at_ms"] = now_ms + 60_000
        return self._knobs.log(now_ms)


@pytest.fixture
def world() -> World:
    return FakeWorld(rm()).as_process("test")


def rm() -> FakeCluster:
    cluster = FakeCluster()
    for name in (*NODES, "node-2:0"):
        cluster.add_node(name, 8192, 8)
    cluster.lose("node-2:0")
    cluster.leaves = {"pool-0": (70.0, 100.0), "pool-1": (30.0, 100.0)}
    for queue, share in zip(QUEUES, ("70", "30"), strict=True):
        cluster.settings |= {f"{PREFIX}.{queue}.{GUARANTEE}": share, f"{PREFIX}.{queue}.{MAXIMUM}": "100"}
    app = cluster.add_app(queue=QUEUES[0])
    app.state, app.asks = "RUNNING", [(20, 1024, 1, 3)]
    return cluster


def simulated(world: World) -> tuple[list[list[tuple[object, ...]]], bool]:
    nodes = tuple(Node(f"n{i}", (8192, 8000), (8192, 8000)) for i in range(3))
    queues = (Queue("root"), Queue(QUEUES[0], guarantee_permille=700), Queue(QUEUES[1], guarantee_permille=300))
    cluster = Cluster(nodes, queues=queues)
    job = JobSpec("job", 0, [StageSpec("s", (1024, 1000), [TaskSpec(1000)] * 60)], queue=QUEUES[0])
    workload, stock = build("w", [job]), stock_policy(parse_policy("capacity+usage-feedback"))
    knobs = SimulatedKnobs(QueueTree.of(cluster, workload), stock.by_question[Question.QUEUES])
    turning = Turning(knobs, "application_0_0000", world)
    run_engine(workload, cluster, stock, 0, True, outside=turning)
    assert turning.became is not None
    return turning.became


def test_the_same_turns_and_everything_put_back(world: World) -> None:
    app = next(iter(rm().apps))
    with RmClient(RM, connect=world.connect) as client:
        real, is_back = turned(RmKnobs(client), app, world)
    assert is_back
    assert [turn[2] for turn in real[0]] == ["posted", "posted", "posted", "posted", "dead-band", "posted"]
    assert [turn[2] for turn in real[1]] == ["unchanged"] * 4 + ["dead-band", "unchanged", "away"]
    assert [turn[2] for turn in real[2]] == ["unchanged"] * 2 + ["posted", "unchanged", "posted"]
    in_simulation, is_back = simulated(world)
    assert is_back
    assert in_simulation == real
