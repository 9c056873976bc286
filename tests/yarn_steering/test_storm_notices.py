"""What the storm checks of decisions, names and the record: each check breaks where the code is made to do wrong."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from heddle.analysis.waste import ledger
from heddle.storm.faults import Fault, Kind
from heddle.storm.recorded import seen_in, wrong_with_ledger, wrongly_held
from heddle.storm.storm import JOURNAL, Storm
from heddle.yarn.live.applying import guards
from heddle.yarn.live.applying.applier import Applier
from heddle.yarn.live.applying.rm_knobs import RmKnobs
from heddle.yarn.live.applying.seen import Seen
from heddle.yarn.live.applying.standing import SIZES
from heddle.yarn.live.applying.turn import Cause, Turn, Turns, Verdict
from heddle.yarn.live.steering.session import Session
from heddle.yarn.observe import live_record
from heddle.yarn.observe.journal import Journal

RESIZED = (Fault(Kind.NODE_RESIZED, 40.0, 1.0, 77_003),)


def broken(monkeypatch: pytest.MonkeyPatch, judged: Callable[[Turn], Turn], seed: int = 1) -> str:
    """What a storm without faults says, if guards end with this one."""

    def last_word(turns: Turns, seen: Seen) -> Turns:
        return tuple(judged(turn) if turn.what == SIZES and turn.verdict is None else turn for turn in turns)

    init = Applier.__init__

    def with_it(self: Applier, *given: Any, **named: Any) -> None:
        init(self, *given, **named)
        self._guards = (*guards.GUARDS, last_word)

    monkeypatch.setattr(Applier, "__init__", with_it)
    return Storm(seed, ()).run().broken[0]


def test_a_lever_that_is_not_asked_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def more(turn: Turn) -> Turn:
        return turn._replace(wanted=(turn.wanted[0] + 1, turn.wanted[1])) if turn.cause is Cause.LEVER else turn

    assert "the plan says" in broken(monkeypatch, more)


@pytest.mark.parametrize(
    ("cause", "told"),
    [
        (Cause.CAP, "is not cut to"),
        (Cause.RISE, "is not cut to a rise"),
        (Cause.PRESSURE, "of its memory is in use"),
        (Cause.STALE, "its figures move"),
        (Cause.PREEMPTION, "does not preempt, and says so"),
        (Cause.HANDOVER, "no policy has left that behind"),
        (Cause.LARGEST, "it need not stay large"),
    ],
)
def test_a_cause_that_is_not_there_is_noticed(monkeypatch: pytest.MonkeyPatch, cause: Cause, told: str) -> None:
    if cause is Cause.LARGEST:
        monkeypatch.setattr("heddle.storm.storm.Limits", lambda *given, keep_largest: replace(LIMITS, only=given[4]))

    def named(turn: Turn) -> Turn:
        return turn._replace(cause=cause)

    assert told in broken(monkeypatch, named)


LIMITS = Storm(0, ()).limits.__class__(overcommit=2.5, rise=0.5, stale_ms=6000, pressure=0.8)


@pytest.mark.parametrize(
    ("cause", "told"),
    [
        (Cause.OUTSIDE, "it may be steered"),
        (Cause.FOREIGN, "nobody else has touched it"),
        (Cause.DECOMMISSIONED, "nobody has ever decommissioned it"),
        (Cause.LEVER, "does not say why it is left alone"),
    ],
)
def test_what_is_left_alone_for_nothing_is_noticed(monkeypatch: pytest.MonkeyPatch, cause: Cause, told: str) -> None:
    assert told in broken(monkeypatch, lambda turn: turn.left_alone(cause))


def test_a_strange_place_that_is_none_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """For a while, it may have been a change of ours."""
    assert "nobody else has touched it" in broken(monkeypatch, lambda turn: turn.left_alone(Cause.STRANGE))


def test_a_change_that_no_decision_tells_of_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    apply = Applier.apply

    def quiet(self: Applier, *given: Any, **named: Any) -> list[Turn]:
        return [turn for turn in apply(self, *given, **named) if turn.verdict is not Verdict.POSTED]

    monkeypatch.setattr(Applier, "apply", quiet)
    assert "which none of its decisions says" in Storm(1, ()).run().broken[0]


def test_a_decision_that_nobody_carries_out_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RmKnobs, "set", lambda self, change: None)
    assert "never asked for that" in Storm(1, ()).run().broken[0]


def test_a_person_whom_nobody_names_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Storm(1, RESIZED).run().broken == ()
    monkeypatch.setattr(Session, "_release", lambda self, theirs: self._save())
    assert "nobody says that ('sizes', 'node-3:0', '') is now a person's" in Storm(1, RESIZED).run().broken[0]


def test_settings_that_only_the_next_policy_wants_are_its_own_doing() -> None:
    """A person takes what would be handed back of a queue: what is left of the turn is the lever's (seed 292)."""
    assert Storm(292, (Fault(Kind.QUEUE_CHANGED, 7.3, 1.4, 81_479),), chooses=True).run().broken == ()


