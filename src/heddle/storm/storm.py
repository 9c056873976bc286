"""One storm: a seed, its faults, the real code in a simulated world, and what broke."""

from __future__ import annotations

import io
import json
import traceback
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from random import Random
from typing import Final

from heddle.model.errors import HeddleError, RunRefused
from heddle.policy.parse import parse_policy
from heddle.policy.policy import Policy
from heddle.storm.answers import RmAnswers
from heddle.storm.bridge import SECRET, SimulatedBridge
from heddle.storm.causes_watched import CausesWatched
from heddle.storm.choices_watched import ChoicesWatched
from heddle.storm.counted import wrongly_counted, wrongly_taken_for_ams
from heddle.storm.decisions_watched import DecisionsWatched
from heddle.storm.drawn_choices import RULE, STOCK, DrawnChoices
from heddle.storm.faults import OF_BRIDGE, Fault, Kind, draw_faults
from heddle.storm.happening import Happening
from heddle.storm.listening import AskedNow
from heddle.storm.machine import Asked, Machine
from heddle.storm.names_watched import GIVEN_UP, NamesWatched, named_in
from heddle.storm.network import Network
from heddle.storm.recorded import seen_in, wrong_with_ledger, wrongly_held, wrongly_recorded
from heddle.storm.tables_watched import TablesWatched
from heddle.storm.timeline import BEGAN_S, Process, Timeline
from heddle.storm.watch import OBSERVER, Watch
from heddle.storm.yarn import SimulatedYarn
from heddle.twin.choosing import Choosing
from heddle.twin.live_choice import LiveChoice
from heddle.twin.rollouts import Candidate
from heddle.yarn.live.applying.seen import Limits
from heddle.yarn.live.applying.table_knob import BridgeKnob
from heddle.yarn.live.applying.wanted import pool_leaf, without_knob
from heddle.yarn.live.bridge.endpoint import BridgeEndpoint
from heddle.yarn.live.client import OK, RmClient
from heddle.yarn.live.connection import Answer
from heddle.yarn.live.controller import Settings, Step
from heddle.yarn.live.steering import watchdog
from heddle.yarn.live.steering.between_steps import BetweenSteps
from heddle.yarn.live.steering.bridging import leaves_to_decide
from heddle.yarn.live.steering.desk import Desk
from heddle.yarn.live.steering.session import Say, Session, Terms, restore
from heddle.yarn.live.wire import YarnError
from heddle.yarn.live.world import Clock
from heddle.yarn.observe.journal import Journal
from heddle.yarn.observe.observer import Observer

ADDRESSES: Final = ("http://rm1.example:8088", "http://rm2.example:8088")
FOLDER: Final = Path("/desk")
JOURNAL: Final = Path("/journal.jsonl")
LEAF_NAMES: Final = ("root.default", "root.batch")
LEASE_S: Final = 10.0
FAULTS_UNTIL_S: Final = 90.0
STEERS_AGAIN_WITHIN_S: Final = 60.0  # when the last fault is over
ENDS_WITHIN_S: Final = 20.0
NOT_FOUND: Final = 404
RESTORED_WITHIN_S: Final = 5.0
SEEN_WITHIN_S: Final = 30.0  # what has ended is in the journal
POLICIES: Final = (
    "admission-control+usage-feedback(damping=1)",
    "smallest-first+usage-feedback(damping=1)+max-running(jobs=3)",
)
POOLED: Final = (
    "dress+usage-feedback(damping=1)",
    "small-pool(share=0.3, theta=0.3)+smallest-first+max-running(jobs=4)",
)
BY_BRIDGE: Final = "haste+usage-feedback(damping=1)+admission-control"  # no knob of stock YARN orders so
EVERY_S: Final = 1.0


@dataclass(frozen=True)
class Outcome:
    """`broken`: what did not hold, the first first; empty: all did. `trail` tells whether two runs were the same."""

    seed: int
    faults: tuple[Fault, ...]
    broken: tuple[str, ...]
    steps: int
    changes: int
    trail: tuple[str, ...]
    chooses: bool = False
    policy_changes: int = 0


class _WatchdogLog(io.StringIO):
    """What watchdogs print: nobody keeps it, but for the names in it."""

    def __init__(self, names: NamesWatched) -> None:
        super().__init__()
        self._names = names

    def write(self, text: str, /) -> int:
        self._names.told(text)
        return len(text)


