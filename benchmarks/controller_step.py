"""`python -m benchmarks.controller_step`: how long one step of the live controller takes, against the tests' fake RM.

Run it from the top of the repository. The fake answers from the same process, so "observe" includes the time the fake
takes to write its JSON; "decide" is everything between the answers and the plan: differ, view, events, levers.
"""

import argparse
import random
import statistics

from tests.yarn_slice.fake_rm import FakeRm

from heddle.policy.parse import parse_policy
from heddle.yarn.client import RmClient
from heddle.yarn.controller import Controller, Settings


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.controller_step", description=__doc__)
    options.add_argument("--nodes", type=int, default=1000)
    options.add_argument("--apps", type=int, default=100)
    options.add_argument("--containers", type=int, default=100, help="of each application")
    options.add_argument("--polls", type=int, default=10)
    options.add_argument("--policy", default="fifo+usage-feedback")
    options.add_argument("--post", action="store_true", help="resize the nodes (default: shadow)")
    chosen = options.parse_args()
    chance = random.Random(1)
    now_ms = 0
    with FakeRm() as rm, RmClient(rm.address) as client:
        fill(rm, chosen.nodes, chosen.apps, chosen.containers, chance)
        settings = Settings(shadow=not chosen.post)
        controller = Controller(client, parse_policy(chosen.policy), lambda node: node.total, lambda: now_ms, settings)
        first = controller.step()
        steps = []
        for poll in range(1, chosen.polls + 1):
            now_ms = 1000 * poll
            change(rm, chance)
            steps.append(controller.step())
    seen = f"{chosen.nodes} nodes, {chosen.apps} applications, {len(first.snapshot.containers)} containers"
    print(f"{chosen.policy}, {seen}, {statistics.mean(len(step.changes) for step in steps):.0f} events a poll")
    print(f"{'':10}{'first':>10}{'median':>10}{'worst':>10}   ms")
    for part in ("observe_s", "decide_s", "act_s"):
        times = [1000 * getattr(step, part) for step in steps]
        at_first = 1000 * getattr(first, part)
        print(f"{part.removesuffix('_s'):10}{at_first:10.1f}{statistics.median(times):10.1f}{max(times):10.1f}")


def fill(rm: FakeRm, nodes: int, apps: int, containers: int, chance: random.Random) -> None:
    for i in range(nodes):
        rm.add_node(f"node-{i}:8041", 65536, 24)
    names = list(rm.nodes)
    for _ in range(apps):
        app = rm.add_app(user=f"user-{chance.randrange(20)}")
        rm.start_am(app, chance.choice(names), 1024, 1)
        app.asks = [(20, 1024, 1, 50), (10, 2048, 1, 10)]
        for _ in range(containers - 1):
            rm.allocate(app, chance.choice(names), chance.choice((1024, 2048)), 1)


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
