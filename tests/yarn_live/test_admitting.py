"""Jobs asked in turn by compiled code, against the same rule written down in Python: one question at a time."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heddle.model.reasons import Reason
from heddle.model.view import EVENT_ALLOCATED, JOB_ADMITTED, JOB_ARRIVED
from heddle.policy.handles import ViewHandle
from heddle.policy.lever import Question
from heddle.policy.parse import parse_policy
from heddle.yarn.live.admitting import most_free_node, suppose
from heddle.yarn.live.decider import Decider
from heddle.yarn.live.levers import LiveLevers
from heddle.yarn.live.live_view import Batch, LiveView
from heddle.yarn.live.names import Names
from heddle.yarn.live.snapshot import Snapshot
from heddle.yarn.live.things_seen import AppSeen, Ask, ContainerSeen, NodeSeen, QueueSeen

POLICIES = (
    "admission-control",
    "admission-control(rule=literal)",
    "admission-control(rule=literal, cold_start=none)",
    "admission-control(backlog=0.5)",
    "max-running(jobs=3)",
)
QUEUES = (
    QueueSeen("root", 1000, 1000),
    QueueSeen("root.default", 750, 1000, max_running_jobs=4),
    QueueSeen("root.batch", 250, 500),
)


def running(number: int, queue: str, node: str, am_mb: int, tasks: int) -> tuple[AppSeen, list[ContainerSeen]]:
    name = f"application_1_{number:04d}"
    app = AppSeen(name, queue, "ann", True, 0, number, True, f"appattempt_1_{number:04d}_000001", ())
    held = [ContainerSeen(f"container_1_{number:04d}_01_000001", name, node, 0, (am_mb, 1000), True)]
    held += [
        ContainerSeen(f"container_1_{number:04d}_01_{task:06d}", name, node, 20, (1024, 1000), False)
        for task in range(2, 2 + tasks)
    ]
    return app, held


@st.composite
def snapshots(draw: st.DrawFn) -> Snapshot:
    names = [f"n{number}:1" for number in range(draw(st.integers(1, 4)))]
    total = st.sampled_from([(4096, 4000), (8192, 8000), (16384, 4000)])
    apps: dict[str, AppSeen] = {}
    containers: dict[str, ContainerSeen] = {}
    queue = st.sampled_from(["root.default", "root.batch"])
    for number in range(draw(st.integers(0, 3))):
        node, tasks = draw(st.sampled_from(names)), draw(st.integers(0, 2))
        app, held = running(number, draw(queue), node, draw(st.sampled_from([256, 1024])), tasks)
        apps[app.id] = app
        containers |= {one.id: one for one in held}
    for number in range(10, 10 + draw(st.integers(0, 12))):
        name, user = f"application_1_{number:04d}", draw(st.sampled_from(["ann", "bob"]))
        has_am, size = draw(st.sampled_from([True, True, True, False])), draw(st.sampled_from([256, 1024, 3072]))
        ask = Ask(0 if has_am else 20, (size, draw(st.sampled_from([1000, 2000]))), 1)
        apps[name] = AppSeen(name, draw(queue), user, not has_am, draw(st.integers(0, 2)), number, has_am, "", (ask,))
    nodes = {name: NodeSeen(name, name, "/r", "RUNNING", "", draw(total), (0, 0), 100, 0.1, 100, 0.1) for name in names}
    return Snapshot.of(Names(), 1000, nodes, apps, containers, QUEUES)


def one_at_a_time(levers: LiveLevers, live: LiveView) -> dict[int, Reason]:
    """The rule, in plain Python on the same view: ask, suppose, tell, ask the next."""
    question, view, jobs = Question.ADMISSION, live.view, live.live_jobs()
    waiting = [job for job in jobs.tolist() if view.job["state"][job] == JOB_ARRIVED]
    said = {}
    for job in sorted(waiting, key=lambda job: (-view.job["priority"][job], job)):
        answer = levers.each(question, "admits", view, np.array([job], np.int64))
        said[job] = Reason(int(answer[0]))
        if said[job] is not Reason.NONE:
            continue
        node = _most_free(view)
        _start(view, job, node, live.am_demand(job))
        if view.job_spec["has_am"][job]:
            event = [[node, int(view.job_spec["first_stage"][job]), -1, 0]]
            levers.tell(question, view, Batch(EVENT_ALLOCATED, np.array(event, np.int64)))
    return said


def _most_free(view: Any) -> int:
    free = view.node["total"][:, 0] - view.node["allocated"][:, 0]
    return int(np.where(view.node["alive"] > 0, free, np.iinfo(np.int64).min).argmax())


def _start(view: Any, job: int, node: int, am: Any) -> None:
    view.job["state"][job] = JOB_ADMITTED
    leaf = int(view.job["queue"][job])
    view.job["allocated"][job] += am
    view.node["allocated"][node] += am
    view.member["allocated"][view.job["member"][job]] += am
    view.pool["allocated"][view.job["pool"][job]] += am
    view.clock["am_allocated"][0] += am
    view.clock["running_jobs"] += 1
    view.queue["am_allocated"][leaf] += am
    view.queue["running_jobs"][leaf] += 1
    view.queue["running_ams"][leaf] += int(view.job_spec["has_am"][job])
    while leaf >= 0:
        view.queue["allocated"][leaf] += am
        leaf = int(view.queue["parent"][leaf])


def everything(live: LiveView) -> list[bytes]:
    return [rows.tobytes() for rows in live.view]


def decided(policy: str, snapshot: Snapshot) -> tuple[LiveLevers, LiveView, dict[int, Reason]]:
    live = LiveView(lambda node: node.total, report_ms=1000, n_pools=1, calculator="dominant")
    levers = LiveLevers(parse_policy(policy), (1, 1000))
    _, plan = Decider(levers, live, 1000).decide(snapshot)
    assert plan.admission is not None
    return levers, live, dict(plan.admission)


@pytest.mark.parametrize("policy", POLICIES)
@settings(max_examples=60, deadline=None)
@given(snapshot=snapshots())
def test_the_same_answers_as_one_question_at_a_time(policy: str, snapshot: Snapshot) -> None:
    levers, live, said = decided(policy, snapshot)
    before = everything(live)
    again = levers.decide(live).admission
    assert again == said  # nothing of what was supposed is left, neither in the view nor in the lever
    assert everything(live) == before
    assert one_at_a_time(levers, live) == said


@pytest.mark.parametrize(("states", "chosen"), [("LR", 1), ("RR", 0), ("LL", 0), ("", -1)])
def test_an_am_is_supposed_on_a_node_that_levers_have_a_row_for(states: str, chosen: int) -> None:
    """With all nodes lost, admission control was told of an AM on node -1, and wrote before its table."""
    words = {"R": "RUNNING", "L": "LOST"}
    nodes = {
        f"n{place}:1": NodeSeen(f"n{place}:1", "n", "/r", words[state], "", (4096, 4000), (0, 0), 100, 0.1, 100, 0.1)
        for place, state in enumerate(states)
    }
    waiting = AppSeen("application_1_0001", "root.default", "ann", False, 0, 1, True, "", (Ask(0, (256, 1000), 1),))
    _, live, said = decided("admission-control", Snapshot.of(Names(), 1000, nodes, {waiting.id: waiting}, {}, QUEUES))
    assert most_free_node(ViewHandle(live.view)) == chosen
    assert len(said) == 1


@settings(max_examples=40, deadline=None)
@given(snapshot=snapshots())
def test_supposing_moves_the_same_sums_as_adding_up_anew(snapshot: Snapshot) -> None:
    _, live, said = decided("max-running(jobs=3)", snapshot)
    before = everything(live)
    for job in said:
        view, demand = live.view, live.am_demand(job)
        suppose(ViewHandle(view), job, 0, 1)
        supposed = everything(live)
        ams = int(view.job_spec["has_am"][job])
        live._memory["am_held"][job] += demand
        live._memory["ams"][job] += ams
        live.add_up()
        assert everything(live) == supposed != before
        live._memory["am_held"][job] -= demand
        live._memory["ams"][job] -= ams
        suppose(ViewHandle(view), job, 0, -1)
        assert everything(live) == before
