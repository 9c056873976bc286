"""Answers that no host can use, and indices out of bounds: an error that says whose, never another's memory."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from heddle.experiments.conformance import cases
from heddle.experiments.onlooker import Onlooker
from heddle.model.errors import BadInput
from heddle.model.reasons import Reason
from heddle.policy.parse import parse_policy
from heddle.run import simulate
from heddle.sim.run import run_engine
from heddle.traces.align import in_resources_of

Write = Callable[[str], str]
HALF = "def half(view, state, params, pool, r):\n    return view.clock['total'][0, r] // 2\n\n"
POOLS = HALF + "@partition(limit=half, n_pools=2)\ndef mine(view, state, params, job):\n    return {}\n"


def refusal(policy: str) -> str:
    with pytest.raises(BadInput) as caught:
        parse_policy(policy)
    return str(caught.value)


def said_by_the_simulator(policy: str) -> str:
    case = next(cases(0))
    with pytest.raises(BadInput) as caught:
        simulate(case.workload(), case.cluster, policy)
    assert policy.removesuffix(":mine") + ":" in str(caught.value), "no line of the user's file"
    return str(caught.value)


def said_by_the_live_host(policy: str) -> str:
    case = next(cases(0))
    workload = in_resources_of(case.workload(), case.cluster)
    beside = Onlooker(parse_policy(policy), workload, case.cluster)
    with pytest.raises(BadInput) as caught:
        run_engine(workload, case.cluster, parse_policy("fifo"), 0, False, outside=beside)
    return str(caught.value)


def test_pools_without_a_number_or_a_limit(lever: Write) -> None:
    pool = "def mine(view, state, params, job):\n    return 0\n"
    said = refusal(lever(f"@partition()\n{pool}"))
    assert "say how many with n_pools" in said
    assert "has pools but no limit" in said
    assert "1 to 1000 pools" in refusal(lever(f"{HALF}@partition(limit=half, n_pools=40_000)\n{pool}"))
    assert "has no limit" not in refusal(lever(f"{HALF}@partition(limit=half)\n{pool}"))


@pytest.mark.parametrize("answer", ["job", "-1 - job", "2**40"])
def test_a_pool_that_does_not_exist(lever: Write, answer: str) -> None:
    policy = lever(POOLS.format(answer))
    for said in (said_by_the_simulator(policy), said_by_the_live_host(policy)):
        assert ":7: mine: asked with job=" in said
        assert "which is not a pool (0 to 1, by n_pools)" in said


def test_a_pool_that_does_not_exist_of_a_hook_that_cannot_be_compiled(lever: Write) -> None:
    policy = lever("import json\n\n" + POOLS.format("int(json.loads('7'))"))
    with pytest.warns(UserWarning, match="cannot be compiled"):
        said = said_by_the_simulator(policy)
    assert "asked with job=0, it answered 7, which is not a pool" in said


def test_a_reason_that_does_not_exist(lever: Write) -> None:
    """A veto's reason with its sign turned says where there is no node: -5 would be node 5."""
    veto = "def no(view, state, params, node, stage):\n    return {}\n\n"
    text = veto + "@placement(allows=no)\ndef mine(view, state, params, node, stage):\n    return 0\n"
    for reason in ("-5000", str(max(Reason) + 1)):
        assert "which is not a Reason" in said_by_the_simulator(lever(text.format(reason)))
    admission = "@admission()\ndef mine(view, state, params, job):\n    return 300\n"
    assert "it answered 300, which is not a Reason" in said_by_the_simulator(lever(admission))
    assert "it answered 300, which is not a Reason" in said_by_the_live_host(lever(admission))


def test_scores_and_totals_beyond_all_bounds(lever: Write) -> None:
    score = '@placement(score_by="node")\ndef mine(view, state, params, node, stage):\n    return -(2**62) - 1\n'
    assert "which is not a score" in said_by_the_simulator(lever(score))
    total = "@sizing()\ndef mine(view, state, params, node, r):\n    return 2**61\n"
    assert "which is not an amount" in said_by_the_simulator(lever(total))
    assert "which is not an amount" in said_by_the_live_host(lever(total))


def test_an_index_out_of_bounds(lever: Write) -> None:
    """A slip like a job's column with a stage's number, and one inside a function that hooks share."""
    heard = "def heard(view, state, params, kind, node, stage, container, value):\n    {}\n    return 0\n\n"
    key = (
        "@ordering(state=State(job='last'), on_event=heard, listens=(EVENT_ALLOCATED,))\n"
        "def mine(view, state, params, stage):\n    return stage\n"
    )
    policy = lever(heard.format("state.job['last'][stage + 1000] = 1") + key)
    for said in (said_by_the_simulator(policy), said_by_the_live_host(policy)):
        assert ":4: heard: asked with kind=1, node=" in said
        assert "it used an index out of bounds" in said
    shared = (
        "from heddle.model.compilable import callable_too\n\n"
        "@callable_too\ndef put(column, row):\n    column[row] = 1\n    return 0\n\n"
    )
    called = lever(shared + heard.format("put(state.job['last'], stage + 1000)") + key)
    assert "it used an index out of bounds" in said_by_the_simulator(called)


def test_the_view_is_not_the_levers_to_write(lever: Write) -> None:
    text = "@ordering()\ndef mine(view, state, params, stage):\n    view.job['priority'][0] = 0\n    return stage\n"
    assert ":6: mine: writes to the view" in refusal(lever(text))


def test_an_error_in_prepare(lever: Write) -> None:
    key = (
        "@ordering(state=State(lists='d'), prepare=prepare)\ndef mine(view, state, params, stage):\n    return stage\n"
    )
    prepare = "def prepare(setup):\n    return {}\n\n"
    said = said_by_the_simulator(lever(prepare.format('{"d": setup.workload.tasks["duration_ms"]}') + key))
    assert ":5: " in said
    assert "prepare() raised AttributeError" in said
    assert "a Setup has lever, view, state, truth" in said
    fractions = said_by_the_simulator(lever(prepare.format('{"d": [0.5, 1]}') + key))
    assert "the list 'd' holds fractions" in fractions
    assert "declares are ['d']" in said_by_the_simulator(lever(prepare.format('{"e": [1]}') + key))
    writing = "def prepare(setup):\n    setup.view.node['first_container'] = 99\n    return {'d': []}\n\n"
    assert "read-only" in said_by_the_simulator(lever(writing + key))
