"""`heddle yarn steer --choose` against a fake RM: what it prints and records, and when it refuses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

from cli.schemas import valid
from heddle.cli.main import run
from heddle.twin.ahead import Answer, Assignment
from heddle.twin.beside import Question
from heddle.twin.choosing import BETTER, Choice, Prospect
from heddle.twin.shadow_time import NEEDED_S, ShadowTime
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.steering.desk import Desk, desk_of
from yarn_live.fake_rm import FakeRm

WEAVE, STOCK = "capacity+weave", "capacity"


class Decided:
    """In place of the process: finds YARN alone better, at once."""

    given: ClassVar[list[Assignment]] = []

    def __init__(self, given: Assignment) -> None:
        self.given.append(given)
        self._answers: list[Answer] = []

    def __enter__(self) -> Decided:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def ask(self, question: Question) -> None:
        names, horizon_ms = self.given[-1].candidates, self.given[-1].rule.horizon_ms
        present = names[question.in_force]
        prospects = tuple(Prospect(name, 1.0 if name == STOCK else 3.0, 5, 2.0, (1.0, 3.0)) for name in names)
        choice = Choice(question.at_ms, horizon_ms, present, STOCK, BETTER, prospects)
        self._answers.append(Answer(question.at_ms, choice))

    def answer(self) -> Answer | None:
        return self._answers.pop() if self._answers else None


@pytest.fixture(autouse=True)
def own_world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr("heddle.twin.ahead.AheadProcess", Decided)


@pytest.fixture
def rm() -> Iterator[FakeRm]:
    with FakeRm() as rm:
        rm.configured["yarn.cluster.max-application-priority"] = "10"
        app = rm.add_app()
        for name in ("a:1", "b:1"):
            rm.add_node(name, 8192, 8)
            rm.allocate(app, name, 4096, 1)
            rm.nodes[name].used_memory_mb = 500
        app.state, app.asks = "RUNNING", [(20, 1024, 1, 1)]
        yield rm


def steer(rm: FakeRm, *more: str) -> int:
    often = ("--choose", "--choose-every", "3s", "--horizon", "3s", "--every", "0.3", "--for", "9s")
    return run(["yarn", "steer", "--rm", rm.address, "--policy", "weave", "--accept-sizes", *often, *more])


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [valid("yarn steer", json.loads(line)) for line in capsys.readouterr().out.splitlines() if line[:1] == "{"]


def test_in_shadow_mode_it_shows_what_it_would_have_chosen(rm: FakeRm, capsys: pytest.CaptureFixture[str]) -> None:
    assert steer(rm, "--json") == 0
    told = lines(capsys)
    choice = next(line["choice"] for line in told if line["choice"])
    assert (choice["in_force"], choice["chosen"], choice["predicted"]) == (WEAVE, STOCK, 1.0)
    assert {one["policy"] for one in choice["prospects"]} >= {WEAVE, STOCK, "capacity+admission-control"}
    outcome = next(outcome for line in told for outcome in line["outcomes"])
    assert (outcome["policy"], outcome["predicted"], outcome["came"]) == (STOCK, 1.0, 1.0)
    policies = [line["policy"] for line in told]
    assert policies[0] == WEAVE
    assert policies[-1] == STOCK
    assert rm.posts == []
    with RmClient(rm.address) as client:
        assert ShadowTime(desk_of(client.address), print).seconds > 0


def test_live_the_knobs_are_handed_back(rm: FakeRm, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = tmp_path / "decisions.jsonl"
    assert steer(rm, "--mode", "live", "--yes", "--record", str(record), "--young", "0") == 0
    told = [json.loads(line) for line in record.read_text().splitlines()]
    causes = {node["cause"] for line in told for node in line["nodes"]}
    assert "handover" in causes
    assert [node["promised_mb"] for node in told[-1]["nodes"]] == [8192, 8192]
    assert f"policy {WEAVE} -> {STOCK}" in capsys.readouterr().err
    assert rm.posts


def test_live_needs_an_hour_in_shadow_mode(rm: FakeRm, capsys: pytest.CaptureFixture[str]) -> None:
    assert steer(rm, "--mode", "live") == 2
    assert "0 min on this cluster, and needs 60" in capsys.readouterr().err
    assert rm.posts == []
    with RmClient(rm.address) as client:
        desk: Desk = desk_of(client.address)
    ShadowTime(desk, print).add(NEEDED_S)
    assert steer(rm, "--mode", "live") == 0


def test_named_candidates_and_their_queues(rm: FakeRm, capsys: pytest.CaptureFixture[str]) -> None:
    assert steer(rm, "--candidate", "smallest-first", "--candidate", "capacity+admission-control") == 0
    assert Decided.given[-1].candidates == (WEAVE, "capacity+smallest-first", "capacity+admission-control", STOCK)
    assert steer(rm, "--candidate", "dress") == 2
    assert "capacity+dress cannot be chosen here" in capsys.readouterr().err
    assert steer(rm, "--candidate", "fair+usage-feedback") == 2
    assert "another scheduler" in capsys.readouterr().err


def test_options_of_choosing_alone_are_refused(rm: FakeRm, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["yarn", "steer", "--rm", rm.address, "--rest", "1m"]) == 2
    assert "--rest: only applies with --choose" in capsys.readouterr().err
