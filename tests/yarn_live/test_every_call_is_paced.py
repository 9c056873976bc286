"""Whoever asks a ResourceManager, or a history server, does so at a pace."""

from pathlib import Path
from typing import Any

import pytest

from heddle.cli.main import run
from heddle.cli.yarn_cluster import client_of
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.connection import HttpConnection
from heddle.yarn.live.pace import CALLS_PER_S, Pace

from .fake_rm import FakeRm


@pytest.mark.parametrize(
    "command",
    [
        ["cluster", "import", "--rm", "{rm}"],
        ["yarn", "restore", "--rm", "{rm}", "--from-nodes"],
        ["yarn", "steer", "--rm", "{rm}", "--for", "0.5"],
        ["yarn", "observe", "{folder}", "--rm", "{rm}", "--history", "{rm}", "--for", "0.5"],
        ["yarn", "dashboard", "--rm", "{rm}", "--for", "0.5"],
        ["yarn", "track", "{folder}/samples", "--remote", "--rm", "{rm}", "--for", "0.5"],
        ["yarn", "bridge", "check", "--rm", "{rm}"],
        ["yarn", "twin", "--rm", "{rm}", "--history", "{rm}", "--for", "0.5"],
    ],
    ids=lambda command: "-".join(command[:2]),
)
def test_by_commands(command: list[str], rm: FakeRm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    rm.add_node("a:1", 8192, 8)
    port = int(rm.address.rpartition(":")[2])
    calls, turns = [], []
    really_ask, really_turn = HttpConnection.ask, Pace.turn

    def ask(connection: HttpConnection, method: str, *given: Any) -> Any:
        if connection._http.port == port:
            calls.append(method)
        return really_ask(connection, method, *given)

    def turn(pace: Pace, *, waits: bool = True) -> None:
        turns.append(pace.calls_per_s)
        really_turn(pace, waits=waits)

    monkeypatch.setattr(HttpConnection, "ask", ask)
    monkeypatch.setattr(Pace, "turn", turn)
    run([part.format(rm=rm.address, folder=tmp_path) for part in command])
    assert calls
    assert len(turns) >= len(calls)
    assert set(turns) == {CALLS_PER_S}


def test_a_client_for_another_thread_shares_the_pace(rm: FakeRm) -> None:
    with client_of(rm.address, None) as client, client.beside(3.0) as other:
        assert client.pace is not None
        other.nodes()
        client.nodes()
        assert (client.pace.calls, other.address) == (2, client.address)


def test_of_several_processes_each_has_its_share(rm: FakeRm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`steer --choose` looks ahead in a process of its own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    made: list[int] = []
    really = RmClient.__init__

    def init(client: RmClient, *given: Any, **named: Any) -> None:
        made.append(named["pace"].calls_per_s)
        really(client, *given, **named)

    monkeypatch.setattr(RmClient, "__init__", init)
    monkeypatch.setattr("heddle.yarn.live.recognising.recognise", lambda _: exit_early())
    for choose, calls_per_s in (([], 9), (["--choose"], 4)):
        run(["yarn", "steer", "--rm", rm.address, "--max-calls-per-s", "9", *choose])
        assert made.pop() == calls_per_s
    run(["yarn", "steer", "--rm", rm.address, "--max-calls-per-s", "1", "--choose"])
    assert made.pop() == 1


def exit_early() -> None:
    raise KeyboardInterrupt
