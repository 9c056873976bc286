"""`python -m benchmarks.controller_step`: how long one step of the live controller takes, against the tests' fake RM.

Run it from the top of the repository. The fake is a process of its own behind real HTTP. "look" is polling and reading
answers; "view" is everything from answers to an up-to-date view: differences, rows, sums; "decide" is what levers take
to hear events and to answer; "plan" is turning a plan into knobs and judging it (nothing is posted, unless --post).
"nodes x requests", of an ordering that goes by the node too, is asking it about every kind of request on every node: no
knob of YARN could make use of that, so a step does not contain it.
CPU time is what counts on a machine that does other things too: time of the clock then shows how busy it was.
"""

import argparse
import multiprocessing
import random
import statistics
import time
from collections.abc import Callable
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from tests.yarn_live.fake_rm import FakeRm

from heddle.policy.lever import Question
from heddle.policy.parse import parse_policy
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.controller import Controller, Settings

PAIRS = "nodes x requests"
PARTS = ("look", "view", "decide", "plan", "view + decide + plan")


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.controller_step", description=__doc__)
    options.add_argument("--nodes", type=int, default=1000)
    options.add_argument("--apps", type=int, default=100, help="that run")
    options.add_argument("--containers", type=int, default=100, help="of each of them")
    options.add_argument("--pending", type=int, default=10_000, help="requests that wait, of all of them together")
    options.add_argument("--held-back", type=int, default=0, help="applications that wait for their AM")
    options.add_argument("--polls", type=int, default=30)
    options.add_argument("--policy", default="fifo+usage-feedback")
    options.add_argument("--other", action="append", default=[], help="a policy that looks and learns beside it")
    options.add_argument("--post", action="store_true", help="resize the nodes (default: shadow)")
    chosen = options.parse_args()
    ours, theirs = multiprocessing.Pipe()
    fake = multiprocessing.Process(target=serve, args=(theirs, chosen), daemon=True)
    fake.start()
    moment = Moment()
    with RmClient(ours.recv(), timeout_s=120) as client:
        settings = Settings(shadow=not chosen.post)
        others = [parse_policy(name) for name in chosen.other]
        policy = parse_policy(chosen.policy)
        controller = Controller(client, policy, lambda node: node.total, settings, clock=moment, others=others)
        inside = Stopwatch()
        inside.time_levers(controller)
        first = controller.step()
        rows: dict[str, list[tuple[float, float]]] = {part: [] for part in PARTS}
        events = []
        for poll in range(1, chosen.polls + 1):
            moment.now_s = poll
            ours.send("change")
            ours.recv()
            inside.clear()
            step, look, decided, acted = inside.step(controller)
            rows["look"].append(look)
            rows["decide"].append(inside.spent)
            rows["view"].append(minus(decided, inside.spent))
            rows["plan"].append(acted)
            rows[PARTS[-1]].append(plus(decided, acted))
            events.append(len(step.changes))
            if "fit" in controller._minds[0].policy.by_question[Question.ORDERING].hooks:
                rows.setdefault(PAIRS, []).append(ask_pairs(controller))
    ours.send("end")
    seen = f"{chosen.nodes} nodes, {len(first.snapshot.apps)} applications, {len(first.snapshot.containers)} containers"
    waiting = sum(ask.containers for app in first.snapshot.apps.values() for ask in app.asks)
    polls = f"{statistics.mean(events):.0f} events a poll, {chosen.polls} polls"
    print(f"{' beside '.join([chosen.policy, *chosen.other])}: {seen}, {waiting} requests, {polls}")
    print(f"{'ms':22}{'CPU median':>12}{'CPU p99':>12}{'clock median':>14}{'clock p99':>12}")
    for part, times in rows.items():
        cpu, clock = ([1000 * one[kind] for one in times] for kind in (0, 1))
        figures = statistics.median(cpu), p99(cpu), statistics.median(clock), p99(clock)
        print(f"{part:22}{figures[0]:12.1f}{figures[1]:12.1f}{figures[2]:14.1f}{figures[3]:12.1f}")


