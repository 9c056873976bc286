"""What is said of a lever that is wrong: where, what it is about, and what there is instead."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from heddle.experiments.conformance import certify
from heddle.model.errors import BadInput
from heddle.policy.compile import SlowLeverWarning
from heddle.policy.lever import ordering
from heddle.policy.parse import parse_policy

Write = Callable[[str], str]
KEY = "def mine(view, state, params, stage):\n    return {}\n"


def refusal(policy: str) -> str:
    with pytest.raises(BadInput) as caught:
        parse_policy(policy)
    return str(caught.value)


def test_a_decorator_without_brackets(lever: Write) -> None:
    assert ":4: mine: write @ordering(), with brackets" in refusal(lever("@ordering\n" + KEY.format("stage")))


def test_what_there_is_instead(lever: Write) -> None:
    said = refusal(lever("@ordering()\n" + KEY.format("view.job['held_'][0]")))
    assert ":6: mine: view.job has no column 'held_', did you mean \"held\"? it has: allocated, arrived_at_ms" in said
    said = refusal(lever("@ordering()\n" + KEY.format("view.now")))
    assert ":6: mine: view.now does not exist" in said
    assert "it has: clock, node, queue" in said
    said = refusal(lever("@ordering(state=State(job='last'))\n" + KEY.format("state.job['list'][0]")))
    assert "state.job has no column 'list', did you mean \"last\"? it has: last" in said
    said = refusal(lever("@ordering(score=None)\n" + KEY.format("stage")))
    assert "no hook or trait 'score'" in said
    assert "it has: name, summary, parameters, state, on_event, listens" in said


def test_events_that_there_are(lever: Write) -> None:
    said = refusal(lever("from heddle.model.view import EVENT_ENDED\n\n@ordering()\n" + KEY.format("stage")))
    assert ":4: cannot be loaded: ImportError" in said
    assert "it has: EVENT_ARRIVED, EVENT_ALLOCATED" in said
    heard = "def heard(view, state, params, kind, node, stage, container, value):\n    return 0\n\n"
    said = refusal(lever(heard + "@ordering(on_event=heard, listens=(99,))\n" + KEY.format("stage")))
    assert "listens to 99, which is not an event; heddle.model.view has EVENT_ARRIVED, EVENT_ALLOCATED" in said


def test_a_plain_column_with_two_indices(lever: Write) -> None:
    said = refusal(lever("@ordering(state=State(job='last'))\n" + KEY.format("state.job['last'][0, 0]")))
    assert ":6: mine: a column with one number for each row is read with two indices" in said


def test_a_truth_that_was_not_declared(lever: Write) -> None:
    total = "@sizing()\ndef mine(view, state, params, node, r):\n    return state.truth['future_peak'][node, r]\n"
    assert ':6: mine: this lever declares no truth; say truth=("future_peak",), depends_on="time"' in refusal(
        lever(total)
    )
    said = refusal(lever("@ordering()\n" + KEY.format("view.stage_spec['duration_ms'][stage]")))
    assert "view.stage_spec has no column 'duration_ms'; no scheduler knows it: say truth=(\"workload\",)" in said
    said = refusal(lever(total.replace("state.truth", "view.node")))
    assert 'view.node has no column \'future_peak\'; say truth=("future_peak",), depends_on="time"' in said
    writes = total.replace("()", "(truth=('future_peak',), depends_on='time')").replace("return", "return 1 +")
    writes = writes.replace("    return", "    state.truth['future_peak'][node, r] = 0\n    return")
    assert ":6: mine: writes to the view or the truth, which belong to the host" in refusal(lever(writes))
    said = refusal(lever("@ordering(truth=('future_peak',))\n" + KEY.format("stage")))
    assert said.count("\n") == 0
    assert "there is no truth 'future_peak' for ordering; known: workload" in said


def test_what_cannot_be_compiled_and_where(lever: Write) -> None:
    with pytest.warns(UserWarning, match=r"mine\.py:8: mine cannot be compiled .* \(Unknown attribute 'loads'"):
        parse_policy(lever("import json\n\n@ordering()\n" + KEY.format("int(json.loads('1'))")))


def test_a_reason_made_a_number_inside_a_hook(lever: Write) -> None:
    text = (
        "from heddle.model.reasons import Reason\n\n@admission()\ndef mine(view, state, params, job):\n    return {}\n"
    )
    advice = r"int\(Reason.VETO\) does not compile inside a hook: write VETO = int\(Reason.VETO\) above it\)$"
    with pytest.warns(UserWarning, match=r"mine\.py:8: mine cannot be compiled .*" + advice):
        parse_policy(lever(text.format("int(Reason.VETO) if job else 0")))
    said = refusal(lever(text.format("Reason.VETO")))
    assert ":8: mine returns a member of Reason, not a whole number: write X = int(Reason.X) above it" in said


def test_what_the_compiler_says_is_not_cut_off(lever: Write) -> None:
    with pytest.warns(SlowLeverWarning) as warned:
        parse_policy(lever("@ordering()\n" + KEY.format("int(str)")))
    (said,) = [str(one.message) for one in warned]
    assert "found for signature int(Function(" in said
    assert not said.endswith(":)")


def test_a_truth_that_prepare_was_not_promised(lever: Write) -> None:
    """Once, however many workloads show it."""
    prepare = "def prepare(setup):\n    told = setup.truth\n    setup.state.table['n'] = len(told.tasks)\n\n"
    policy = lever(prepare + "@ordering(prepare=prepare, state=State(table='n'))\n" + KEY.format("stage"))
    (failure,) = certify(policy, seeds=1)
    assert failure.what == f'{policy}: prepare(): setup.truth is None: say truth=("workload",)'
    assert failure.where.endswith("mine.py:6")


def test_a_column_without_its_row(lever: Write) -> None:
    """The column itself is no number."""
    said = refusal(lever("@ordering()\n" + KEY.format("view.clock['now_ms']")))
    assert ':4: mine: works on a whole column; name a row, as in view.clock["now_ms"][0]' in said


def test_one_wrong_lever_does_not_hide_the_others_of_its_file(lever: Write) -> None:
    """Whatever is wrong with its declaration."""
    wrong = {
        "typo": "@ordering(depend_on='time')",
        "bare": "@ordering",
        "untimed": "@ordering(depends_on='time')",
        "event": "@ordering(listens=(EVENT_ARRIVED,))",
    }
    text = "".join(f"{at}\ndef {name}(view, state, params, stage):\n    return 0\n\n" for name, at in wrong.items())
    right = lever(text + "@ordering()\n" + KEY.format("stage"))
    file = right.removesuffix(":mine")
    assert parse_policy(right).ordering.name == right
    lines = [4, 8, 12, 16]
    for name, line in zip(wrong, lines, strict=True):
        assert refusal(f"{file}:{name}").startswith(f"{file}:{line}: ")
    assert "it has: typo, bare, untimed, event, mine" in refusal(f"{file}:other")


def test_outside_of_a_file_a_wrong_declaration_is_an_error_at_once() -> None:
    def mine(view, state, params, stage):  # type: ignore[no-untyped-def]
        return 0

    with pytest.raises(BadInput, match="write @ordering"):
        ordering(mine)
    with pytest.raises(BadInput, match="every_ms"):
        ordering(depends_on="time")(mine)


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("listens=EVENT_ARRIVED", "as in listens=(EVENT_ALLOCATED,)"),
        ("parameters=(Parameter('a', 1, ''))", 'as in parameters=(Parameter("keep"'),
        ("truth='workload'", 'as in truth=("workload",)'),
        ("state=('last',)", 'as in state=State(job="seen")'),
    ],
)
def test_a_tuple_without_its_comma(lever: Write, said: str, wanted: str) -> None:
    found = refusal(lever(f"@ordering({said})\n" + KEY.format("stage")))
    assert ":4: mine: " in found
    assert wanted in found
