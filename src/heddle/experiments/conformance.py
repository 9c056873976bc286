"""One suite that certifies every policy, heddle's own and yours: `heddle certify POLICY`.

A policy that passes is deterministic, never promises more than its sizing allows, loses and doubles no task, does not
depend on the order of its input, finishes everything that can finish, and is what its string says. Its hooks, watched
while they run, answer the same as when compiled, read nothing that moves without their being asked again, and hear
the same events and answer the same in the simulator and in the live host.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from heddle.experiments.beside import LiveBeside
from heddle.experiments.onlooker import Onlooker
from heddle.experiments.silent_changes import REFUSES
from heddle.experiments.watching import Watched, watched
from heddle.model.cluster import YARN, Cluster, Node, Queue, Timing
from heddle.model.errors import BadInput, CheckFailed
from heddle.model.view import EVENT_FINISHED, EVENT_STOPPED, EVENT_TICK, event_constant
from heddle.model.workload import Workload
from heddle.policy.declaration import Lever, is_ours
from heddle.policy.declared_reads import OF_TIME, undeclared
from heddle.policy.lever import Placement
from heddle.policy.parse import parse_policy
from heddle.policy.policy import Policy
from heddle.policy.question import Question
from heddle.record.run import Run
from heddle.run import simulate
from heddle.sim.run import run_engine
from heddle.traces.align import in_resources_of
from heddle.traces.build import JobSpec, Profile, StageSpec, TaskSpec, build
from heddle.yarn.live.levers import unfit


@dataclass(frozen=True)
class Failure:
    """How the policy broke a rule, on what, and where in a file of the user's: there, or in one of several places."""

    rule: str
    case: str
    what: str
    where: str = ""


def certify(text: str, seeds: int = 2) -> list[Failure]:
    """Every rule that the policy breaks; none means that it is certified."""
    policy = parse_policy(text)
    watched_case = next(case for case in cases(0) if case.name.startswith("heartbeats"))
    failures = [*_round_trips(policy), *_unless_refused(watched_case, _watch(policy, watched_case))]
    for seed in range(seeds):
        for case in cases(seed):
            failures += _unless_refused(case, _check_case(policy, case, seed))
    # Each once, on the first workload that shows it.
    return list({(one.rule, one.what, one.where): one for one in reversed(failures)}.values())[::-1]


def _unless_refused(case: Case, failures: Iterator[Failure]) -> Iterator[Failure]:
    """A run that a lever of the user's breaks off is one more failure."""
    try:
        yield from failures
    except BadInput as error:
        for problem in error.problems:
            where = problem.where if problem.row is None else f"{problem.where}:{problem.row}"
            yield Failure("it stops the host with an error", case.name, problem.what, where)


def _at(lever: Lever, hook: str, line: int = 0) -> str:
    """The line of the user's file, or where the hook begins; empty of heddle's own levers."""
    function = lever.hooks[hook]
    code = inspect.unwrap(function).__code__
    return "" if is_ours(function) else f"{code.co_filename}:{line or code.co_firstlineno}"


def _somewhere(policy: Policy) -> str:
    """All levers of the user's: which of them it is, nobody can tell."""
    return ", ".join(filter(None, (_at(lever, next(iter(lever.hooks))) for lever in policy.levers if lever.hooks)))


@dataclass(frozen=True)
class Case:
    name: str
    jobs: tuple[JobSpec, ...]
    cluster: Cluster

    def workload(self, jobs: tuple[JobSpec, ...] | None = None) -> Workload:
        return build(self.name, self.jobs if jobs is None else jobs)


def cases(seed: int) -> Iterator[Case]:
    """The same random jobs under an ideal scheduler and under YARN's heartbeats: more than fit at once."""
    nodes = tuple(Node(f"node-{i}", (8192, 8000), (7168, 7000), rack=f"rack-{i % 2}") for i in range(4))
    queues = (Queue("root"), Queue("root.a", guarantee_permille=600), Queue("root.b", guarantee_permille=400))
    cluster = Cluster(nodes, queues=queues, name="certify")
    timings: dict[str, Timing] = {"ideal": cluster.timing, "heartbeats": YARN}
    jobs = tuple(_random_jobs(seed))
    for name, timing in timings.items():
        yield Case(f"{name}-{seed}", jobs, replace(cluster, timing=timing))


def _random_jobs(seed: int) -> Iterator[JobSpec]:
    rng = np.random.default_rng(seed)
    for number in range(14):
        maps = [TaskSpec(int(rng.integers(1, 30_000)), _use(rng)) for _ in range(int(rng.integers(1, 9)))]
        reduces = [TaskSpec(int(rng.integers(1, 20_000)), _use(rng)) for _ in range(int(rng.integers(1, 4)))]
        yield JobSpec(
            f"job-{number}",
            submit_at_ms=int(rng.integers(0, 2000)) * 16 + number,  # no two at the same instant
            stages=[
                StageSpec("map", (1024, 1000), maps),
                StageSpec(
                    "reduce", (2048, 1000), reduces, after=("map",), slow_start_permille=int(rng.choice((-1, 50)))
                ),
            ],
            am=(512, 500) if number % 2 else None,
            queue=("root.a", "root.b")[number % 2],
            user=f"user-{number % 3}",
        )


def _use(rng: np.random.Generator) -> Profile:
    low, high = sorted(int(x) for x in rng.integers(64, 1000, 2))
    return ((4000, (low, 300)), (10_000, (high, 700)))