class Moment:
    """A clock that goes from poll to poll."""

    now_s = 0.0

    def monotonic(self) -> float:
        return self.now_s

    def time(self) -> float:
        return self.now_s

    def sleep(self, seconds: float, /) -> None:
        self.now_s += seconds


Span = tuple[float, float]  # CPU seconds, seconds of the clock


def now() -> Span:
    return time.thread_time(), time.perf_counter()


def minus(one: Span, other: Span) -> Span:
    return one[0] - other[0], one[1] - other[1]


def plus(one: Span, other: Span) -> Span:
    return one[0] + other[0], one[1] + other[1]


def ask_pairs(controller: Controller) -> Span:
    """What every kind of request that waits is worth on every node."""
    levers, live = controller._minds[0].levers, controller.live
    began = now()
    levers._pairs("fit", Question.ORDERING, live.view, np.arange(len(live.view.node)), live.waiting_stages())
    return minus(now(), began)


def p99(values: list[float]) -> float:
    return sorted(values)[min(len(values) - 1, round(0.99 * len(values)))]


class Stopwatch:
    """Takes the time of the parts of a step, in both kinds of time."""

    def __init__(self) -> None:
        self.spent: Span = (0.0, 0.0)
        self._at: list[Span] = []

    def clear(self) -> None:
        self.spent = (0.0, 0.0)

    def time_levers(self, controller: Controller) -> None:
        for mind in controller._minds:
            for name in ("hear", "pass_time", "decide"):
                setattr(mind.levers, name, self._timed(getattr(mind.levers, name)))

    def _timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any) -> Any:
            began = now()
            try:
                return function(*given)
            finally:
                self.spent = plus(self.spent, minus(now(), began))

        return call

    def step(self, controller: Controller) -> tuple[Any, Span, Span, Span]:
        """A step, and what looking, deciding (the view included) and acting took of it."""
        marks: list[Span] = []
        for mind in controller._minds:
            mind.decide = partial(_marked, type(mind).decide.__get__(mind), marks)  # type: ignore[method-assign]
        began = now()
        step = controller.step()
        ended = now()
        return step, minus(marks[0], began), minus(marks[-1], marks[0]), minus(ended, marks[-1])


def _marked(decide: Callable[..., Any], marks: list[Span], snapshot: Any) -> Any:
    marks.append(now())
    try:
        return decide(snapshot)
    finally:
        marks.append(now())


def serve(pipe: Connection, chosen: argparse.Namespace) -> None:
    chance = random.Random(1)
    with FakeRm() as rm:
        fill(rm, chosen, chance)
        pipe.send(rm.address)
        while pipe.recv() != "end":
            change(rm, chance)
            pipe.send("changed")


def fill(rm: FakeRm, chosen: argparse.Namespace, chance: random.Random) -> None:
    for i in range(chosen.nodes):
        rm.add_node(f"node-{i}:8041", 65536, 24)
    names = list(rm.nodes)
    for _ in range(chosen.apps):
        app = rm.add_app(user=f"user-{chance.randrange(20)}")
        rm.start_am(app, chance.choice(names), 1024, 1)
        wanted = chosen.pending // max(1, chosen.apps)
        app.asks = [(20, 1024, 1, wanted - wanted // 5), (10, 2048, 1, wanted // 5)]
        for _ in range(chosen.containers - 1):
            rm.allocate(app, chance.choice(names), chance.choice((1024, 2048)), 1)
    for _ in range(chosen.held_back):
        rm.add_app(user=f"user-{chance.randrange(20)}").asks = [(0, 1024, 1, 1)]


def change(rm: FakeRm, chance: random.Random) -> None:
    """Every node uses something else; one container in twenty is replaced."""
    for node in rm.nodes.values():
        node.used_memory_mb, node.used_cores = chance.randrange(4096, 40960), chance.random() * 20
    names = list(rm.nodes)
    for app in rm.apps.values():
        for name in chance.sample(list(app.containers)[1:], len(app.containers) // 20):
            rm.end_container(name)
            rm.allocate(app, chance.choice(names), 1024, 1)


if __name__ == "__main__":
    main()
