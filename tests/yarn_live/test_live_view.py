"""The live view holds what the simulator's would: stable rows, kinds of requests, queues, and what levers say."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from heddle.model.plan import Plan
from heddle.model.reasons import Reason
from heddle.model.view import EVENT_FINISHED, EVENT_STOPPED, JOB_ADMITTED, JOB_ARRIVED, JOB_FAILED, JOB_FINISHED
from heddle.model.workload import AM, TASKS
from heddle.policy.lever import Question, placement
from heddle.policy.parse import parse_policy
from heddle.policy.policy import Policy
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.controller import Controller, Settings

from .conftest import Clock, as_large_as_first_seen
from .fake_rm import FakeRm


def test_fifo_orders_by_priority_then_submission(rm: FakeRm, control: Callable[..., Controller], clock: Clock) -> None:
    rm.add_node("a:1", 8192, 8)
    first, second, urgent = rm.add_app(), rm.add_app(), rm.add_app(priority=1)
    for app in (first, second, urgent):
        app.asks = [(0, 1024, 1, 1)]
    # YARN has fifo itself, so nobody outside asks it; a lever of a user's that is the same has to be asked.
    fifo = parse_policy("fifo")
    levers = tuple(replace(lever, of_yarn=lever.question is not Question.ORDERING) for lever in fifo.levers)
    controller = control(replace(fifo, levers=levers))
    plan = controller.step().plan
    view, jobs = controller.live.view, controller.live.job_row
    assert view.stage_spec["job"][plan.request_order()].tolist() == [jobs[a.id] for a in (urgent, first, second)]
    assert plan.admission is None
    assert plan.admitted() == frozenset()

    rm.end_app(first)
    later = rm.add_app()
    later.asks = [(0, 1024, 1, 1)]
    clock.now_ms = 1000
    plan = controller.step().plan
    view, jobs = controller.live.view, controller.live.job_row
    assert view.stage_spec["job"][plan.request_order()].tolist() == [jobs[a.id] for a in (urgent, second, later)]


def test_kinds_of_requests_stand_side_by_side_with_the_am_first(
    rm: FakeRm, control: Callable[..., Controller], clock: Clock
) -> None:
    """More kinds than a job's first block holds, while another job stands behind it."""
    rm.add_node("a:1", 65536, 64)
    app, other = rm.add_app(), rm.add_app()
    app.asks = [(0, 512, 1, 1)]
    controller = control("fifo")
    controller.step()
    job = controller.live.job_row[app.id]
    view = controller.live.view
    am = view.job_spec["first_stage"][job]
    assert view.shape["demand"][view.stage_spec["shape"][am]].tolist() == [512, 1000]
    assert view.stage["waiting"][am] == 1
    assert view.job["state"][job] == JOB_ARRIVED

    rm.start_am(app, "a:1", 512, 1)
    rm.allocate(app, "a:1", 1000, 1, priority=20)
    rm.start_am(other, "a:1", 256, 1)
    clock.now_ms = 1000
    controller.step()
    app.asks = [(20, 1000, 1, 3), (10, 2000, 2, 4), (5, 1000, 1, 1), (30, 3000, 1, 2), (31, 3000, 1, 2)]
    clock.now_ms = 2000
    controller.step()
    view = controller.live.view
    first, n_stages = view.job_spec["first_stage"][job], view.job_spec["n_stages"][job]
    block = slice(first, first + n_stages)
    assert view.stage_spec["job"][block].tolist() == [job] * 6
    assert view.stage_spec["kind"][block].tolist() == [AM, *[TASKS] * 5]
    assert view.shape["demand"][view.stage_spec["shape"][block], 0].tolist() == [512, 1000, 2000, 1000, 3000, 3000]
    assert view.stage["waiting"][block].tolist() == [0, 3, 4, 1, 2, 2]
    assert view.stage["held"][block].tolist() == [1, 1, 0, 0, 0, 0]
    assert view.stage["asked_at_ms"][block].tolist() == [0, 2000, 2000, 2000, 2000, 2000]
    assert view.stage_spec["n_tasks"][block].tolist() == [1, 4, 4, 1, 2, 2]
    assert view.job["waiting"][job] == 12
    assert view.stage["waiting"].sum() == 12, "the rows that were moved away from count no more"
    # The containers of the node still lead to their stages.
    stages, row = [], view.node["first_container"][0]
    while row >= 0:
        stages.append(int(view.container["stage"][row]))
        row = view.container["next"][row]
    assert sorted(view.stage_spec["job"][stages].tolist()) == [0, 0, 1]
    assert {first, first + 1} <= set(stages)


