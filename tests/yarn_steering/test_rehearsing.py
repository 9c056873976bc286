"""What a step needs is compiled before a session holds anything."""

import subprocess
import sys

import pytest

from yarn_live.fake_cluster import FakeCluster

from .fake_world import FakeWorld
from .test_whole_session import LEASE_S, as_found, at_work, cluster, sizes, step, world

__all__ = ["cluster", "world"]  # fixtures


def test_compiling_that_outlasts_the_lease_comes_before_it(
    world: FakeWorld, cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[object] = []

    def rehearse(*_: object) -> None:
        held.extend([*world.files, *world.watchdogs])
        world.now_s += 10 * LEASE_S

    monkeypatch.setattr("heddle.yarn.live.steering.session.rehearse", rehearse)
    said: list[str] = []
    with at_work(world, said) as session:
        step(world, session)
        assert not as_found(cluster), sizes(cluster)
    assert held == []
    assert not any("longer than the lease" in text for text in said)


EVERY_POLICY = (  # and a storm, without pools or with them
    ("admission-control+usage-feedback(damping=1)", 0),
    ("smallest-first+usage-feedback(damping=1)+max-running(jobs=3)", 0),
    ("dress+usage-feedback(damping=1)", 1),
)
STORM = """
import sys
from numba.core.registry import CPUDispatcher
from heddle.policy.parse import parse_policy
from heddle.storm import storm
from heddle.storm.faults import Fault, Kind
from heddle.yarn.live.controller import Settings
from heddle.yarn.live.steering import session
from heddle.yarn.live.steering.rehearsing import rehearse

def compiled():
    return {
        (name, of, str(signature))
        for name, module in sorted(sys.modules.items()) if name.startswith("heddle.yarn.live")
        for of, value in vars(module).items() if isinstance(value, CPUDispatcher)
        for signature in value.overloads
    }

policy = sys.argv[1]
storm.POLICIES = storm.POOLED = (policy,)
rehearse(parse_policy(policy), Settings())
session.rehearse = lambda *_: None
before = compiled()
assert before
outcome = storm.Storm(int(sys.argv[2]), (Fault(Kind.NODE_LOST, 20.0, 10.0, 1),)).run()
assert not outcome.broken and outcome.steps > 100, outcome
print(sorted(compiled() - before))
"""


@pytest.mark.parametrize(("policy", "seed"), EVERY_POLICY)
def test_after_a_rehearsal_no_step_compiles_anything(policy: str, seed: int) -> None:
    """In a process of its own, in which nothing else has been compiled."""
    ran = subprocess.run([sys.executable, "-c", STORM, policy, str(seed)], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip() == "[]"
