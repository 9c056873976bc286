"""What would change when an application ends: tried in cases where one can say beforehand."""

from __future__ import annotations

from heddle.model.cluster import Cluster, Node, Queue
from heddle.model.workload import TASKS
from heddle.twin.changes import Change, try_changes, usual_changes
from heddle.twin.known import Application, Running, Snapshot, Stage

QUEUES = (
    Queue("root"),
    Queue("root.narrow", guarantee_permille=100, maximum_permille=100),
    Queue("root.wide", guarantee_permille=900, maximum_permille=1000),
)
ON = Cluster((Node("n0", (10_240, 100_000), (10_240, 100_000)),), queues=QUEUES, policy="capacity")
PAST = Application(
    "old", "etl-1", "root.narrow", "ann", -99_000, -9000, stages=(Stage("map", TASKS, (1024, 1000), (30_000,)),)
)


def waiting(demand_mb: int = 1024) -> tuple[Snapshot, Application]:
    """Four tasks of 30 s in a queue that can have one of them at a time, on a node that is otherwise idle."""
    stage = Stage("map", TASKS, (demand_mb, 1000), running=(Running("n0", 1000),), left=3)
    app = Application("new", "etl-2", "root.narrow", "ann", -1000, stages=(stage,))
    return Snapshot(ON, "capacity", 10_000, (PAST, app)), app


def test_another_queue_and_a_smaller_request_help_where_the_queue_is_what_is_narrow() -> None:
    snapshot, app = waiting()
    found = try_changes(snapshot, app, usual_changes(snapshot, app, []), 600_000, 3)
    assert found is not None
    as_it_is, tried = found
    by_name = {one.what: one for one in tried}
    assert as_it_is.median_ms == 119_000  # one after the other, less what has been done
    assert by_name["in queue root.wide"].eta.median_ms == 30_000
    assert by_name["in queue root.wide"].helps
    assert by_name["asking for 50 % of the memory"].sooner_ms[1] >= 59_000
    assert by_name["an AM share of 20 % in root.narrow"].sooner_ms == (0, 0, 0)
    assert not by_name["an AM share of 20 % in root.narrow"].helps
    assert tried[0].what == "in queue root.wide"


def test_of_an_application_without_a_basis_nothing_is_tried() -> None:
    snapshot, app = waiting()
    alone = Snapshot(ON, "capacity", 10_000, (app,))
    assert try_changes(alone, app, [Change("nothing")], 600_000, 2) is None
    assert len(snapshot.ended) == 1
