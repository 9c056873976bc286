"""Queues with amounts: they do not follow root; where they no longer fit, they fill it in proportion."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from heddle.model.cluster import Cluster, Node, Queue
from heddle.model.view import view_dtypes
from heddle.policy.parse import parse_policy
from heddle.sim.memory.queue_tree import QueueTree
from heddle.sim.run import run_engine
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build
from heddle.traces.clusters import dump_cluster, load_cluster

NODES = tuple(Node(f"node-{i}", (10_000, 10_000), (10_000, 10_000)) for i in range(2))


def final_queues(queues: tuple[Queue, ...], policy: str, leaf: str = "root.a") -> npt.NDArray[Any]:
    """As the engine left them: with what was there when requests last waited."""
    tasks = [TaskSpec(5000 + 1000 * i) for i in range(6)]  # some run on while others wait
    jobs = [JobSpec(f"job-{i}", 0, [StageSpec("s", (4000, 1000), tasks)], queue=leaf) for i in range(2)]
    cluster = Cluster(NODES, queues=queues)
    rows: npt.NDArray[Any] = run_engine(build("amounts", jobs), cluster, parse_policy(policy), 1, False).sim.shown.queue
    return rows


def at_the_start(queues: tuple[Queue, ...], total: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
    """As they are made before compiled code has them, if nodes promise so much."""
    rows = np.zeros(len(queues), view_dtypes(2).queue)
    tree = QueueTree.of(Cluster(NODES, queues=queues), build("none", []))
    tree.fill(rows)
    tree.share_out(rows, total, np.array([True, True]))
    return rows


def test_amounts_that_fit_stay_as_they_are() -> None:
    queues = (
        Queue("root"),
        Queue("root.a", guarantee=(6000, 3000), maximum=(9000, 99_000)),
        Queue("root.b", guarantee=(2000, 1000)),
    )
    # borg-default promises more than the allowances while containers run; root grows, the amounts do not.
    found = final_queues(queues, "capacity+admit-all+borg-default(fraction=0.5)")
    assert found["guarantee"][1].tolist() == [6000, 3000]
    assert found["guarantee"][2].tolist() == [2000, 1000]
    root = found["maximum"][0]
    assert (root > 20_000).all()
    assert found["maximum"][1].tolist() == [9000, root[1]]  # a maximum above root's is root's


def test_amounts_that_do_not_fit_fill_their_parent_in_every_resource() -> None:
    queues = (Queue("root"), Queue("root.a", guarantee=(30_000, 2000)), Queue("root.b", guarantee=(10_000, 2000)))
    found = final_queues(queues, "capacity+admit-all")
    # 40,000 MB of 20,000: half of each; 4 vcores of 20: scaled up as well, as YARN does.
    assert found["guarantee"][1].tolist() == [15_000, 10_000]
    assert found["guarantee"][2].tolist() == [5000, 10_000]


def test_amounts_that_just_fill_their_parent_in_one_resource_stay_as_they_are() -> None:
    queues = (Queue("root"), Queue("root.a", guarantee=(15_000, 2000)), Queue("root.b", guarantee=(5000, 2000)))
    found = final_queues(queues, "capacity+admit-all")
    assert found["guarantee"].tolist() == [[20_000, 20_000], [15_000, 2000], [5000, 2000]]
    assert at_the_start(queues, found["guarantee"][0])["guarantee"].tolist() == found["guarantee"].tolist()


def test_compiled_code_shares_out_as_numpy_does_at_the_start() -> None:
    queues = (
        Queue("root"), Queue("root.a", guarantee=(30_000, 2000)),
        Queue("root.b", guarantee=(10_000, 2000), maximum=(12_345, 999)),
        Queue("root.a.x", guarantee_permille=333, maximum_permille=777), Queue("root.a.y", guarantee_permille=667),
    )  # fmt: skip
    seen = set()
    for fraction in ("0.3", "0.5", "0.7"):
        found = final_queues(queues, f"capacity+admit-all+borg-default(fraction={fraction})", leaf="root.a.x")
        total = found["guarantee"][0]
        seen.add(tuple(total.tolist()))
        again = at_the_start(queues, total)
        assert again["guarantee"].tolist() == found["guarantee"].tolist()
        assert again["maximum"].tolist() == found["maximum"].tolist()
    assert len(seen) > 1  # root did move


def test_a_cluster_file_keeps_amounts(tmp_path: Path) -> None:
    queues = (
        Queue("root"),
        Queue("root.a", guarantee=(6000, 3000), maximum=(9000, 9000)),
        Queue("root.b", guarantee=(1, 1000)),
    )
    cluster = Cluster(NODES, queues=queues)
    (tmp_path / "cluster.yaml").write_text(dump_cluster(cluster))
    assert load_cluster(str(tmp_path / "cluster.yaml")).queues == queues
