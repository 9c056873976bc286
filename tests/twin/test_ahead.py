"""Whoever looks ahead beside a live controller: what it knows, what it decides, and what becomes of it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from typing import Any

import pytest

from heddle.model.cluster import Cluster, Node, Queue
from heddle.model.workload import TASKS
from heddle.policy.parse import parse_policy
from heddle.storm.answers import RmAnswers
from heddle.storm.machine import Asked
from heddle.storm.storm import LEAF_NAMES
from heddle.storm.yarn import EPOCH_MS, SimulatedYarn
from heddle.traces.catalogue import make_workload, suggested_cluster
from heddle.twin import ahead, beside, choosing
from heddle.twin.ahead import AheadProcess, Answer, Assignment, answered
from heddle.twin.as_found import as_found
from heddle.twin.beside import Beside, Question, decide
from heddle.twin.choosing import NOTHING_FINISHED, NOTHING_RUNS, Choice, Rule
from heddle.twin.known import Application, Snapshot, Stage
from heddle.twin.looking import Looking
from heddle.twin.rollouts import Candidate
from heddle.twin.simulated_choice import simulate_choosing
from heddle.yarn.live.applying.standing import AM_SHARE, GUARANTEE, Standing
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.connection import Answer as Over
from heddle.yarn.live.levers import young_reports
from heddle.yarn.observe.journal import Journal
from heddle.yarn.observe.observer import Observer
from yarn_live.fake_rm import FakeRm
from yarn_steering.watching import wait_for

NAMES = ("capacity", "capacity+usage-feedback(young_reports=2)", "capacity+weave")
QUICK = Rule(every_ms=15_000, horizon_ms=60_000, rollouts=5, rest_ms=45_000)
NOTHING = Standing()
Watch = Callable[[RmClient, FakeRm], Beside]
CANDIDATES = [Candidate.of(name, "yarn-knobs") for name in NAMES]


def test_the_same_state_leads_to_the_same_decision_live_and_simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    """All that a simulated run decided is decided again by what answers a live controller's questions."""
    decided: list[tuple[Snapshot, int, int, Choice]] = []

    def note(snapshot: Snapshot, candidates: Any, in_force: int, rule: Rule, at_ms: int, seed: int) -> Choice:
        choice = beside.choose(snapshot, candidates, in_force, rule, at_ms, seed)
        decided.append((snapshot, in_force, at_ms, choice))
        return choice

    monkeypatch.setattr(choosing, "choose", note)
    workload = "phases(phase_s=60)"
    policies = [parse_policy(name) for name in NAMES]
    simulate_choosing(make_workload(workload, 1), suggested_cluster(workload), policies, QUICK, seed=0)
    assert any(choice.changes for *_, choice in decided)
    assert any(choice.prospects and not choice.changes for *_, choice in decided)
    for snapshot, in_force, at_ms, choice in decided:
        question = Question(at_ms, in_force, NOTHING, 3600.0)
        assert decide(snapshot, CANDIDATES, question, QUICK, 3600.0) == choice


def test_candidates_count_new_containers_as_the_controller_does(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Candidate] = []

    def note(snapshot: Snapshot, candidates: Any, in_force: int, *_: Any, **__: Any) -> Choice:
        asked.extend(candidates)
        return Choice(0, 1, "", "", "")

    monkeypatch.setattr(beside, "choose", note)
    monkeypatch.setattr(beside, "_has_knobs", lambda *_: True)
    nothing = Snapshot(Cluster((Node("n0", (1, 1), (1, 1)),)), "capacity", 0, ())
    for learnt in (0, 1, 25):
        decide(nothing, CANDIDATES, Question(0, 2, NOTHING, 1.0, learnt), QUICK, 1.0)
    assert [young_reports(one.policy) for one in asked] == [0, 2, 2, 0, 2, 2, 0, 25, 25]