class Storm:
    """Builds the world of a seed and runs it."""

    def __init__(self, seed: int, faults: tuple[Fault, ...] | None = None, chooses: bool = False) -> None:
        """`chooses`: the policy in force changes now and then."""
        self.seed, self.chooses = seed, chooses
        random = Random(f"{seed} world")
        has_bridge = random.random() < 0.4 and not chooses  # what is chosen between are ways to turn knobs
        kinds = tuple(kind for kind in Kind if has_bridge or kind not in OF_BRIDGE)
        self.faults = draw_faults(Random(f"{seed} faults"), FAULTS_UNTIL_S, kinds) if faults is None else faults
        addresses = ADDRESSES[: random.choice((1, 2))]
        self.rm = ",".join(addresses)
        self.timeline = Timeline()
        self._lasts_s = FAULTS_UNTIL_S + STEERS_AGAIN_WITHIN_S + ENDS_WITHIN_S
        preempts = random.random() < 0.3
        # What moves pools is refused where YARN preempts, and the bridge orders within leaves.
        self.has_pools = Random(f"{seed} pools").random() < 0.5 and not preempts and not has_bridge
        leaves = (pool_leaf(0), pool_leaf(1)) if self.has_pools else LEAF_NAMES
        self.yarn = SimulatedYarn(random, leaves, round(self._lasts_s), self.now_ms, preempts)
        configured = {"yarn.cluster.max-application-priority": "10"}
        if not preempts or random.random() < 0.5:  # one that does not say may preempt
            configured["yarn.resourcemanager.scheduler.monitor.enable"] = "true" if preempts else "false"
        self.machine = Machine(self.timeline, Random(f"{seed} kills"), self._ask, self._start_watchdog)
        only = frozenset(list(self.yarn.nodes)[1:]) if random.random() < 0.2 else None
        self.limits = Limits(random.choice((1.5, 2.5)), 0.5, 6000, 0.8, only, keep_largest=True)
        self.watch = Watch(self.yarn, self.machine, FOLDER / "baseline.json", LEASE_S, self.limits, preempts)
        self._decisions, self._names = DecisionsWatched(self.watch, self.yarn), NamesWatched(self.watch, self.yarn)
        self._causes = CausesWatched(self.watch, self.yarn, self.limits, preempts, chooses)
        self._choices = ChoicesWatched(self.watch, RULE.rest_ms / 1000)
        bridged = frozenset(leaves if random.random() < 0.7 else leaves[:1])
        self.bridge = SimulatedBridge(self.yarn, bridged, self.now_ms) if has_bridge else None
        self._tables = (
            TablesWatched(self.bridge, self.watch, self.machine, LEASE_S, self.limits) if self.bridge else None
        )
        rm, random_net = RmAnswers(self.yarn, configured, self.bridge), Random(f"{seed} net")
        self.network = Network(
            self.timeline, random_net, rm, addresses, self._before, self.watch.late, self.watch.heard
        )
        policy = random.choice((*POLICIES, BY_BRIDGE) if has_bridge else POOLED if self.has_pools else POLICIES)
        others = (*(other for other in POLICIES if other != policy), STOCK) if chooses else ()
        self.policy, self._policies = policy, [policy, *others]
        self._operator = Random(f"{seed} operator")
        self.said: list[str] = []
        self.told_to_end: set[str] = set()
        self.steps = self._started = 0
        self._answered_s = 0.0
        self.observer: Process | None = None
        self.is_over = False

    def now_ms(self) -> int:
        return round(1000 * (self.timeline.now_s - BEGAN_S))

    def _ask(self, process: Process, timeout_s: float, asked: Asked) -> Answer:
        if self._tables is not None:
            self._tables.asks(process, asked)
        try:
            answer = self.network.ask(process, timeout_s, asked)
        except (OSError, HTTPException):
            self.watch.hindered.add(process.name)
            raise
        if asked.method == "GET" and answer.status not in (OK, NOT_FOUND):
            self.watch.hindered.add(process.name)
        return answer

    def _before(self, process: Process, asked: Asked, asked_s: float) -> None:
        self.watch.before(process, asked, asked_s)
        self._decisions.before(process, asked)
        if self._tables is not None:
            self._tables.before(process, asked)

    def run(self) -> Outcome:
        with redirect_stdout(_WatchdogLog(self._names)):
            happening = Happening(self)
            self._begin()
            for fault in self.faults:
                happening.plan(fault)
            try:
                self._until(FAULTS_UNTIL_S + STEERS_AGAIN_WITHIN_S)
                self._must_steer()
                self.is_over = True
                self.told_to_end |= {process.name for process in self.watch.controllers}
                self._until(self._lasts_s)
                if not self.watch.is_guarded and self.watch.baseline in self.machine.files:
                    self._start_restore()  # both are dead: that is up to a person
                    self._until(self._lasts_s + RESTORED_WITHIN_S)
                self._must_be_as_found()
            finally:
                self.timeline.end()
        broken = tuple(self.watch.broken)
        return Outcome(
            self.seed, self.faults, broken, self.steps, self.watch.changes, tuple(self.said), self.chooses,
            self._choices.changes,
        )  # fmt: skip

    def _begin(self) -> None:
        self.start_controller()
        self.start_observer()
        self.timeline.at(self.timeline.now_s + 1, self._every_second)

    def _every_second(self) -> None:
        if self.network.faults or not self.network.is_up or self.yarn.stopped:  # nothing is moved to where it was
            self.watch.answers_since_s = self.watch.now_s
        self.watch.look()
        if self._tables is not None:
            self._tables.look()
        self.timeline.at(self.timeline.now_s + 1, self._every_second)

    def _until(self, at_s: float) -> None:
        while self.timeline.now_s < BEGAN_S + at_s and not self.watch.broken:
            self.timeline.run_until(min(self.timeline.now_s + 1, BEGAN_S + at_s))

    def _must_steer(self) -> None:
        if not self.watch.broken and self.watch.now_s - self._answered_s > 5:
            self.watch.breaks(f"{STEERS_AGAIN_WITHIN_S:g} s after the last fault nobody steers")
        if not self.watch.broken and self._tables is not None:
            self._tables.must_be_renewed()
        if not self.watch.broken and self.chooses:  # by then YARN alone is in force
            self.watch.must_be_handed_back()

    def _must_be_as_found(self) -> None:
        if self.watch.broken:
            return
        self.watch.must_be_as_found()
        if self._tables is not None:
            self._tables.must_be_gone()
        journal = [
            json.loads(line) for line in self.machine.files[JOURNAL].splitlines(keepends=True) if line[-1:] == b"\n"
        ]
        seen = seen_in(journal)
        for wrong in (
            *wrongly_recorded(self.yarn, journal, round(1000 * (self._lasts_s - SEEN_WITHIN_S))),
            *wrongly_held(self.yarn, seen, journal, round(1000 * self.watch.observers_misled_s)),
            *wrong_with_ledger(seen),
        ):
            self.watch.breaks(wrong)

    # The programs.

    def start_controller(self) -> None:
        """Whether or not another one is at work, which only one may be."""
        self.watch.controllers.append(self._start("controller", self._steer))

    def _start_unless_one_lives(self) -> None:
        if all(process.over or process.dead for process in self.watch.controllers):
            self.start_controller()

    def _steer(self, process: Process) -> None:
        world = self.machine.as_process(process)
        settings = Settings(shadow=False, limits=self.limits)
        desk, terms, at_work = Desk(FOLDER, world), Terms(LEASE_S, accept_sizes=True), False
        if not desk.has_baseline:  # what an earlier controller knew went with what it had to put back
            self.yarn.truth.forget_ours()
            for state in self.yarn.nodes.values():
                state.told = False
        try:
            with RmClient(self.rm, timeout_s=4.0, connect=world.connect) as client:
                policy, *others = (parse_policy(name) for name in self._policies)
                endpoint = BridgeEndpoint(client, SECRET, world.clock.time)
                bridge = self._knob(process, client, endpoint, policy)
                session = Session(client, policy, settings, desk, terms, self._say(process), bridge, others)
                between = BetweenSteps(session, AskedNow(endpoint, world.clock), world.clock) if bridge else None
                choice = self._choice(process, world.clock) if self.chooses else None
                with session.at_work():
                    answered_s, at_work = world.clock.monotonic(), True
                    while process.name not in self.told_to_end:
                        began_s = world.clock.monotonic()
                        if began_s - answered_s > LEASE_S:
                            self.watch.out_of_action.add(process.name)
                            answered_s = began_s
                        self.watch.step_begins(process)
                        self._decisions.step_begins(process)
                        try:
                            step = session.step()
                        except RunRefused:
                            self.watch.step_refused(process)
                            raise
                        self.steps += 1
                        self.watch.stepped(process, step is not None)
                        if step is not None and session.live is not None:
                            self._decisions.step(process, step.turns)
                            self._causes.step(process, step, session.live)
                        if choice is not None:
                            told = choice.after(step, session.found, session.paused)
                            self._choices.stepped(process, told.in_force)
                            session.put_in_force(told.in_force)
                        if step is not None:
                            self._answered_s, answered_s = self.watch.now_s, world.clock.monotonic()
                            self.watch.step(process, step)
                            self._must_be_counted(process, session, step)
                        left_s = max(0.0, began_s + EVERY_S - world.clock.monotonic())
                        world.clock.sleep(left_s) if between is None else between.wait(left_s)
                if self._tables is not None:
                    self._tables.ends(process)
        except HeddleError as refused:
            self._say(process)(f"ended: {refused}")
            if at_work and isinstance(refused, YarnError):
                self.watch.breaks(f"{process.name} ends by what a ResourceManager answers, or does not: {refused}")
        except Exception:
            self.watch.breaks(f"{process.name} fails: {traceback.format_exc(limit=-4)}")
        finally:
            if not self.is_over:
                self._start_again_later()

    def _must_be_counted(self, process: Process, session: Session, step: Step) -> None:
        wrong = wrongly_counted(session.live, step.snapshot) if session.live else []
        if process.name not in self.watch.hindered:
            wrong += wrongly_taken_for_ams(step.snapshot, self.yarn.am_ids)
        for what in wrong:
            self.watch.breaks(f"{process.name}: {what}")

    def _knob(self, process: Process, client: RmClient, endpoint: BridgeEndpoint, policy: Policy) -> BridgeKnob | None:
        """As `heddle yarn steer` has it."""
        leaves = leaves_to_decide(client, endpoint, policy, True, self._say(process)) if self.bridge else frozenset()
        if missing := without_knob(policy, bool(leaves)):
            raise RunRefused(f"cannot be acted on: {missing}")
        if self._tables is None or not leaves:
            return None
        self._tables.by_table.add(process.name)
        return BridgeKnob.for_steps(endpoint, leaves, EVERY_S, LEASE_S)

    def _choice(self, process: Process, clock: Clock) -> LiveChoice:
        """As `heddle yarn steer --choose` has it, but for who looks ahead."""
        random = Random(f"{self.seed} choices of {process.name}")
        ahead = DrawnChoices(
            random, clock.monotonic, self._policies, self._is_calm, lambda late: self._choices.told(process, late)
        )
        candidates = [Candidate.of(name, "yarn-knobs") for name in self._policies]
        return LiveChoice(Choosing(candidates, RULE), ahead, clock, self._say(process))

    def _is_calm(self) -> bool:
        return self.watch.now_s > FAULTS_UNTIL_S

    def _start_again_later(self) -> None:
        """Somebody, or a service manager, starts it again; now and then `restore` comes first."""
        later_s = self._operator.choice((2.0, 8.0, 25.0))
        if self._operator.random() < 0.3:
            self.timeline.at(self.timeline.now_s + later_s / 2, self._start_restore)
        self.timeline.at(self.timeline.now_s + later_s, self._start_unless_one_lives)

    def _start_restore(self) -> None:
        self._start("restore", self._restore)

    def _restore(self, process: Process) -> None:
        world, began_s = self.machine.as_process(process), self.watch.now_s
        try:
            with RmClient(self.rm, timeout_s=4.0, connect=world.connect) as client:
                restore(client, Desk(FOLDER, world), from_nodes=False, say=self._say(process))
            if process.name not in self.watch.hindered:
                self.watch.must_be_as_found(f"{process.name} has put all back; ", began_s)
            if self.watch.baseline not in self.machine.files:
                self._names.all_is_back(process)
        except HeddleError as refused:
            self._say(process)(f"ended: {refused}")
        except Exception:
            self.watch.breaks(f"{process.name} fails: {traceback.format_exc(limit=-4)}")

    def _start(self, name: str, program: Callable[[Process], None]) -> Process:
        self._started += 1
        return self.timeline.start(f"{name} {self._started}", program)

    def _start_watchdog(self, command: Sequence[str]) -> None:
        """The one program that steering starts: `python -m heddle.yarn.live.steering.watchdog FOLDER LEASE`."""
        folder, lease_s = command[-2:]

        def guard(process: Process) -> None:
            try:
                watchdog.main(Desk(Path(folder), self.machine.as_process(process)), float(lease_s))
                self.watch.watchdog_ends(process)
                if self.watch.baseline not in self.machine.files:
                    self._names.all_is_back(process)
            except Exception:
                self.watch.breaks(f"{process.name} fails: {traceback.format_exc(limit=-4)}")

        self.watch.watchdogs.append(self._start("watchdog", guard))

    def start_observer(self) -> None:
        self.observer = self._start(OBSERVER, self._observe)

    def _observe(self, process: Process) -> None:
        world = self.machine.as_process(process)
        try:
            with RmClient(self.rm, timeout_s=4.0, connect=world.connect) as client:
                journal = Journal(JOURNAL, self._say(process), world.files)
                observer = Observer(client, journal, lambda: round(1000 * world.clock.time()))
                while True:
                    try:
                        observer.poll()
                    except HeddleError as error:
                        self._say(process)(str(error))
                    world.clock.sleep(3.0)
        except HeddleError as refused:
            self._say(process)(f"ended: {refused}")
        except Exception:
            self.watch.breaks(f"{process.name} fails: {traceback.format_exc(limit=-4)}")
        finally:
            self.timeline.at(self.timeline.now_s + 2, self.start_observer)

    def _say(self, process: Process) -> Say:
        def say(text: str) -> None:
            self.said.append(f"{self.watch.now_s:.3f} {process.name}: {text}")
            if text.startswith("inactive for longer than the lease"):
                self.watch.begins_anew(process)
            if GIVEN_UP in text:
                self._names.told(text)
                self.watch.gives_up(process, named_in(text))
            if text.startswith("restored and verified"):
                self._names.all_is_back(process)

        return say
