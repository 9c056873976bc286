"""Lets faults happen: each begins at its time and is over when it has lasted."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from heddle.model.resources import MILLI
from heddle.storm.faults import Fault, Kind
from heddle.storm.timeline import BEGAN_S, Process
from heddle.storm.truth import By, Place
from heddle.storm.yarn import WITHOUT_LIMIT
from heddle.yarn.live.applying.standing import AM_SHARE, GUARANTEE, MAXIMUM, QUEUES

if TYPE_CHECKING:
    from heddle.storm.storm import Storm

_STARTS_ANEW: Final = (Kind.RM_RESTARTS, Kind.RM_LOSES_APPS, Kind.RM_FAILS_OVER)
ADDED: Final = "root.guest"
ADDED_SHARE: Final = 10
_OF_RM: Final = frozenset(kind for kind in Kind if kind.startswith("rm-") and kind not in _STARTS_ANEW)


class Happening:
    def __init__(self, storm: Storm) -> None:
        self._storm, self._yarn, self._machine = storm, storm.yarn, storm.machine
        # When a ResourceManager was last there, and sizes as NodeManagers knew them then.
        self._gone_s, self._unheard = 0.0, dict[str, Place]()
        self._begins: dict[Kind, Callable[[Fault], None]] = {
            Kind.RM_RESTARTS: self._rm_restarts,
            Kind.RM_LOSES_APPS: self._rm_loses_apps,
            Kind.RM_FAILS_OVER: self._rm_fails_over,
            Kind.NODE_LOST: self._node_lost,
            Kind.NODE_HANGS: self._node_hangs,
            Kind.NODE_RESIZED: self._node_resized,
            Kind.NODE_DECOMMISSIONED: self._node_decommissioned,
            Kind.NODE_ANEW: self._node_anew,
            Kind.QUEUE_CHANGED: self._queue_changed,
            Kind.QUEUE_STOPPED: self._queue_stopped,
            Kind.QUEUE_ADDED: self._queue_added,
            Kind.APP_CHANGED: self._app_changed,
            Kind.CLOCK_JUMPS: self._clock_jumps,
            Kind.DISK_FULL: self._disk_full,
            Kind.DISK_READ_ONLY: self._disk_read_only,
            Kind.CONTROLLER_KILLED: self._controller_killed,
            Kind.CONTROLLER_HANGS: self._controller_hangs,
            Kind.CONTROLLER_ENDS: self._controller_ends,
            Kind.CONTROLLER_PAUSED: self._controller_paused,
            Kind.WATCHDOG_KILLED: self._watchdog_killed,
            Kind.BOTH_KILLED: self._both_killed,
            Kind.SECOND_CONTROLLER: self._second_controller,
            Kind.OBSERVER_KILLED: self._observer_killed,
            Kind.BRIDGE_FORGETS: self._bridge_forgets,
            Kind.BRIDGE_OFF: self._bridge_off,
            Kind.BRIDGE_HEARS_AGAIN: self._bridge_hears_again,
        }
        self._begins |= dict.fromkeys(_OF_RM, self._of_rm)

    def plan(self, fault: Fault) -> None:
        self._storm.timeline.at(BEGAN_S + fault.at_s, lambda: self._begins[fault.kind](fault))

    def _then(self, fault: Fault, act: Callable[[], None], after_s: float | None = None) -> None:
        self._storm.timeline.at(self._storm.timeline.now_s + (fault.for_s if after_s is None else after_s), act)

    def _node_of(self, fault: Fault) -> str:
        names = list(self._yarn.nodes)
        return names[fault.pick % len(names)]

    # The ResourceManager.

    def _of_rm(self, fault: Fault) -> None:
        network = self._storm.network
        network.faults[fault.kind] = fault

        def over() -> None:
            if network.faults.get(fault.kind) is fault:
                del network.faults[fault.kind]
            self._rm_answers()

        self._then(fault, over)

    def _rm_answers(self) -> None:
        if self._storm.network.is_up and not self._storm.network.faults:
            self._storm.watch.answers_since_s = self._storm.watch.now_s

    def _rm_restarts(self, fault: Fault) -> None:
        self._starts_anew(fault, lambda: None)

    def _rm_loses_apps(self, fault: Fault) -> None:
        self._starts_anew(fault, self._yarn.lose_applications)

    def _rm_fails_over(self, fault: Fault) -> None:
        """Where there is one alone, it is another one at the same address."""
        self._starts_anew(fault, self._storm.network.fail_over)

    def _starts_anew(self, fault: Fault, change: Callable[[], None]) -> None:
        """Nodes come back one by one, as they know that they were made or with their own sizes; settings may be as at
        first, or as they were some seconds ago."""
        network, yarn = self._storm.network, self._yarn

        def goes() -> None:
            if network.is_up:
                self._gone_s, self._unheard = self._storm.watch.now_s, yarn.resized_unheard()
            network.is_up = False

        def up() -> None:
            goes()  # another fault may have brought it up meanwhile: it starts anew only now
            network.is_up = True
            yarn.start_anew()
            change()
            if self._storm.bridge is not None:
                self._storm.bridge.start_anew()
            loses = fault.kind is Kind.RM_LOSES_APPS
            if loses:
                self._unheard.clear()  # its NodeManagers have started anew, too
            if loses or fault.pick % 2:
                for (what, name, setting), place in list(yarn.truth.places.items()):
                    if what == QUEUES and place.by is By.US:
                        yarn.configure(name, setting, place.native, By.YARN)
            elif fault.pick // 8 % 3 == 0:
                yarn.forget_settings_since(self._gone_s - 1 - fault.pick % 7)
            for number, (name, state) in enumerate(yarn.nodes.items()):
                state.registered = False
                self._then(fault, lambda name=name: come_back(name), 0.3 + number * (fault.pick % 5))  # type: ignore[misc]
            self._rm_answers()

        def come_back(name: str) -> None:
            state = yarn.nodes[name]
            known = self._unheard.pop(name, None)
            state.registered, state.registered_s, state.kills_below = True, self._storm.watch.now_s, False
            if fault.pick // 2 % 2 and yarn.is_alive(name):
                yarn.register_anew(name)
            elif known is not None and yarn.is_alive(name):
                yarn.register_as_known(name, known)
            self._rm_answers()

        goes()
        self._then(fault, up)

    # Nodes, and people who change things.

    def _node_lost(self, fault: Fault) -> None:
        name = self._node_of(fault)
        if self._yarn.is_alive(name):
            self._yarn.lose(name)

            def back() -> None:
                self._yarn.bring_back(name)
                self._rm_answers()

            self._then(fault, back, max(1.0, fault.for_s))

    def _node_hangs(self, fault: Fault) -> None:
        name = self._node_of(fault)
        if self._yarn.is_alive(name):
            self._yarn.freeze(name, self._storm.watch.now_s)
            self._then(fault, lambda: self._yarn.thaw(name))

    def _node_resized(self, fault: Fault) -> None:
        name = self._node_of(fault)
        if self._yarn.node(name) is not None:
            size = 5000 + fault.pick % 4001, MILLI * (3 + fault.pick % 9)
            self._yarn.resize(name, size, -1, By.PERSON)

    def _node_decommissioned(self, fault: Fault) -> None:
        name = self._node_of(fault)
        self._yarn.decommission(name)

        def back() -> None:
            self._yarn.recommission(name)
            self._rm_answers()

        self._then(fault, back)

    def _node_anew(self, fault: Fault) -> None:
        name = self._node_of(fault)
        if self._yarn.is_alive(name):
            self._yarn.register_anew(name)

    def _queue_changed(self, fault: Fault) -> None:
        leaves = self._yarn.leaves
        if self._storm.has_pools and fault.pick // 2 % 2 and not self._yarn.empty_leaves:
            share = 10 + fault.pick % 81
            for leaf, of_leaf in zip(leaves, (share, 100 - share), strict=True):
                self._yarn.configure(leaf, GUARANTEE, f"{of_leaf}", By.PERSON)
                self._yarn.configure(leaf, MAXIMUM, WITHOUT_LIMIT, By.PERSON)
        else:
            leaf = leaves[fault.pick % len(leaves)]
            self._yarn.configure(leaf, AM_SHARE, f"0.{1000 + fault.pick % 7001}7", By.PERSON)

    def _queue_stopped(self, fault: Fault) -> None:
        leaf = self._yarn.leaves[fault.pick % len(self._yarn.leaves)]
        self._yarn.stopped.add(leaf)

        def starts() -> None:
            self._yarn.stopped.discard(leaf)
            self._rm_answers()

        self._then(fault, starts)

    def _queue_added(self, fault: Fault) -> None:
        """With a share that the others give, and get back when it is removed."""
        if ADDED in self._yarn.empty_leaves:
            return
        self._share_among_others(100 - ADDED_SHARE, fault.pick)
        self._yarn.add_queue(ADDED, ADDED_SHARE)

        def removed() -> None:
            self._yarn.remove_queue(ADDED)
            self._share_among_others(100, fault.pick)

        self._then(fault, removed)

    def _share_among_others(self, whole: int, pick: int) -> None:
        share = whole // 2 + pick % 7
        for leaf, of_leaf in zip(self._yarn.leaves, (share, whole - share), strict=True):
            self._yarn.configure(leaf, GUARANTEE, f"{of_leaf}", By.PERSON)
            self._yarn.configure(leaf, MAXIMUM, WITHOUT_LIMIT, By.PERSON)

    def _app_changed(self, fault: Fault) -> None:
        apps = sorted(self._yarn.look().apps)
        if apps:
            self._yarn.prioritise(apps[fault.pick % len(apps)], 20 + fault.pick % 50, By.PERSON)

    # The machine and its processes.

    def _clock_jumps(self, fault: Fault) -> None:
        self._machine.wall_s += (fault.pick % 7201) - 3600

    def _disk_full(self, fault: Fault) -> None:
        self._machine.full = True
        self._then(fault, lambda: setattr(self._machine, "full", False))

    def _disk_read_only(self, fault: Fault) -> None:
        self._machine.read_only = True
        self._then(fault, lambda: setattr(self._machine, "read_only", False))

    def _kill(self, processes: list[Process], fault: Fault) -> None:
        """Now, or between two things that it does to the world a little later."""
        for process in processes:
            if process.over or process.dead:
                continue
            if fault.pick % 4 == 0:
                self._storm.timeline.kill(process)
            else:
                self._machine.kill_after[process.name] = fault.pick // 4 % 40

    def _controller_killed(self, fault: Fault) -> None:
        self._kill(self._storm.watch.controllers, fault)

    def _watchdog_killed(self, fault: Fault) -> None:
        self._kill(self._storm.watch.watchdogs, fault)

    def _both_killed(self, fault: Fault) -> None:
        self._kill(self._storm.watch.watchdogs, fault)
        self._kill(self._storm.watch.controllers, fault)

    def _controller_hangs(self, fault: Fault) -> None:
        for process in self._storm.watch.controllers:
            self._storm.timeline.hang(process, fault.for_s)

    def _controller_ends(self, fault: Fault) -> None:
        self._storm.told_to_end |= {process.name for process in self._storm.watch.controllers}

    def _controller_paused(self, fault: Fault) -> None:
        paused = self._storm.watch.baseline.with_name("paused")
        self._machine.files[paused] = b""

        def over() -> None:
            self._machine.files.pop(paused, None)

        self._then(fault, over)

    def _second_controller(self, fault: Fault) -> None:
        self._storm.start_controller()

    def _observer_killed(self, fault: Fault) -> None:
        if self._storm.observer is not None:
            self._kill([self._storm.observer], fault)

    # The bridge, where there is one.

    def _bridge_forgets(self, fault: Fault) -> None:
        if self._storm.bridge is not None:
            self._storm.bridge.forget()

    def _bridge_off(self, fault: Fault) -> None:
        """Until a person turns it on again."""
        bridge = self._storm.bridge
        if bridge is not None:
            bridge.off = "it was slow"
            self._then(fault, lambda: setattr(bridge, "off", ""))

    def _bridge_hears_again(self, fault: Fault) -> None:
        """Now and, if that is later, when the fault is over: then it may be another ResourceManager's."""
        bridge = self._storm.bridge
        if bridge is not None:
            bridge.hear_again(fault.pick)
            self._then(fault, lambda: bridge.hear_again(fault.pick // 1000))