def test_a_cluster_is_as_found_whatever_was_turned() -> None:
    queues = (Queue("root"), Queue("root.a", 300, am_share_permille=900), Queue("root.b", 700, am_share_permille=500))
    nodes = (Node("n0", (9000, 9000), (9000, 9000)), Node("h:2", (7000, 7000), (7000, 7000)))
    app = Application("app", "app", "root.b", "u", -5, stages=(Stage("s", TASKS, (1, 1), (5,), left=1),))
    steered = Snapshot(Cluster(nodes, queues=queues), "capacity", 9, (app,))
    found = Standing(
        {"n0:8041": (4096, 4000), "h:2": (2048, 2000), "gone:1": (1, 1)},
        {"root.a": {AM_SHARE: None, GUARANTEE: "40"}, "root.b": {AM_SHARE: "0.2"}},
        leaves={"app": "root.a"},
    )
    back = as_found(steered, found, "0.3")
    assert [node.allowance for node in back.cluster.nodes] == [(4096, 4000), (2048, 2000)]
    assert [(queue.am_share_permille, queue.guarantee_permille) for queue in back.cluster.queues[1:]] == [
        (300, 400),
        (200, 700),
    ]
    assert back.applications[0].queue == "root.a"
    assert as_found(steered, NOTHING, None) == steered


@pytest.fixture
def watched(tmp_path: Path) -> Watch:
    def watch(client: RmClient, rm: FakeRm) -> Beside:
        observer = Observer(client, Journal(tmp_path / "journal.jsonl"), lambda: rm.now_ms)
        return Beside(client, observer, Looking(client, observer), CANDIDATES, QUICK)

    return watch


def question(at_ms: int = 7, found: Standing = NOTHING, seconds: float = 60.0) -> Question:
    return Question(at_ms, 0, found, seconds)


def busy(rm: FakeRm) -> None:
    """One that has ended and one of its name that runs; its containers use half of what they hold."""
    rm.now_ms += 60_000
    rm.add_node("n0:1", 16384, 8)
    old, new = rm.add_app(), rm.add_app()
    old.name, new.name = "etl 1", "etl 2"
    for app in (old, new):
        rm.start_am(app, "n0:1", 1024, 1)
        rm.allocate(app, "n0:1", 3072, 1)
    new.asks = [(20, 3072, 1, 3)]
    rm.nodes["n0:1"].containers_memory_mb = rm.nodes["n0:1"].used_memory_mb = 4096
    rm.nodes["n0:1"].containers_vcores = 2.0


def test_it_knows_what_containers_use_and_forgets_what_was_turned(
    watched: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Snapshot] = []

    def note(snapshot: Snapshot, *_: Any, **__: Any) -> Choice:
        seen.append(snapshot)
        return Choice(7, 60_000, NAMES[0], NAMES[0], NOTHING_RUNS)

    monkeypatch.setattr(beside, "choose", note)
    with FakeRm() as rm, RmClient(rm.address) as client:
        busy(rm)
        beside_it = watched(client, rm)
        beside_it.poll()
        rm.now_ms += 10_000
        rm.end_app(next(iter(rm.apps.values())))
        rm.nodes["n0:1"].memory_mb = 30_000  # as a policy in force has made it
        beside_it.answer(question(found=Standing({"n0:1": (16384, 8000)})))
    (snapshot,) = seen
    assert [node.allowance[0] for node in snapshot.cluster.nodes] == [16384]
    (live,) = snapshot.live
    assert live.stages[0].use is not None
    assert 1000 < live.stages[0].use[0] < 3072


def test_nobody_who_answers_is_a_reason(watched: Watch) -> None:
    with FakeRm() as rm, RmClient(rm.address, timeout_s=60) as client:
        busy(rm)
        beside_it = watched(client, rm)
        assert answered(beside_it.answer, question()).choice is not None
        rm.instead["/nodes"] = (500, "away")
        answer = answered(beside_it.answer, question())
    assert answer.choice is None
    assert "500" in answer.why_not


