"""What befalls a controller in a soak, drawn from a seed: one thing at a time, and what came of it.

First its lives are short: it is killed (SIGKILL) again and again once it has changed something, now and then after a
person has resized a node. The controller after that is not killed, or its memory could not be followed; everything
else befalls it every few minutes until the end.
"""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from random import Random
from threading import Event
from typing import Any

from heddle.model.resources import MILLI
from heddle.yarn.live.bridge.endpoint import BridgeEndpoint
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.rm_answers import read_nodes
from heddle.yarn.live.steering.desk import Desk
from heddle.yarn.live.steering.showing import shown_on
from heddle.yarn.live.things_seen import Size
from heddle.yarn.live.wire import YarnError
from heddle.yarn.testbed.bridge.settings import SECRET_NAME
from heddle.yarn.testbed.local.cluster import RM, LocalCluster, node_role
from yarn_real.faulty_proxy import FAULTS, FaultyProxy
from yarn_real.live import pid_of, said_by, steering, stopped

POLICY = "haste+usage-feedback+admission-control"
LOOK_EVERY_S = 0.1
PUT_BACK_WITHIN_S = 300.0  # then it counts as never
RESUMES_WITHIN_S = 300.0
STARTS_S = 3.0  # until the process of a daemon that was started is there
MORE_MB = 517  # that a person gives a node: where we have just had it ourselves, nobody could tell it from ours
PERSON_SEES_S = 4.0  # a change of theirs may fall between our look and our write: then they make it again


class Kind(StrEnum):
    CONTROLLER_KILLED = "controller killed (SIGKILL)"
    CONTROLLER_HANGS = "controller hangs longer than the lease (SIGSTOP, SIGCONT)"
    NODE_KILLED = "NodeManager killed (SIGKILL) and started again"
    RM_KILLED = "ResourceManager killed (SIGKILL) and started again"
    RM_FAULTY = "answers late, wrong, cut off or refused (proxy)"
    PERSON_RESIZES = "person resizes a node"


LONG_LIFE = (Kind.CONTROLLER_HANGS, Kind.NODE_KILLED, Kind.RM_KILLED, Kind.RM_FAULTY, Kind.PERSON_RESIZES)
KILLS_CONTAINERS = (Kind.NODE_KILLED, Kind.RM_KILLED)  # an RM forgets what it has promised and not seen begin


@dataclass
class Happened:
    """Everything that befell the controller, in seconds since the piece began."""

    faults: list[dict[str, Any]] = field(default_factory=list)
    put_backs: list[dict[str, Any]] = field(default_factory=list)  # `s`: null: not within PUT_BACK_WITHIN_S
    unexpected_ends: list[str] = field(default_factory=list)  # of a controller that nobody ended
    overwritten: int = 0  # changes of a person's
    unseen: int = 0  # those that were overwritten before we can have seen them
    ended_with: int | None = None  # the last controller, told to end


@dataclass(frozen=True)
class Terms:
    lease_s: float
    kills_s: float  # for how long lives are short
    every_s: float  # between two faults, on average
    record_mb: float


