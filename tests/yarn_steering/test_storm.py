"""The storm: it runs as it is told, replays exactly, shrinks what it finds; a short one finds nothing."""

import inspect
import json
from dataclasses import replace

import pytest

from cli.schemas import valid
from heddle.cli.main import run
from heddle.storm.faults import Fault, Kind
from heddle.storm.recorded import wrongly_recorded
from heddle.storm.shrink import shrunk
from heddle.storm.storm import JOURNAL, Storm
from heddle.yarn.live.applying import guards
from heddle.yarn.live.applying.applier import Applier
from heddle.yarn.live.applying.handing_over import HandingOver
from heddle.yarn.live.applying.table_knob import BridgeKnob
from heddle.yarn.live.bridge.endpoint import BridgeEndpoint
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.steering.session import Session


def test_without_faults_it_steers_and_puts_everything_back() -> None:
    storm = Storm(0, ())
    outcome = storm.run()
    assert outcome.broken == ()
    assert outcome.steps >= 145
    assert outcome.changes > 50
    assert not storm.yarn.truth.ours()
    assert "restored and verified" in outcome.trail[-1]


@pytest.mark.parametrize("seed", [5, 11])
def test_a_short_storm_breaks_nothing_and_replays_exactly(seed: int) -> None:
    outcome = Storm(seed).run()
    assert outcome.broken == ()
    assert Storm(seed).run() == outcome


def test_what_the_journal_leaves_out_or_doubles_is_noticed() -> None:
    storm = Storm(0, ())
    storm.run()
    whole = [json.loads(line) for line in storm.machine.files[JOURNAL].splitlines()]
    ends = [entry for entry in whole if entry["what"] == "app" and entry["ended_at_ms"] is not None]
    assert len(ends) > 3
    assert list(wrongly_recorded(storm.yarn, whole, 140_000)) == []
    wrong = {"0 times": [one for one in whole if one is not ends[0]], "2 times": [*whole, ends[0]]}
    for words, entries in wrong.items():
        (said,) = wrongly_recorded(storm.yarn, entries, 140_000)
        assert words in said


def test_the_command_tells_how_much_it_has_run(capsys: pytest.CaptureFixture[str]) -> None:
    """The short storm of every test run."""
    assert run(["yarn", "storm", "--seeds", "6", "--first", "100", "--json"]) == 0
    told = valid("yarn storm", json.loads(capsys.readouterr().out))
    assert (told["seeds"], told["first"], told["broken"]) == (6, 100, [])
    assert told["steps"] > 6 * 60
    assert 10 < told["pairs_of_faults"] < told["pairs_there_are"] == len(Kind) * (len(Kind) - 1) // 2


