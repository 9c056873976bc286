"""`heddle cluster import`, from files and from something that answers like a ResourceManager."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from heddle.cli.main import run
from heddle.model.cluster import LabelShare
from heddle.traces.clusters import load_cluster
from yarn_live.serving import Served

XML = """<configuration>
<property><name>yarn.scheduler.capacity.root.queues</name><value>default</value></property>
<property><name>yarn.scheduler.capacity.root.default.capacity</name><value>100</value></property>
<property><name>yarn.scheduler.capacity.root.default.acl_submit_applications</name><value>*</value></property>
</configuration>"""


def node(name: str, **more: Any) -> dict[str, Any]:
    row = {"id": f"{name}:45454", "nodeHostName": name, "rack": "/rack-a", "state": "RUNNING"}
    sizes = {"usedMemoryMB": 1024, "availMemoryMB": 7168, "usedVirtualCores": 1, "availableVirtualCores": 3}
    return row | sizes | more


GPU = {
    "memory": 16384, "vCores": 8,
    "resourceInformations": {"resourceInformation": [
        {"name": "memory-mb", "value": 16384}, {"name": "vcores", "value": 8}, {"name": "yarn.io/gpu", "value": 2},
    ]},
}  # fmt: skip
NODES = [node("n1"), node("n2", totalResource=GPU, nodeLabels=["gpu"]), node("n3", state="LOST")]
CAPACITY = {
    "type": "capacityScheduler", "capacity": 100.0, "queueName": "root",
    "queues": {"queue": [
        {"queueName": "prod", "queuePath": "root.prod", "capacity": 60.0, "maxCapacity": 100.0, "userLimit": 50,
         "userLimitFactor": 2.0, "orderingPolicyInfo": "fair", "maxParallelApps": 2147483647, "state": "RUNNING",
         "capacities": {"queueCapacitiesByPartition": [
             {"partitionName": "gpu", "capacity": 80.0, "maxCapacity": 90.0, "maxAMLimitPercentage": 90.0},
             {"partitionName": "", "maxAMLimitPercentage": 25.0},
         ]}},
        {"queueName": "dev", "queuePath": "root.dev", "capacity": 40.0, "maxCapacity": 70.0, "state": "STOPPED",
         "queues": {"queue": [{"queueName": "x", "queuePath": "root.dev.x", "capacity": 100.0, "maxCapacity": 100.0}]}},
    ]},
}  # fmt: skip
FAIR = {
    "type": "fairScheduler",
    "rootQueue": {"queueName": "root", "schedulingPolicy": "fair", "childQueues": {"queue": [
        {"queueName": "root.a", "schedulingPolicy": "drf", "maxApps": 5, "minResources": {"memory": 512, "vCores": 1}},
    ]}},
}  # fmt: skip


class FakeRm(Served):
    """`settings`: of the scheduler; without any it keeps them to itself, as most ResourceManagers do."""

    def __init__(
        self,
        scheduler: dict[str, Any],
        nodes: list[dict[str, Any]] = NODES,
        settings: dict[str, str] | None = None,
    ) -> None:
        answers: dict[str, Any] = {
            "/ws/v1/cluster/nodes": {"nodes": {"node": nodes}},
            "/ws/v1/cluster/scheduler": {"scheduler": {"schedulerInfo": scheduler}},
        }
        if settings is not None:
            rows = [{"name": name, "value": value} for name, value in settings.items()]
            answers["/ws/v1/cluster/scheduler-conf"] = {"property": rows}

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:  # the library's name
                answer = answers.get(self.path.partition("?")[0])
                body = json.dumps(answer).encode()
                self.send_response(400 if answer is None else 200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}"


@pytest.fixture
def rm(request: pytest.FixtureRequest) -> Iterator[str]:
    with FakeRm(request.param) as fake:
        yield fake.address


def test_queues_of_a_file_on_given_nodes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "capacity-scheduler.xml").write_text(XML)
    out = tmp_path / "cluster.yaml"
    arguments = ["cluster", "import", str(tmp_path / "capacity-scheduler.xml"), "--nodes", "3x8192x4"]
    assert run([*arguments, "-o", str(out), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["nodes"], document["queues"], document["policy"]) == (3, 2, "capacity")
    assert [one["setting"].rpartition(".")[2] for one in document["not_modelled"]] == ["acl_submit_applications"]
    made = load_cluster(str(out))
    assert made.n_nodes == 3
    assert "acl_submit_applications" in made.about["not_modelled"][0]
    assert run(["simulate", "burst(jobs=3)", "--policy", "capacity", "--cluster", str(out), "--json"]) == 0
    assert run(arguments) == 0
    shown = capsys.readouterr()
    assert "queues:" in shown.out
    assert "who may submit" in shown.err, "what is left does not spoil the file on stdout"


@pytest.mark.parametrize("rm", [CAPACITY], indirect=True)
def test_a_resource_manager_tells_nodes_and_capacity_queues(
    rm: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "cluster.yaml"
    assert run(["cluster", "import", "--rm", rm, "-o", str(out), "--json"]) == 0
    left = {one["setting"]: one["why"] for one in json.loads(capsys.readouterr().out)["not_modelled"]}
    made = load_cluster(str(out))
    assert [(one.name, one.capacity, one.label, one.rack) for one in made.nodes] == [
        ("n1", (8192, 4000, 0), "", "rack-a"),
        ("n2", (16384, 8000, 2), "gpu", "rack-a"),
    ]
    assert made.exclusive == ("gpu",)
    assert made.name == out.stem  # as tables and reports will call it
    prod, dev = (next(one for one in made.queues if one.name == name) for name in ("root.prod", "root.dev"))
    assert (prod.guarantee_permille, prod.user_limit_percent, prod.user_limit_factor_milli) == (600, 50, 2000)
    assert (prod.order, prod.max_running_jobs, dev.maximum_permille) == ("fair", -1, 700)
    assert (prod.labels, dev.labels) == ((LabelShare("gpu", 800, 900),), ())
    assert [one.name for one in made.queues][-1] == "root.dev.x"
    assert "not running" in left["node n3:45454"]
    assert dev.stopped
    assert not prod.stopped
    assert (prod.am_share_permille, made.queues[-1].am_share_permille) == (250, -1), "-1: an older RM does not tell it"
    assert any("resource calculator" in setting for setting in left)
    assert (made.calculator, made.off_switch_per_heartbeat) == ("memory", 1), "YARN's defaults"


def test_a_resource_manager_that_tells_its_settings_is_believed(tmp_path: Path) -> None:
    own = "yarn.scheduler.capacity"
    settings = {
        f"{own}.resource-calculator": "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator",
        f"{own}.per-node-heartbeat.maximum-offswitch-assignments": "100",
    }
    out = tmp_path / "cluster.yaml"
    with FakeRm(CAPACITY, settings=settings) as fake:
        assert run(["cluster", "import", "--rm", fake.address, "-o", str(out)]) == 0
    made = load_cluster(str(out))
    assert (made.calculator, made.off_switch_per_heartbeat) == ("dominant", 100)
    assert not any("resource calculator" in one for one in made.about["may_change_results"])


@pytest.mark.parametrize("rm", [FAIR], indirect=True)
def test_a_resource_manager_tells_fair_queues(rm: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "cluster.yaml"
    assert run(["cluster", "import", "--rm", rm, "-o", str(out)]) == 0
    queue = next(one for one in load_cluster(str(out)).queues if one.name == "root.a")
    assert (queue.order, queue.max_running_jobs, queue.min_share) == ("drf", 5, (512, 1000, 0))
    assert "weights" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "either --rm"),
        (["nowhere.xml", "--nodes", "1x1024x1"], "no such file"),
        (["--nodes", "1x1024x1"], "name the scheduler's XML"),
        (["--rm", "127.0.0.1:1"], "cannot be reached"),
    ],
)
def test_bad_input(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["cluster", "import", *arguments, "-o", "out.yaml"]) == 2
    assert message in capsys.readouterr().err
    assert not Path("out.yaml").exists()


def test_all_nodes_of_one_host_go_by_host_and_port(tmp_path: Path) -> None:
    two_of_one_host = [node("localhost", id=f"localhost:{port}") for port in (8099, 8104)]
    nodes = [*two_of_one_host, node("alone"), node("localhost", id="localhost:8109", state="LOST")]
    file = tmp_path / "cluster.yaml"
    with FakeRm(CAPACITY, nodes) as fake:
        assert run(["cluster", "import", "--rm", fake.address, "-o", str(file)]) == 0
    assert [found.name for found in load_cluster(str(file)).nodes] == ["localhost:8099", "localhost:8104", "alone"]


def test_what_may_change_results_is_said_again_by_every_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    few = "<property><name>yarn.scheduler.capacity.maximum-applications</name><value>7</value></property>"
    Path("capacity-scheduler.xml").write_text(XML.replace("</configuration>", f"{few}</configuration>"))
    assert run(["cluster", "import", "capacity-scheduler.xml", "--nodes", "4x65536x24", "-o", "mine.yaml"]) == 0
    said = "".join(capsys.readouterr().out.split())
    assert (
        said.index("maychangeresults") < said.index("rejects") < said.index("changesnoresult") < said.index("maysubmit")
    )
    assert run(["bound", "burst", "--cluster", "mine.yaml", "--quiet"]) == 0
    said = capsys.readouterr().err
    assert "warning: mine.yaml: yarn.scheduler.capacity.maximum-applications = 7: YARN rejects jobs beyond 7" in said
    assert "acl" not in said


def test_a_stopped_queue_keeps_its_place_and_takes_no_jobs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    stopped = "<property><name>yarn.scheduler.capacity.root.default.state</name><value>STOPPED</value></property>"
    Path("capacity-scheduler.xml").write_text(XML.replace("</configuration>", f"{stopped}</configuration>"))
    Path("tasks.csv").write_text("job,submit_ms,duration_ms,vcores,memory_mb,queue\na,0,1000,1,1024,root.default\n")
    assert run(["cluster", "import", "capacity-scheduler.xml", "--nodes", "1x4096x4", "-o", "mine.yaml"]) == 0
    assert load_cluster("mine.yaml").queues[1].stopped
    assert run(["simulate", "tasks.csv", "--cluster", "mine.yaml"]) == 2
    assert "root.default is stopped and accepts no jobs (1 jobs, the first is a)" in capsys.readouterr().err


def test_amounts_of_queues_come_from_a_resourcemanager_too(tmp_path: Path) -> None:
    def queue(name: str, memory: int, vcores: int, most: int) -> dict[str, Any]:
        told = {
            "partitionName": "",
            "configuredMinResource": {"memory": memory, "vCores": vcores},
            "configuredMaxResource": {"memory": most, "vCores": 4},
        }
        capacities = {"capacities": {"queueCapacitiesByPartition": [told]}}
        return {"queueName": name, "queuePath": f"root.{name}", "capacity": 33.3, "maxCapacity": 100.0} | capacities

    rows = [queue("a", 4000, 2, 8000), queue("b", 2000, 1, 0)]
    with FakeRm({"type": "capacityScheduler", "queues": {"queue": rows}}) as rm:
        assert run(["cluster", "import", "--rm", rm.address, "-o", str(tmp_path / "mine.yaml"), "-q"]) == 0
    _, a, b = load_cluster(str(tmp_path / "mine.yaml")).queues
    assert (a.guarantee, a.maximum) == ((4000, 2000, 0), (8000, 4000, 2)), (
        "no queue has GPUs for its own, and none is kept from them"
    )
    assert (b.guarantee, b.maximum) == ((2000, 1000, 0), ())