class Trouble:
    """`proxy`: stands before the ResourceManager for the controller and its watchdog; `client` asks it directly."""

    def __init__(
        self,
        seed: int,
        terms: Terms,
        cluster: LocalCluster,
        client: RmClient,
        proxy: FaultyProxy,
        desk: Desk,
        decisions: Path,
        began_s: float,
        until_s: float,
        say: Callable[[str], None],
    ) -> None:
        self._random, self._terms = Random(f"{seed} faults"), terms
        self._cluster, self._client, self._proxy, self._desk = cluster, client, proxy, desk
        self._decisions, self._began_s, self._until_s, self._say = decisions, began_s, until_s, say
        self._broken_off = Event()
        self._own: dict[str, Size] = self._sizes()
        self._expected = dict(self._own)  # but for what a person has set
        self._settings = client.scheduler_settings()
        self._bridge = BridgeEndpoint(client)
        self._to_come: list[Kind] = []
        self.happened = Happened()

    def befall(self) -> None:
        """Until the piece is over."""
        while self._now_s() < self._terms.kills_s and not self._is_over():
            self._short_life()
        while not self._is_over():
            self._long_life()

    def break_off(self) -> None:
        self._broken_off.set()

    # Lives.

    def _short_life(self) -> None:
        with self._controller() as controller:
            self._wait(lambda: self._is_turned() or controller.poll() is not None, self._until_s)
            self._pause(self._random.uniform(5, 45))
            if self._has_ended(controller) or self._is_over():
                return
            if self._random.random() < 0.25:
                with self._befalls(Kind.PERSON_RESIZES):
                    self._person_resizes()
            with self._befalls(Kind.CONTROLLER_KILLED):
                controller.kill()
                controller.wait()
                self._time_put_back(Kind.CONTROLLER_KILLED, PUT_BACK_WITHIN_S)
        self._person_undoes()

    def _long_life(self) -> None:
        with self._controller() as controller:
            self._wait(lambda: self._steps() is not None or controller.poll() is not None, self._until_s)
            while True:
                self._pause(self._terms.every_s * self._random.uniform(0.5, 1.5))
                if self._has_ended(controller):
                    return
                if self._is_over():
                    break
                self._next_fault(controller)
            self._person_undoes()
            controller.send_signal(signal.SIGINT)
            self.happened.ended_with = controller.wait(PUT_BACK_WITHIN_S)
            self._time_put_back(None, PUT_BACK_WITHIN_S)

    @contextmanager
    def _controller(self) -> Iterator[subprocess.Popen[bytes]]:
        more = ["--lease", str(self._terms.lease_s), "--young", "10", "--stale", "15"]
        more += ["--record-mb", str(self._terms.record_mb), "--max-calls-per-s", "1000"]
        more += ["--bridge-secret", str(self._cluster.bridge / SECRET_NAME)]
        with steering(self._proxy.address, self._decisions, POLICY, *more) as controller:
            yield controller

    def _has_ended(self, controller: subprocess.Popen[bytes]) -> bool:
        code = controller.poll()
        if code is None:
            return False
        last = said_by(self._decisions).read_text(errors="replace").strip().splitlines()[-3:]
        self.happened.unexpected_ends.append(f"{self._now_s():.0f} s: ended with {code}: {' / '.join(last)}")
        self._say(self.happened.unexpected_ends[-1])
        return True

    # Faults.

    def _next_fault(self, controller: subprocess.Popen[bytes]) -> None:
        """Each kind once in a random order, then again: also a short piece has all of them."""
        self._person_undoes()  # whatever starts anew would
        self._to_come = self._to_come or self._random.sample(LONG_LIFE, len(LONG_LIFE))
        kind = self._to_come.pop()
        before = self._steps()
        with self._befalls(kind) as fault:
            if kind is Kind.CONTROLLER_HANGS:
                with stopped(controller.pid):
                    time.sleep(self._terms.lease_s)
                    self._time_put_back(kind, PUT_BACK_WITHIN_S, self._terms.lease_s)
            elif kind is Kind.NODE_KILLED:
                self._restart(node_role(self._random.randrange(self._cluster.layout.nodes)))
            elif kind is Kind.RM_KILLED:
                self._restart(RM)
            elif kind is Kind.RM_FAULTY:
                fault["how"] = self._answer_wrongly()
            else:
                self._person_resizes()
        over_s = self._now_s()
        steps_on = self._wait(
            lambda: self._steps() not in (None, before) or controller.poll() is not None, over_s + RESUMES_WITHIN_S
        )
        fault["resumed_s"] = round(self._now_s() - over_s, 1) if steps_on and controller.poll() is None else None

    @contextmanager
    def _befalls(self, kind: Kind) -> Iterator[dict[str, Any]]:
        fault: dict[str, Any] = {"kind": str(kind), "from_s": round(self._now_s(), 1)}
        self._say(f"{fault['from_s']:.0f} s: {kind}")
        yield fault
        fault |= {"until_s": round(self._now_s(), 1), "kills_containers": kind in KILLS_CONTAINERS}
        self.happened.faults.append(fault)

    def _restart(self, role: str) -> None:
        """Again, if it ends while it starts: a ResourceManager that is sent a job before it has recovered may do so."""
        os.kill(pid_of(self._cluster, role), signal.SIGKILL)
        self._broken_off.wait(self._random.uniform(2, 30))
        until_s = self._now_s() + RESUMES_WITHIN_S
        while not self._cluster.is_healthy() and self._now_s() < until_s and not self._broken_off.is_set():
            if not any(process.role == role for process in self._cluster.processes()):
                self._cluster.start_daemon(role)
            self._broken_off.wait(STARTS_S)

    def _answer_wrongly(self) -> str:
        how = self._random.choice((*FAULTS, "denied"))
        self._proxy.fault, self._proxy.denies = ("", True) if how == "denied" else (how, False)
        try:
            time.sleep(self._random.uniform(5, 1.5 * self._terms.lease_s))
        finally:
            self._proxy.fault, self._proxy.denies = "", False
        return how

    def _person_resizes(self) -> None:
        """Always the last node: what is a person's is not steered again in that life, and the others must be."""
        node = sorted(self._own)[-1]
        memory_mb, vcores = self._own[node]
        self._expected[node] = (memory_mb + MORE_MB, vcores)
        self._resize(node)
        time.sleep(PERSON_SEES_S)
        if self._sizes().get(node) != self._expected[node]:
            self.happened.unseen += 1
            self._resize(node)
        time.sleep(PERSON_SEES_S)
        self.happened.overwritten += self._sizes().get(node, self._expected[node]) != self._expected[node]

    def _person_undoes(self) -> None:
        """And waits until the NodeManager knows: a ResourceManager that is killed forgets, and asks it."""
        for node, size in self._own.items():
            if self._expected[node] != size:
                self._expected[node] = size
                self._resize(node)
                time.sleep(PERSON_SEES_S)

    def _resize(self, node: str) -> None:
        memory_mb, milli_vcores = self._expected[node]
        self._client.resize_node(node, memory_mb, milli_vcores // MILLI)

    # Looking.

    def _time_put_back(self, after: Kind | None, within_s: float, already_s: float = 0.0) -> None:
        """How long it takes until everything is as it was found, from now; `already_s`: that has passed before."""
        began_s = self._now_s()
        done = self._wait(self._is_as_found, began_s + within_s)
        took_s = round(already_s + self._now_s() - began_s, 2) if done else None
        self.happened.put_backs.append({"after": after and str(after), "s": took_s})
        self._say(f"{self._now_s():.0f} s: put back after {took_s} s")

    def _is_as_found(self) -> bool:
        """Sizes, settings of queues, and no table in the bridge; nodes that are away owe nothing yet."""
        try:
            bridge = self._bridge.state()
            return self._stands() and bridge is not None and bridge.table is None
        except YarnError:
            return False

    def _is_turned(self) -> bool:
        """Something that would stay if nobody put it back; a table would not."""
        try:
            return not self._stands()
        except YarnError:
            return False

    def _stands(self) -> bool:
        return self._sizes().items() <= self._expected.items() and self._client.scheduler_settings() == self._settings

    def _sizes(self) -> dict[str, Size]:
        nodes = read_nodes(self._client.nodes(), self._client.address)
        return {node.id: node.total for node in nodes.values() if node.alive}

    def _steps(self) -> tuple[str, int] | None:
        """Which step the controller that lives has done last; None: none, or the last one was not answered."""
        shown, lives = shown_on(self._desk) or ({}, False)
        done = lives and shown["answered"] and shown["steps"] > 0
        return (shown["session"], shown["steps"]) if done else None

    def _wait(self, what: Callable[[], bool], until_s: float) -> bool:
        while not what():
            if self._now_s() >= until_s or self._broken_off.wait(LOOK_EVERY_S):
                return False
        return True

    def _pause(self, for_s: float) -> None:
        self._broken_off.wait(max(0.0, min(for_s, self._until_s - self._now_s())))

    def _is_over(self) -> bool:
        return self._broken_off.is_set() or self._now_s() >= self._until_s

    def _now_s(self) -> float:
        return time.monotonic() - self._began_s