def test_sums_of_queues_and_users(rm: FakeRm, control: Callable[..., Controller], clock: Clock) -> None:
    rm.add_node("a:1", 8000, 8)
    mine, batch = rm.add_app(user="ann"), rm.add_app(queue="root.batch", user="bob")
    rm.start_am(mine, "a:1", 1000, 1)
    rm.allocate(mine, "a:1", 2000, 1)
    rm.start_am(batch, "a:1", 500, 1)
    batch.asks = [(20, 100, 1, 5)]
    controller = control("capacity")
    controller.step()
    view = controller.live.view
    assert view.queue["parent"].tolist() == [-1, 0, 0]
    assert [view.queue["first_child"][0], view.queue["next_sibling"][1]] == [1, 2]
    assert view.queue["guarantee"][:, 0].tolist() == [8000, 6000, 2000]
    assert view.queue["maximum"][:, 0].tolist() == [8000, 8000, 4000]
    assert view.queue["allocated"][:, 0].tolist() == [3500, 3000, 500]
    assert view.queue["am_allocated"][:, 0].tolist() == [0, 1000, 500]
    assert view.queue["waiting"].tolist() == [5, 0, 5]
    assert view.queue["active_users"].tolist() == [0, 0, 1]
    assert view.queue["running_jobs"].tolist() == [0, 1, 1]
    assert view.clock["running_jobs"][0] == 2
    assert view.clock["am_allocated"][0].tolist() == [1500, 2000]

    batch.queue = "default"  # moved while it runs
    clock.now_ms = 1000
    controller.step()
    assert controller.live.view.queue["allocated"][:, 0].tolist() == [3500, 3500, 0]


def test_how_applications_and_containers_end(rm: FakeRm, control: Callable[..., Controller], clock: Clock) -> None:
    rm.add_node("a:1", 8192, 8)
    good, bad = rm.add_app(), rm.add_app()
    for app in (good, bad):
        rm.start_am(app, "a:1", 512, 1)
        rm.allocate(app, "a:1", 1024, 1)
    controller = control("fifo")
    controller.step()
    jobs = dict(controller.live.job_row)
    assert controller.live.view.job["state"].tolist() == [JOB_ADMITTED, JOB_ADMITTED]
    rm.end_app(good)
    rm.end_app(bad, "FAILED")
    clock.now_ms = 1000
    step = controller.step()
    kinds = [(change.app, change.container.is_am, change.kind) for change in step.changes if change.container]
    assert kinds == [
        (good.id, True, EVENT_STOPPED),
        (good.id, False, EVENT_FINISHED),
        (bad.id, True, EVENT_STOPPED),
        (bad.id, False, EVENT_STOPPED),
    ]
    view = controller.live.view
    assert view.job["state"][jobs[good.id]] == JOB_FINISHED
    assert view.job["state"][jobs[bad.id]] == JOB_FAILED
    assert view.node["allocated"].tolist() == [[0, 0]]
    assert view.node["n_containers"].tolist() == [0]
    assert (view.container["stage"] == -1).all()
    assert controller.live.job_row == {}


@pytest.mark.parametrize("tells", [True, False], ids=["tells who the AM is", "does not tell"])
def test_a_restarted_resourcemanager_numbers_containers_from_1_again(
    rm: FakeRm, control: Callable[..., Controller], clock: Clock, tells: bool
) -> None:
    """The first task that it gives an application which goes on has the AM's number, and is none (found by the soak:
    levers took the task's memory off the node when the AM had ended)."""
    rm.gives_am_logs = tells
    rm.add_node("a:1", 8192, 8)
    app, other = rm.add_app(), rm.add_app()
    am = rm.start_am(app, "a:1", 256, 1)
    controller = control("usage-feedback")
    controller.step()
    rm.restart()
    tasks = [rm.allocate(app, "a:1", 1024, 1) for _ in range(2)]
    rm.start_am(other, "a:1", 512, 1)
    clock.now_ms = 1000
    controller.step()
    view = controller.live.view
    assert view.node["allocated"].tolist() == [[256 + 2 * 1024 + 512, 4000]]
    assert view.clock["am_allocated"][0].tolist() == [256 + 512, 2000]
    for name in (am, *tasks):
        rm.end_container(name)
    clock.now_ms = 2000
    controller.step()
    assert controller.live.view.node["allocated"].tolist() == [[512, 1000]]


