"""What must hold whatever happens, checked from outside: at the wire, on the disk and in YARN.

None of it asks the code on trial what it thinks: a request is judged by what was answered to that process before.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Final

from heddle.storm.machine import Asked, Machine
from heddle.storm.network import Told
from heddle.storm.sight import Sight, may_kill, path_of, turned
from heddle.storm.sizes_watched import SizesWatched
from heddle.storm.timeline import BEGAN_S, Process
from heddle.storm.truth import By, Place
from heddle.storm.yarn import SimulatedYarn
from heddle.yarn.live.applying.seen import Limits
from heddle.yarn.live.applying.standing import LEAVES, PRIORITIES, QUEUES, SIZES, Part, same
from heddle.yarn.live.connection import Answer
from heddle.yarn.live.controller import Step
from heddle.yarn.live.metrics_age import figures_of

PUT_BACK_WITHIN_S: Final = 5.0  # beyond the lease, from when the RM answers
OBSERVER: Final = "observer"
STEADY_LEASES: Final = 4
UNDER_WAY_S: Final = 5.0  # a request that began before the RM answered again may still have to time out
_KNOBS_OF: Final = {"/nodes": (SIZES,), "/scheduler-conf": (QUEUES,), "/apps": (PRIORITIES, LEAVES)}


class Watch:
    """`lease_s`, `limits`: what the controller was told."""

    def __init__(
        self, yarn: SimulatedYarn, machine: Machine, baseline: Path, lease_s: float, limits: Limits, preempts: bool
    ) -> None:
        self._yarn, self._machine, self.baseline = yarn, machine, baseline
        self._lease_s, self._preempts = lease_s, preempts
        self.sizes = SizesWatched(yarn, limits, preempts)
        self._sights: dict[str, Sight] = {}
        self.controllers: list[Process] = []
        self.watchdogs: list[Process] = []
        self.stepped_s = self.answers_since_s = self.guarded_since_s = 0.0
        self.changes = self._unguarded_steps = 0
        self.hindered: set[str] = set()  # processes to whom a read was not, or not truly, answered in their last step
        self._last_answered: dict[str, bool] = {}
        self.out_of_action: set[str] = set()  # processes that were so for longer than the lease, and go on now
        self._steady_s: dict[str, tuple[float, float]] = {}  # a step each lease: since when, and the last one
        self._empty_since_s: dict[str, float] = {}
        self._paused_since_s = math.inf
        self.observers_misled_s = -1.0
        self.broken: list[str] = []

    def breaks(self, what: str) -> None:
        self.broken.append(f"{self.now_s:.1f} s: {what}")

    @property
    def now_s(self) -> float:
        return self._machine.timeline.now_s - BEGAN_S

    # What processes are told and ask for.

    def sight_of(self, process: Process) -> Sight:
        return self._sights.setdefault(process.name, Sight())

    def heard(self, process: Process, target: str, answer: Answer, told: Told) -> None:
        sight = self.sight_of(process)
        path = path_of(target)
        if told is not Told.TRUE:
            self.hindered.add(process.name)
            if process.name.startswith(OBSERVER):
                self.observers_misled_s = self.now_s
        for kind in _KNOBS_OF.get(path, ()):
            sight.told[kind] = told
            if told is not Told.TRUE:
                sight.misled.add(kind)
            else:
                sight.reads_s.setdefault(kind, []).append(self.now_s)
                if process in (*self.controllers, *self.watchdogs):
                    self._yarn.truth.show(kind)
        if path == "/nodes":
            sight.nodes_text = answer.text
        if path == "/scheduler":
            sight.queues_text = answer.text

    def before(self, process: Process, asked: Asked, asked_s: float) -> None:
        """A change, just before it comes true. `asked_s`: when it was on its way, by the timeline."""
        self.changes += 1
        sight = self.sight_of(process)
        if process in self.watchdogs and (steady := self._steady_controller()):
            self.breaks(f"{process.name} puts something back, though {steady} steps as it should")
        if may_kill(asked):
            self.breaks(f"{process.name} resizes a node so that containers may be killed: {asked.body}")
        if self._machine.timeline.now_s - asked_s > self._lease_s:
            return  # it hung with a request on its way: nobody could hold that back, and it puts everything back next
        for part, value in turned(asked):
            place = self._yarn.truth.places.get(part)
            if place is None or same(part[0], place.now, value):
                continue
            if place.by is By.PERSON:
                if sight.knew_better(part[0], place):
                    self.breaks(f"{process.name} overwrites what a person set: {part} from {place.now} to {value}")
                elif sight.was_told_otherwise(part[0], place):
                    place.is_seen = False
            rightful = (place.native_as_told, *place.unseen, *place.not_believed(self.now_s))
            if not any(same(part[0], value, one) for one in rightful):
                if process in self.controllers and self.was_paused():
                    self.breaks(f"{process.name} changes {part}, though it was paused before its step began")
                self._must_be_on_disk(process, part, place)
                self.must_have_begun_anew(process)
                if part[0] == SIZES:
                    for wrong in self.sizes.wrong_with(part[1], value, place, sight, self.now_s):
                        self.breaks(f"{process.name} {wrong}")

    def was_paused(self) -> bool:
        """Before the step of now began; or, between two steps, before the last one did."""
        return self._is_paused and self._paused_since_s < self.stepped_s

    @property
    def _is_paused(self) -> bool:
        return self.baseline.with_name("paused") in self._machine.files

    def must_have_begun_anew(self, process: Process) -> None:
        """It changes something. If it was out of action for longer than the lease, everything was put back first."""
        if process.name in self.out_of_action:
            self.out_of_action.remove(process.name)
            self.must_be_as_found(f"{process.name} was out of action and goes on; ", self.stepped_s)

    def late(self, asked: Asked, asked_s: float) -> None:
        """A change that was asked for then takes effect now: what a person has set since, it could not spare."""
        for part, _ in turned(asked):
            place = self._yarn.truth.places.get(part)
            if place is not None and place.by is By.PERSON and BEGAN_S + place.since_s >= asked_s:
                place.is_seen = False

    def _must_be_on_disk(self, process: Process, part: Part, place: Place) -> None:
        what, name, setting = part
        try:
            found = json.loads(self._machine.files[self.baseline])["found"][what][name]
        except (KeyError, ValueError):
            self.breaks(f"{process.name} changes {part}, and how it was is not on disk")
            return
        value = found.get(setting) if setting else tuple(found) if what == SIZES else found
        if not any(same(what, value, native) for native in place.found):
            self.breaks(f"{process.name} changes {part}, and on disk it was {value}, not {place.native}")

    # From time to time.

    @property
    def is_guarded(self) -> bool:
        """Whether somebody lives who can put things back, and does not hang."""
        now_s = self._machine.timeline.now_s
        guards = (*self.controllers, *self.watchdogs)
        return any(not one.over and not one.dead and one.hangs_until_s <= now_s for one in guards)

    def look(self) -> None:
        """Once a second."""
        self._note_what_is_empty()
        self._paused_since_s = min(self._paused_since_s, self.now_s) if self._is_paused else math.inf
        if not self.is_guarded:
            self.guarded_since_s = self.now_s
        if self._yarn.killed:
            self.breaks(f"containers are killed: {self._yarn.killed[0]}")
        leased_until_s = self.stepped_s + self._lease_s
        since_s = max(leased_until_s, self.answers_since_s + UNDER_WAY_S, self.guarded_since_s)
        if self.now_s <= since_s + PUT_BACK_WITHIN_S:
            return
        self.must_be_as_found()

    def must_be_as_found(self, why: str = "", of_s: float = math.inf) -> None:
        """But for nodes that a ResourceManager has known for less long: nobody could ask for their size."""
        for (what, name, setting), place in self._yarn.truth.ours().items():
            if what == SIZES and self._yarn.nodes[name].registered_s > of_s:
                continue
            if what != SIZES or self._can_be_put_back(name):
                self.breaks(f"{why}{what} {name} {setting} is still {place.now} and was {place.native}")

    def must_be_handed_back(self) -> None:
        """A policy that says nothing is in force: nothing is as another has made it, but for sizes that a guard keeps,
        because YARN would preempt, or kill for a smaller one."""
        for (what, name, setting), place in self._yarn.truth.ours().items():
            if what == SIZES:
                node = self._yarn.node(name)
                if self._preempts or node is None or not node.resizable or self._yarn.nodes[name].may_kill:
                    continue
            self.breaks(f"{what} {name} {setting} is still {place.now}, which no policy in force wants")

    def step_begins(self, process: Process) -> None:
        self.stepped_s = self.now_s
        self.hindered.discard(process.name)
        since_s, last_s = self._steady_s.get(process.name, (self.now_s, self.now_s))
        self._steady_s[process.name] = (since_s if self.now_s - last_s < self._lease_s else self.now_s), self.now_s

    def step_refused(self, process: Process) -> None:
        """Its disk does not let it go on: it ends, and may not have told its watchdog that it lives."""
        self._steady_s.pop(process.name, None)

    def _steady_controller(self) -> str:
        """One that has begun a step in each lease, for so long that whoever took over from it must have noticed."""
        for one in self.controllers:
            since_s, last_s = self._steady_s.get(one.name, (self.now_s, 0.0))
            lives = not one.over and not one.dead and self.now_s - last_s < self._lease_s
            if lives and self.now_s - since_s > STEADY_LEASES * self._lease_s:
                return one.name
        return ""

    def begins_anew(self, process: Process) -> None:
        """It says that it was inactive for longer than the lease."""
        since_s, last_s = self._steady_s[process.name]
        if since_s < last_s:
            self.breaks(f"{process.name} begins anew without having been inactive")

    def gives_up(self, process: Process, names: list[str]) -> None:
        """It says that these nodes, queues or applications are somebody else's."""
        misled, places = self._sights[process.name].misled, self._yarn.truth.places
        for named in names:
            parts = [part for part in places if part[1] == named]
            touched = any(places[part].is_touched for part in parts)
            if parts and not touched and misled.isdisjoint(what for what, _, _ in parts):
                self.breaks(f"{process.name} leaves {named} to somebody else, and nobody has touched it")

    def watchdog_ends(self, process: Process) -> None:
        """Of its own accord: then nothing is left to put back, or somebody else is at it."""
        others = (one for one in (*self.controllers, *self.watchdogs) if one is not process)
        if all(one.over or one.dead for one in others):
            self.must_be_as_found(f"{process.name} has ended and nobody is on guard; ")

    def _can_be_put_back(self, name: str) -> bool:
        """A node that is there; but on one that was decommissioned once, a smaller size may kill what it holds."""
        state, node = self._yarn.nodes[name], self._yarn.node(name)
        if node is None or not node.resizable:
            return False
        return not state.may_kill or self.now_s - self._empty_since_s.get(name, self.now_s) > PUT_BACK_WITHIN_S

    def _note_what_is_empty(self) -> None:
        """Since when nodes hold nothing."""
        for name in self._yarn.nodes:
            node = self._yarn.node(name)
            if node is None or any(node.allocated):
                self._empty_since_s.pop(name, None)
            else:
                self._empty_since_s.setdefault(name, self.now_s)

    def stepped(self, process: Process, answered: bool) -> None:
        """At the end of every step: what is changed has a watchdog; one that was killed is replaced within a step. What
        keeps changes from being made costs no step."""
        hindered, was_answered = process.name in self.hindered, self._last_answered.get(process.name, False)
        # It puts everything back first, and that may be refused.
        hindered |= self._is_paused or process.name in self.out_of_action
        if not answered and was_answered and not hindered and self.now_s - self.stepped_s < self._lease_s:
            self.breaks(f"{process.name} makes no step, though whatever it read was answered")
        self._last_answered[process.name] = answered
        guarded = any(not one.over and not one.dead for one in self.watchdogs)
        self._unguarded_steps = 0 if guarded or not self._yarn.truth.ours() else self._unguarded_steps + 1
        if self._unguarded_steps > 1:
            self.breaks(f"{process.name} has changed something, and no watchdog is on guard")

    def step(self, process: Process, step: Step) -> None:
        """What it saw, it knows from now on."""
        self.out_of_action.discard(process.name)
        figures_s = self._sights[process.name].figures_s
        for name, node in step.snapshot.nodes.items():
            if name not in figures_s or figures_s[name][0] != figures_of(node):
                figures_s[name] = figures_of(node), self.now_s
            if name in self._yarn.nodes and node.state == "DECOMMISSIONING":
                self._yarn.nodes[name].told = True