def held(storm: Storm, entries: list[dict[str, Any]]) -> list[str]:
    return list(wrongly_held(storm.yarn, seen_in(entries), entries, -1))


def test_containers_that_the_journal_leaves_out_or_gets_wrong_are_noticed() -> None:
    storm = Storm(0, ())
    storm.run()
    whole = [json.loads(line) for line in storm.machine.files[JOURNAL].splitlines()]
    assert held(storm, whole) == []
    ended = next(one for one in whole if one["what"] == "container" and one["ended_at_ms"] is not None)
    without = [one for one in whole if one["what"] != "container" or one["id"] != ended["id"]]
    assert [said.split(":")[0] for said in held(storm, without)] == [f"{ended['id']} is not in the journal"]
    for wrong, told in (
        ({"began_at_ms": ended["began_at_ms"] + 1}, "did not begin then"),
        ({"size": [1, 1000]}, "of another size"),
        ({"ended_between_ms": [at_ms + 20_000 for at_ms in ended["ended_between_ms"]]}, "between the looks"),
        ({"ended_at_ms": ended["ended_at_ms"] + 20_000,
          "ended_between_ms": [at_ms + 20_000 for at_ms in ended["ended_between_ms"]]}, "did not end then"),
    ):  # fmt: skip
        (said,) = held(storm, [*without, {**ended, **wrong}])
        assert told in said


def test_a_record_whose_ledger_does_not_add_up_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """By its own word, containers that are still there at the end have held more than its ledger has time for."""
    monkeypatch.setattr(live_record, "_last_known_ms", lambda apps, containers: 1_700_000_170_000)
    assert "the record's containers held" in Storm(0, ()).run().broken[0]


def test_a_line_of_the_ledger_that_is_lost_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    storm = Storm(0, ())
    storm.run()
    whole = [json.loads(line) for line in storm.machine.files[JOURNAL].splitlines()]
    assert list(wrong_with_ledger(seen_in(whole))) == []
    monkeypatch.setattr(ledger, "free_capacity", lambda run, lines, begin, end: np.zeros(2, np.int64))
    assert any("add up to" in said for said in wrong_with_ledger(seen_in(whole)))


def test_an_end_that_the_observer_does_not_note_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    add = Journal.add

    def forgets(self: Journal, entry: dict[str, Any]) -> None:
        if entry["what"] != "container":
            add(self, entry)

    monkeypatch.setattr(Journal, "add", forgets)
    assert "is not in the journal" in Storm(0, ()).run().broken[0]


def test_a_restore_that_puts_nothing_back_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the next controller does."""
    killed = (Fault(Kind.BOTH_KILLED, 40.0, 1.0, 0),)
    assert Storm(7, killed).run().broken == ()
    monkeypatch.setattr("heddle.storm.storm.restore", lambda *given, **named: [])
    assert "has put all back; " in Storm(7, killed).run().broken[0]