def test_memory_that_was_set_aside_for_others_is_not_missing(
    rm: FakeRm, control: Callable[..., Controller], clock: Clock
) -> None:
    """A node of 8 GB and 8 vcores on a machine of 24 GB and 2 cores: 16 GB are there for whatever else runs on it."""
    rm.add_node("h:1", 8192, 8)
    node = rm.nodes["h:1"]
    node.machine_memory_mb, node.machine_cores = 24 * 1024, 2
    node.containers_memory_mb, node.used_memory_mb, node.used_cores = 1000, 13_000, 0.5
    controller = control("usage-feedback")
    controller.step()
    assert controller.live.view.node["used"].tolist() == [[1000, 2000]], "a quarter of the cores: two of its vcores"

    node.used_memory_mb = 1000 + 16 * 1024 + 500  # others use 500 MB more than was set aside
    clock.now_ms = 1000
    controller.step()
    assert controller.live.view.node["used"].tolist() == [[1500, 2000]]


def test_node_managers_of_one_host_count_their_containers_only(rm: FakeRm, control: Callable[..., Controller]) -> None:
    rm.add_node("h:1", 8192, 8, host="h")
    rm.add_node("h:2", 8192, 8, host="h")
    for name, ours in (("h:1", 300), ("h:2", 700)):
        rm.nodes[name].used_memory_mb, rm.nodes[name].containers_memory_mb = 5000, ours
    controller = control("usage-feedback")
    controller.step()
    assert controller.live.view.node["used"][:, 0].tolist() == [300, 700]


def test_admission_and_pools_are_in_the_plan(rm: FakeRm, control: Callable[..., Controller]) -> None:
    rm.leaves |= {"pool-0": (90.0, 100.0), "pool-1": (10.0, 100.0)}
    rm.add_node("a:1", 8192, 8)
    running, waiting = rm.add_app(), rm.add_app()
    rm.start_am(running, "a:1", 512, 1)
    running.asks = [(20, 1024, 1, 100)]
    waiting.asks = [(0, 512, 1, 1)]
    controller = control("fifo+max-running(jobs=1)+small-pool(share=0.25)")
    plan: Plan = controller.step().plan
    jobs = controller.live.job_row
    assert plan.admission == {jobs[waiting.id]: Reason.MAX_RUNNING}
    assert plan.admitted() == frozenset()
    assert plan.job_pools == {jobs[running.id]: 0, jobs[waiting.id]: 1}
    assert plan.pool_limits is not None
    assert plan.pool_limits.tolist() == [[6144, 6000], [2048, 2000]]
    assert controller.live.view.pool["allocated"][:, 0].tolist() == [512, 0]


@placement(allows=lambda view, state, params, node, stage: 12 if node == 1 else 0)
def not_the_second(view, state, params, node, stage):  # type: ignore[no-untyped-def]
    """Any node but number 1."""
    return 0


def test_vetoes_of_a_users_lever_are_in_the_plan(rm: FakeRm, client: RmClient, clock: Clock) -> None:
    rm.add_node("a:1", 8192, 8)
    rm.add_node("b:1", 8192, 8)
    app = rm.add_app()
    app.asks = [(0, 512, 1, 1)]
    levers = [*parse_policy("fifo").levers[:-1], not_the_second]
    controller = Controller(client, Policy("own", tuple(levers)), as_large_as_first_seen, Settings(), clock=clock)
    plan = controller.step().plan
    assert plan.vetoes == {(int(controller.live.waiting_stages()[0]), 1): Reason.VETO}
    assert rm.posts == []


def test_of_many_that_wait_each_counts_for_those_behind_it(rm: FakeRm, control: Callable[..., Controller]) -> None:
    """However many are asked together."""
    rm.add_node("a:1", 8192, 8)
    controller = control("max-running(jobs=5)")
    for _ in range(12):
        rm.add_app().asks = [(0, 256, 1, 1)]
    rm.start_am(next(iter(rm.apps.values())), "a:1", 256, 1)
    said = controller.step().plan.admission
    assert said is not None
    assert [job for job, reason in said.items() if reason is Reason.NONE] == [1, 2, 3, 4]
    assert list(said) == list(range(1, 12))
