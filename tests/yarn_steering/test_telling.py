"""What a controller tells people, machines and Prometheus while it runs."""

import io
import json
import urllib.error
import urllib.request
from typing import Any

import pytest
from rich.console import Console

from cli.schemas import valid
from heddle.cli.main import run
from heddle.cli.steer_view import SteerView
from heddle.model.errors import RunRefused
from heddle.policy.parse import parse_policy
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.controller import Settings, Step
from heddle.yarn.live.steering.decisions import changes_in_words, decision_of
from heddle.yarn.live.steering.desk import Desk
from heddle.yarn.live.steering.metrics_page import SteeringMetrics, served
from heddle.yarn.live.steering.session import Session, Terms
from yarn_live.fake_rm import FakeRm


def step_of(client: RmClient, desk: Desk, policy: str, steps: int = 1) -> Step:
    terms = Terms(accept_sizes=True)
    with Session(client, parse_policy(policy), Settings(), desk, terms, lambda _: None).at_work() as working:
        for _ in range(steps):
            step = working.step()
        assert step is not None
        return step


@pytest.fixture
def decision(rm: FakeRm, client: RmClient, desk: Desk) -> dict[str, Any]:
    rm.nodes["a:1"].containers_memory_mb = 500
    rm.add_app().asks = [(0, 1024, 1, 1)]
    return decision_of(step_of(client, desk, "usage-feedback(damping=1)+max-running(jobs=1)"), "p", "shadow", 1.0)


def test_a_decision_has_every_node_with_what_is_reserved_used_and_promised(decision: dict[str, Any]) -> None:
    first = decision["nodes"][0]
    assert {key: first[key] for key in ("node", "reserved_mb", "used_mb", "promised_mb", "metrics_age_s")} == {
        "node": "a:1", "reserved_mb": 4096, "used_mb": 500, "promised_mb": 8192, "metrics_age_s": 0.0,
    }  # fmt: skip
    assert first["verdict"] == "shadow"
    assert [turn["what"] for turn in decision["knobs"]] == ["queues", "queues"]
    json.dumps(decision)
    words = changes_in_words(decision)
    assert words[0] == "root.default: shadow maximum-am-resource-percent ? -> 0"
    assert words[-1].startswith("b:1: shadow 8192 -> ")


def test_without_sizing_nodes_are_shown_and_nothing_is_said_of_them(rm: FakeRm, client: RmClient, desk: Desk) -> None:
    shown = decision_of(step_of(client, desk, "fifo"), "fifo", "shadow", 1.0)
    assert [(node["node"], node["verdict"], node["wanted"]) for node in shown["nodes"]] == [
        ("a:1", None, None),
        ("b:1", None, None),
    ]
    assert changes_in_words(shown) == []


def test_metrics_for_prometheus(decision: dict[str, Any]) -> None:
    metrics = SteeringMetrics('say "hi"', "shadow")
    metrics.missed()
    metrics.stepped(decision)
    metrics.stepped(decision)
    lines = metrics.text().splitlines()
    assert r'heddle_steer_info{policy="say \"hi\"",mode="shadow"} 1' in lines
    assert "heddle_steer_steps_total 2" in lines
    assert "heddle_steer_missed_steps_total 1" in lines
    assert 'heddle_steer_decisions_total{what="queues",verdict="shadow"} 4' in lines
    assert 'heddle_node_reserved_mb{node="a:1"} 4096' in lines
    assert 'heddle_node_metrics_age_seconds{node="a:1"} 0.0' in lines
    described = {line.split()[2] for line in lines if line.startswith("# TYPE")}
    assert {line.split("{")[0].split()[0] for line in lines if not line.startswith("#")} <= described


def test_the_page_is_served_until_the_end() -> None:
    with served(SteeringMetrics("p", "live"), "127.0.0.1", 0) as address:
        with urllib.request.urlopen(address, timeout=60) as answer:
            assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
            assert b"heddle_steer_info" in answer.read()
        with pytest.raises(urllib.error.HTTPError) as wrong:
            urllib.request.urlopen(address.replace("/metrics", "/"), timeout=60)
        wrong.value.close()
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(address, timeout=60)


def test_a_port_in_use_is_refused() -> None:
    metrics = SteeringMetrics("p", "live")
    with served(metrics, "127.0.0.1", 0) as address:
        port = int(address.split(":")[2].partition("/")[0])
        with pytest.raises(RunRefused, match=f"127.0.0.1:{port}"), served(metrics, "127.0.0.1", port):
            pass


def test_the_live_view(decision: dict[str, Any]) -> None:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=140, height=30)
    with SteerView("shadow: p on rm", console) as view:
        view.show(decision, changes_in_words(decision))
        view.say("paused")
    shown = screen.getvalue()
    for text in ("shadow: p on rm", "promised MB", "a:1", "shadow (lever)", "2 applications", "paused"):
        assert text in shown


def test_the_live_view_of_many_nodes_fits_the_screen(decision: dict[str, Any]) -> None:
    quiet = {**decision["nodes"][0], "verdict": "unchanged"}
    busy = {**decision["nodes"][0], "node": "zz-busy:1"}
    nodes = [*({**quiet, "node": f"n{number}:1"} for number in range(500)), busy]
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=140, height=40)
    with SteerView("x", console) as view:
        view.show({**decision, "nodes": nodes}, [])
    assert "zz-busy:1" in screen.getvalue()
    assert "and 479 more nodes" in screen.getvalue()


@pytest.mark.parametrize(("band", "verdict"), [("1", "shadow"), ("2", "dead-band")])
def test_dead_bands_are_what_one_asks_for(
    rm: FakeRm, band: str, verdict: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """One vcore is reserved on each node; where nothing of it is expected to be used, one more is wanted."""
    words = ["--policy", "borg-default(fraction=0)", "--dead-band-mb", "100000", "--dead-band-vcores", band]
    assert run(["yarn", "steer", "--rm", rm.address, *words, "--for", "1", "--json"]) == 0
    last = valid("yarn steer", json.loads(capsys.readouterr().out.splitlines()[-1]))
    assert [(node["wanted"][1], node["verdict"]) for node in last["nodes"]] == [(9000, verdict)] * 2


def test_a_change_of_vcores_alone_is_told(decision: dict[str, Any]) -> None:
    told = next(one for one in decision["nodes"] if one["verdict"] == "shadow")
    told["wanted"] = [told["before"][0], told["before"][1] - 1000]
    assert any(": shadow 8 -> 7 vcores (lever)" in said for said in changes_in_words(decision))