def _watch(policy: Policy, case: Case) -> Iterator[Failure]:
    """The rules that only a look at single reads and events can tell, in both hosts."""
    compiled = simulate(case.workload(), case.cluster, policy, record=True)
    beside = None if unfit(policy) else LiveBeside(policy)
    plain, native = watched(policy, beside.called if beside else None)
    try:
        again = simulate(case.workload(), case.cluster, plain, record=True)
        if not again.attempts.equals(compiled.attempts):
            rule, what = "it answers otherwise compiled than in Python", "the two gave other attempts"
            yield Failure(rule, case.name, what, _somewhere(policy))
    except BadInput:
        pass  # it is among what was raised
    hosts = [native]
    if beside:
        for (question, hook), what in beside.differences.items():
            lever = policy.by_question[question]
            yield Failure(
                "its answers differ between the hosts",
                case.name,
                f"{lever.name}: {what}",
                _at(lever, hook),
            )
        outside, live = watched(policy)
        aligned = in_resources_of(case.workload(), case.cluster)
        run_engine(aligned, case.cluster, policy, 0, False, outside=Onlooker(outside, aligned, case.cluster))
        hosts.append(live)
        yield from _heard_otherwise(native, live, case.name)
    for question, seen in native.items():
        lever = seen.lever
        for raised in sorted({one for host in hosts for one in host[question].raised}):
            where = _at(lever, raised.hook, raised.line)
            yield Failure("a hook gives no whole number", case.name, f"{lever.name}: {raised.what}", where)
        for hook, reads in seen.reads.items():
            for read in sorted(reads):
                if wrong := undeclared(lever, hook, read):
                    where = _at(lever, hook, reads[read])
                    yield Failure("it must declare what it reads", case.name, f"{lever.name}: {wrong}", where)
        for what in seen.silent.found.values():
            where = _at(lever, "on_event")
            yield Failure("it does not say when its answers change", case.name, f"{lever.name}: {what}", where)


def _heard_otherwise(
    native: Mapping[Question, Watched], live: Mapping[Question, Watched], case: str
) -> Iterator[Failure]:
    """How a container ended, a poll cannot always tell: the two ways count as one."""

    def kinds(heard: set[int]) -> set[str]:
        ends = (EVENT_FINISHED, EVENT_STOPPED)
        return {"the end of a container" if kind in ends else event_constant(kind) for kind in heard}

    for question, seen in native.items():
        other = live[question]
        for kind in sorted(kinds(seen.heard) ^ kinds(other.heard)):
            where = "the simulator" if kind in kinds(seen.heard) else "the live host"
            what = f"{seen.lever.name} hears {kind} only in {where}"
            yield Failure("its events differ between the hosts", case, what, _at(seen.lever, "on_event"))


def _check_case(policy: Policy, case: Case, seed: int) -> Iterator[Failure]:
    for rule, what in _broken_by_runs(policy, case, seed):
        yield Failure(rule, case.name, what, _somewhere(policy))


def _broken_by_runs(policy: Policy, case: Case, seed: int) -> Iterator[tuple[str, str]]:
    """How a rule was broken, and what was seen."""
    workload = case.workload()
    try:
        run = simulate(workload, case.cluster, policy, seed=seed, record=True, check=True)
    except CheckFailed as error:
        yield "it promises too much, or loses or doubles a task", str(error)
        return
    if run.manifest["outcome"] != "finished" and not policy.may_deadlock:
        advice = _unasked_as_time_passes(policy, case, seed)
        yield "work that could finish did not", "; ".join([str(run.manifest["reason"]), *advice])
    again = simulate(workload, case.cluster, policy, seed=seed, record=True)
    if not again.attempts.equals(run.attempts):
        yield "it is not deterministic", "the same seed gave other attempts"
    turned = simulate(case.workload(case.jobs[::-1]), case.cluster, policy, seed=seed, record=True)
    if not _by_name(turned).equals(_by_name(run)):
        yield "it depends on the order of the input", "jobs given in reverse ended otherwise"


def _unasked_as_time_passes(policy: Policy, case: Case, seed: int) -> Iterator[str]:
    """Hooks that refuse by the clock, of levers that nobody asks again when only time passes."""
    plain, seen = watched(policy)
    simulate(case.workload(), case.cluster, plain, seed=seed)
    for one in seen.values():
        for hook in (*REFUSES, "limit"):
            if OF_TIME in one.reads.get(hook, {}) and EVENT_TICK not in one.lever.listens and not _wakes(one.lever):
                yield (
                    f"{hook} reads {OF_TIME}, but nobody asks it again when only time passes: listen to EVENT_TICK, "
                    "with every_ms set, and return 1 from on_event"
                )


def _wakes(lever: Lever) -> bool:
    """The host looks again when a veto may end."""
    return isinstance(lever, Placement) and bool(lever.waits)


def _by_name(run: Run) -> pl.DataFrame:
    return run.jobs.select("name", "started_at_ms", "ended_at_ms", "outcome").sort("name")


def _round_trips(policy: Policy) -> Iterator[Failure]:
    again = parse_policy(str(policy))
    if [(str(lever), lever.question) for lever in again.levers] != [
        (str(lever), lever.question) for lever in policy.levers
    ]:
        yield Failure("it is not what its string says", str(policy), f"reads back as {again}")