def test_the_command_prints_the_seed_that_replays_what_broke(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("heddle.yarn.live.client.KEEP_CONTAINERS", 0)
    assert run(["yarn", "storm", "--seeds", "1", "--first", "3", "--json"]) == 1
    told = valid("yarn storm", json.loads(capsys.readouterr().out))
    assert (told["seed"], told["faults"]) == (3, [])
    assert told["again"] == "heddle yarn storm --first 3 --seeds 1"


def test_what_it_finds_is_shrunk_to_few_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    """A shrink that kills: no fault is needed to find it."""
    monkeypatch.setattr("heddle.yarn.live.client.KEEP_CONTAINERS", 0)
    outcome = Storm(3).run()
    assert "containers may be killed" in outcome.broken[0]
    assert shrunk(replace(outcome, faults=outcome.faults[:2])).faults == ()


def test_it_shrinks_to_the_one_fault_that_matters(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the rule for stale metrics, one node that hangs is enough."""
    without = tuple(guard for guard in guards.GUARDS if guard is not guards.distrust_stale_metrics)
    monkeypatch.setattr("heddle.yarn.live.applying.applier.Applier.__init__.__defaults__", _defaults(without))
    hangs = [Fault(Kind.NODE_HANGS, 20.0 + node, 60.0, node) for node in range(3)]
    outcome = Storm(1, (Fault(Kind.CLOCK_JUMPS, 10.0, 1.0, 1), *hangs)).run()
    assert "figures that stand still" in outcome.broken[0]
    assert [fault.kind for fault in shrunk(outcome).faults] == [Kind.NODE_HANGS]


def _defaults(given: tuple[guards.Guard, ...]) -> tuple[object, ...]:
    """Of an applier, with these guards."""
    parameters = inspect.signature(Applier.__init__).parameters
    named = {name: one.default for name, one in parameters.items() if one.default is not one.empty}
    return tuple((named | {"guards": given}).values())


def test_policies_change_in_a_storm_and_what_the_last_one_turned_is_handed_back() -> None:
    outcome = Storm(0, chooses=True).run()
    assert outcome.broken == ()
    assert outcome.policy_changes > 1
    assert any("stays in force" in line for line in outcome.trail)
    assert Storm(0, chooses=True).run() == outcome


@pytest.mark.parametrize("seed", [0, 1])
def test_what_is_not_handed_back_is_noticed(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    monkeypatch.setattr(HandingOver, "begin", lambda self, ownership: None)
    assert "which no policy in force wants" in Storm(seed, (), chooses=True).run().broken[0]


def test_the_command_tells_of_changes_of_policy(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["yarn", "storm", "--seeds", "3", "--first", "100", "--choose", "--json"]) == 0
    assert valid("yarn storm", json.loads(capsys.readouterr().out))["policy_changes"] > 3


def bridged(policy: str) -> int:
    """The first seed whose ResourceManager has the bridge, which has a use for it with this policy."""
    return next(seed for seed in range(99) if (storm := Storm(seed, ())).bridge and storm.policy.startswith(policy))


@pytest.mark.parametrize("policy", ["haste", "smallest-first"])
def test_tables_go_to_the_bridge_and_none_is_left(policy: str) -> None:
    storm = Storm(bridged(policy), ())
    outcome = storm.run()
    assert outcome.broken == ()
    assert storm.bridge is not None
    assert storm.bridge.accepted > 140
    assert storm.bridge.current is None


@pytest.mark.parametrize("kind", [Kind.RM_FAILS_OVER, Kind.BRIDGE_FORGETS, Kind.BRIDGE_OFF, Kind.BRIDGE_HEARS_AGAIN])
def test_tables_go_on_after(kind: Kind) -> None:
    storm = Storm(bridged("haste"), (Fault(kind, 40.0, 5.0, 77_003),))
    outcome = storm.run()
    assert outcome.broken == ()
    assert storm.bridge is not None
    assert storm.bridge.accepted > 120


def another_address(self: RmClient, address: str, *given: object, **named: object) -> None:
    """A client that knows the first ResourceManager alone."""
    known(self, address.split(",")[0], *given, **named)


known = RmClient.__init__
AT_40_S = (Fault(Kind.RM_FAILS_OVER, 40.0, 5.0, 0),)
PAUSED = (Fault(Kind.CONTROLLER_PAUSED, 40.0, 30.0, 0),)


@pytest.mark.parametrize(
    ("where", "name", "instead", "faults", "told"),
    [
        (BridgeKnob, "for_steps", lambda e, leaves, *_: BridgeKnob(e, leaves, 99_000, 0), (), "longer than its lease"),
        (Session, "_drop_table", lambda self: None, (), "left its table behind"),
        (Session, "_heed_pause", lambda self, controller: None, PAUSED, "though it was paused"),
        (BridgeEndpoint, "_next_version", lambda self: 7, (), "which has no table"),
        (RmClient, "__init__", another_address, AT_40_S, "nobody steers"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_tables_or_failover_is_noticed(
    monkeypatch: pytest.MonkeyPatch, where: type, name: str, instead: object, faults: tuple[Fault, ...], told: str
) -> None:
    seed = next(s for s in range(99) if (one := Storm(s, ())).bridge and one.policy[0] == "h" and "," in one.rm)
    monkeypatch.setattr(where, name, instead)
    assert told in Storm(seed, faults).run().broken[0]


def test_what_was_sent_before_is_not_heard_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """By its version; and by its signature, which names the ResourceManager that it was meant for."""
    storm = Storm(bridged("haste"), ())
    storm.run()
    bridge = storm.bridge
    assert bridge is not None
    bridge.hear_again(5)
    bridge.start_anew()
    bridge.hear_again(5)
    assert bridge.heard_twice == []
    bridge._starts -= 1
    monkeypatch.setattr("heddle.storm.bridge.CLOCKS_DIFFER_MS", 1_000_000)
    bridge.hear_again(5)
    assert len(bridge.heard_twice) == 1