def test_a_snapshot_that_contradicts_itself_is_a_reason(watched: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    look = Looking.look

    def without_nodes(self: Looking) -> tuple[Snapshot, int]:
        snapshot, now_ms = look(self)
        other = replace(snapshot.cluster.nodes[0], name="other")
        return replace(snapshot, cluster=replace(snapshot.cluster, nodes=(other,))), now_ms

    with FakeRm() as rm, RmClient(rm.address) as client:
        busy(rm)
        monkeypatch.setattr(Looking, "look", without_nodes)
        answer = answered(watched(client, rm).answer, question())
    assert answer.choice is None
    assert "node n0, which the cluster does not have" in answer.why_not


def test_what_fails_unforeseen_is_a_reason_too() -> None:
    def fails(_: Question) -> Choice:
        raise ZeroDivisionError("oh")

    assert answered(fails, question()).why_not == "looking ahead failed: ZeroDivisionError: oh"


class OverTheWire:
    """A simulated YARN behind the ResourceManager's wire format."""

    kept = False

    def __init__(self, rm: RmAnswers) -> None:
        self._rm = rm

    def ask(self, method: str, target: str, body: str | None, headers: dict[str, str]) -> Over:
        return self._rm.answer(Asked("http://rm.example:8088", method, target, body, headers))

    def close(self) -> None:
        pass


def test_over_the_wire_of_a_simulated_yarn_it_finds_what_is_better(tmp_path: Path) -> None:
    """Jobs reserve far more than they use, and more and more of them wait."""
    now_ms = 0
    yarn = SimulatedYarn(Random(2), LEAF_NAMES, 400, lambda: now_ms, preempts=False)
    rm = OverTheWire(RmAnswers(yarn, {}, bridge=None))
    with RmClient("http://rm.example:8088", connect=lambda address, timeout_s: rm) as client:
        observer = Observer(client, Journal(tmp_path / "journal.jsonl"), lambda: EPOCH_MS + now_ms)
        rule = replace(QUICK, horizon_ms=180_000)
        watching = Beside(client, observer, Looking(client, observer), CANDIDATES[:2], rule)
        first = watching.answer(question())
        for _ in range(90):
            now_ms += 2000
            watching.poll()
        choice = watching.answer(question(at_ms=now_ms, seconds=600.0))
    assert first.why == NOTHING_FINISHED
    assert choice.chosen == NAMES[1]
    assert choice.predicted is not None
    assert choice.predicted < choice.prospects[0].present


# Programs in place of the one that looks ahead, in processes of their own.


def echo(pipe: Connection, _: Assignment) -> None:
    while True:
        asked = pipe.recv()
        pipe.send(Answer(asked.at_ms, None, f"pid {os.getpid()}"))


def dies_at_seven(pipe: Connection, _: Assignment) -> None:
    while (asked := pipe.recv()).at_ms != 7:
        pipe.send(Answer(asked.at_ms, None, "lives"))


def never(pipe: Connection, _: Assignment) -> None:
    pipe.recv()
    time.sleep(3600)


def given(folder: Path, rm: str = "http://127.0.0.1:1") -> Assignment:
    return Assignment(rm, None, 20, folder, NAMES, 2000, 1000, QUICK)


def reply(process: AheadProcess, asked: Question) -> Answer:
    process.ask(asked)
    found: list[Answer] = []

    def has_come() -> bool:
        found.extend(filter(None, [process.answer()]))
        return bool(found)

    wait_for(has_come, 300)
    return found[0]


def test_one_that_dies_is_said_and_started_anew(tmp_path: Path) -> None:
    with AheadProcess(given(tmp_path), dies_at_seven) as process:
        assert reply(process, question(1)).why_not == "lives"
        assert "has died" in reply(process, question(7)).why_not
        assert reply(process, question(8)).why_not == "lives"


def test_nobody_waits_for_an_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "PATIENCE_S", 300.0)
    with AheadProcess(given(tmp_path), never) as process:
        process.ask(question(seconds=0.1))
        assert process.answer() is None  # whoever waited would have been told that nothing came


def test_one_that_does_not_answer_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "PATIENCE_S", 1.0)
    with AheadProcess(given(tmp_path), never) as process:
        assert "has not answered for 1 s" in reply(process, question(seconds=0.1)).why_not


def test_it_ends_with_whoever_asks(tmp_path: Path) -> None:
    with AheadProcess(given(tmp_path), echo) as process:
        pid = int(reply(process, question()).why_not.removeprefix("pid "))
        assert Path(f"/proc/{pid}").exists()
    wait_for(lambda: not Path(f"/proc/{pid}").exists() or "Z" in Path(f"/proc/{pid}/stat").read_text().split()[2], 300)


def test_the_process_watches_and_answers(tmp_path: Path) -> None:
    """The real program, with an RM in place of YARN's."""
    with FakeRm() as rm:
        busy(rm)
        with AheadProcess(given(tmp_path, rm.address)) as process:
            answer = reply(process, question(seconds=200.0))
    assert answer.choice is not None
    assert (answer.choice.in_force, answer.choice.at_ms) == (NAMES[0], 7)
    assert (tmp_path / "journal.jsonl").stat().st_size > 0


def test_a_journal_that_cannot_be_written_is_a_reason(tmp_path: Path) -> None:
    (tmp_path / "journal.jsonl").mkdir()
    with AheadProcess(given(tmp_path)) as process:
        assert "cannot be written" in reply(process, question()).why_not
