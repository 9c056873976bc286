"""What a lever remembers changes an answer that its host keeps, and nobody tells the host: certification fails.

Each lever is right once it says so. And each failure names the line of the user's file.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from heddle.experiments.conformance import Failure, certify

Write = Callable[[str], str]
SILENT = "it does not say when its answers change"
HEARD = "def heard(view, state, params, kind, node, stage, container, value):\n    {}\n    return {}\n\n"
COUNT = "state.table['n'][0] += 1"
LISTENS = "state=State(table='n'), on_event=heard, listens=({},)"


def silent(policy: str) -> list[Failure]:
    return [failure for failure in certify(policy, seeds=1) if failure.rule == SILENT]


def declared(question: str, signature: str, body: str, event: str = "EVENT_STARTED", more: str = "") -> str:
    options = LISTENS.format(event) + more
    return f"@{question}({options})\ndef mine(view, state, params, {signature}):\n    return {body}\n"


HALF = "def part(view, state, params, pool, r):\n    return view.clock['total'][0, r] * {} // 40\n\n"
REFUSING = {
    "admits": declared("admission", "job", "(4 if job > 3 and state.table['n'][0] < 20 else 0)"),
    "allows": (
        "def limited(view, state, params, stage):\n"
        "    return 4 if stage > 3 and state.table['n'][0] < 5 else 0\n\n"
        + declared("queues", "queue", "0", more=", allows=limited")
    ),
    "limit": HALF.format("min(40, 5 + state.table['n'][0])")
    + declared("partition", "job", "job % 2", more=", limit=part, n_pools=2"),
    "veto": (
        "def no(view, state, params, node, stage):\n"
        "    return 4 if node > 1 and state.table['n'][0] < 20 else 0\n\n"
        + declared("placement", "node, stage", "0", more=", allows=no")
    ),
}


@pytest.mark.parametrize("name", REFUSING)
def test_a_refusal_that_an_event_takes_back(lever: Write, name: str) -> None:
    (found,) = silent(lever(HEARD.format(COUNT, 0) + REFUSING[name]))
    assert "but on_event returned 0, so nobody asks again: return 1" in found.what
    assert found.where.endswith("mine.py:4")
    assert silent(lever(HEARD.format(COUNT, 1) + REFUSING[name])) == []


def test_hosts_look_again_when_a_container_ends(lever: Write) -> None:
    ended = REFUSING["admits"].replace("(EVENT_STARTED,)", "(EVENT_FINISHED, EVENT_STOPPED)")
    assert silent(lever(HEARD.format(COUNT, 0) + ended)) == []


def test_a_total_that_an_event_of_another_node_changes(lever: Write) -> None:
    """That it returns 1 does not help: totals are asked for node by node."""
    total = "view.node['allowance'][node, r] - state.table['n'][0]"
    text = HEARD.format(COUNT, 1) + declared("sizing", "node, r", total, more=", depends_on='{}'")
    (found,) = silent(lever(text.format("allocations")))
    assert "at an event elsewhere, where nobody asks for it again: say depends_on='time'" in found.what
    assert silent(lever(text.format("time"))) == []
    own = text.replace("table='n'", "node='n'").replace("state.table['n'][0]", "state.node['n'][node]")
    own = own.replace("EVENT_STARTED", "EVENT_ALLOCATED")
    assert silent(lever(own.format("allocations"))) == []


def test_a_score_of_nodes_that_an_event_of_another_node_changes(lever: Write) -> None:
    text = HEARD.format(COUNT, 1) + declared("placement", "node, stage", "-node * state.table['n'][0]", more="{}")
    (found,) = silent(lever(text.format(", score_by='node'")))
    assert "say score_by='pair'" in found.what
    assert silent(lever(text.format(", score_by='pair'"))) == []


# Which line


def places(policy: str) -> list[str]:
    file = policy.removesuffix(":mine")
    return [failure.where.removeprefix(f"{file}:") for failure in certify(policy, seeds=1)]


def test_the_line_that_reads_what_is_not_declared(lever: Write) -> None:
    key = "@ordering()\ndef mine(view, state, params, stage):\n    held = view.stage['held'][stage]\n    return held\n"
    assert set(places(lever(key))) == {"6"}
    shared = (
        "from heddle.model.compilable import callable_too\n\n"
        "@callable_too\ndef now(view):\n    return view.clock['now_ms'][0]\n\n"
    )
    key = "@ordering()\ndef mine(view, state, params, stage):\n    return now(view)\n"
    assert set(places(lever(shared + key))) == {"8"}


@pytest.mark.filterwarnings("ignore:.*cannot be compiled")
def test_the_line_that_raises(lever: Write) -> None:
    key = "@ordering()\ndef mine(view, state, params, stage):\n    zero = int(json.loads('0'))\n    return 1 // zero\n"
    assert set(places(lever("import json\n\n" + key))) == {"9"}


def test_where_the_lever_begins_if_no_line_is_to_blame(lever: Write) -> None:
    """Here nothing but the runs: what no node may ever take cannot finish."""
    admits = "@admission()\ndef mine(view, state, params, job):\n    return 4\n"
    found = certify(lever(admits) + "+fifo", seeds=1)
    assert {failure.rule for failure in found} == {"work that could finish did not"}
    assert all(failure.where.endswith("mine.py:4") for failure in found)
