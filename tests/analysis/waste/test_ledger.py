"""The ledger adds up to capacity x time, to the last MB-millisecond, and puts things where they belong."""

import numpy as np
import pytest

from heddle.analysis.waste.free_capacity import FREE_LINES
from heddle.analysis.waste.ledger import Ledger, ledger_and_course, waste_ledger
from heddle.analysis.waste.reserved_capacity import RESERVED_LINES
from heddle.model.cluster import Cluster, Faults, Level, Node, Physics, Timing
from heddle.model.errors import BadInput
from heddle.model.workload import EXECUTORS
from heddle.policy.parse import parse_policy
from heddle.record.run import Run
from heddle.run import simulate
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build, constant
from heddle.traces.catalogue import make_workload, suggested_cluster
from heddle.traces.clusters import uniform_cluster


def ledger_of(workload, cluster, policy="fifo", seed=0) -> Ledger:  # type: ignore[no-untyped-def]
    return waste_ledger(simulate(workload, cluster, parse_policy(policy), seed=seed, record=True))


def amount(ledger: Ledger, name: str, resource: int = 0) -> int:
    return next(line.amounts[resource] for line in (*ledger.lines, *ledger.memos) if line.name == name)


@pytest.mark.parametrize(
    "policy", ["fifo", "capacity", "drf", "fifo+usage-feedback", "fifo+borg-default(fraction=0.5)"]
)
@pytest.mark.parametrize("name", ["mix(jobs=12)", "over-reserved-day(tasks=500)", "am-storm", "burst"])
def test_it_adds_up_exactly(name: str, policy: str) -> None:
    ledger = ledger_of(make_workload(name, 1), suggested_cluster(name), policy)
    for r in range(len(ledger.resources)):
        assert sum(line.amounts[r] for line in ledger.lines) == ledger.total[r]
        assert all(line.amounts[r] >= 0 for line in ledger.lines)


def test_it_adds_up_with_lost_nodes_failing_tasks_and_a_smaller_allowance() -> None:
    node = Node("n", (8192, 8000), (6144, 6000))
    cluster = Cluster(
        tuple(Node(f"n{i}", node.capacity, node.allowance) for i in range(4)),
        faults=Faults(node_mtbf_s=60, node_repair_s=30, task_failure_permyriad=500),
        physics=Physics(max_attempts=100),
    )
    tasks = [TaskSpec(20_000, constant(700, 900))] * 60
    jobs = [JobSpec(f"j{n}", 5000 * n, [StageSpec("s", (1024, 1000), tasks)]) for n in range(3)]
    ledger = ledger_of(build("faults", jobs), cluster, seed=3)
    assert amount(ledger, "away") > 0
    assert amount(ledger, "lost") > 0
    assert amount(ledger, "outside") > 0
    for r in range(2):
        assert sum(line.amounts[r] for line in ledger.lines) == ledger.total[r]


def test_where_its_record_is_cut_makes_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    workload, cluster = make_workload("mix(jobs=12)", 1), suggested_cluster("mix(jobs=12)")
    run = simulate(workload, cluster, parse_policy("capacity"), record=True)
    whole = waste_ledger(run)
    begin, end = whole.begin_ms, whole.end_ms
    monkeypatch.setattr(Run, "time_cuts", lambda _: [begin, (begin + end) // 2, end])
    assert waste_ledger(run) == whole


def test_one_task_by_hand() -> None:
    """4 GB of 10, half of it used, all 20 s of the run: the second job comes when the first ends."""
    half = TaskSpec(10_000, constant(2048, 500))
    jobs = [JobSpec(f"j{n}", 10_000 * n, [StageSpec("s", (4096, 1000), [half])]) for n in range(2)]
    ledger = ledger_of(build("two", jobs), uniform_cluster(1, 10240, 4))
    assert (ledger.begin_ms, ledger.end_ms) == (0, 20_000)
    assert ledger.total == (10240 * 20_000, 4000 * 20_000)
    assert amount(ledger, "used") == 2048 * 20_000
    assert amount(ledger, "idle") == 2048 * 20_000
    assert amount(ledger, "nothing_pending") == 6144 * 20_000
    assert amount(ledger, "used", 1) == 500 * 20_000
    assert ledger.reserved == ledger.reserved_by_engine


def test_what_does_not_fit_is_fragmentation_as_far_as_it_waits() -> None:
    """A task of 6 GB waits 10 s beside 4 GB: all of these are free in vain; of the vcores, the one that it wants."""
    jobs = [
        JobSpec(f"j{n}", 0, [StageSpec("s", (6144, 1000), [TaskSpec(10_000, constant(6144, 1000))])]) for n in range(2)
    ]
    ledger = ledger_of(build("two", jobs), uniform_cluster(1, 10240, 4))
    assert amount(ledger, "fragmented") == 4096 * 10_000
    assert amount(ledger, "fragmented", 1) == 1000 * 10_000
    assert amount(ledger, "nothing_pending") == 4096 * 10_000
    assert amount(ledger, "nothing_pending", 1) == 2000 * 10_000 + 3000 * 10_000


def test_reduces_that_hold_containers_are_their_own_line() -> None:
    maps = StageSpec("map", (1024, 1000), [TaskSpec(10_000, constant(512, 500)), TaskSpec(30_000, constant(512, 500))])
    reduce = StageSpec(
        "reduce", (2048, 1000), [TaskSpec(5_000, constant(1024, 500))], after=("map",), slow_start_permille=500
    )
    ledger = ledger_of(build("mr", [JobSpec("j", 0, [maps, reduce])]), uniform_cluster(1, 8192, 8))
    assert amount(ledger, "early") == 2048 * 20_000  # from the first map's end at 10 s to the last one's at 30 s


def test_promises_beyond_the_hardware_are_beside_the_sum() -> None:
    """Eight tasks of 4 GB that use 1 GB run on 10 GB under a sizing that promises ten times as much."""
    tasks = [TaskSpec(10_000, constant(1024, 100))] * 8
    timing = Timing(usage_report_ms=1000)
    cluster = uniform_cluster(1, 10240, 100, timing=timing)
    ledger = ledger_of(
        build("o", [JobSpec("j", 0, [StageSpec("s", (4096, 100), tasks)])]), cluster, "fifo+borg-default(fraction=0.1)"
    )
    assert amount(ledger, "oversold") > 0
    assert sum(line.amounts[0] for line in ledger.lines) == ledger.total[0]
    assert amount(ledger, "used") == 1024 * 10_000 * 8


def test_the_load_of_others_comes_before_what_is_reserved() -> None:
    """2 GB of 10 are somebody else's from 5 s on, when 9 GB are reserved: 1 GB of that was never there."""
    node = Node("n", (10240, 4000), (10240, 4000), background=(Level(5_000, (2048, 1000)),))
    jobs = [JobSpec("j", 0, [StageSpec("s", (9216, 1000), [TaskSpec(10_000, constant(1024, 1000))])])]
    ledger = ledger_of(build("one", jobs), Cluster((node,)))
    assert amount(ledger, "background") == 2048 * 5_000
    assert amount(ledger, "oversold") == 1024 * 5_000
    assert amount(ledger, "nothing_pending") == 1024 * 5_000
    assert amount(ledger, "background", 1) == 1000 * 5_000
    for r in range(2):
        assert sum(line.amounts[r] for line in ledger.lines) == ledger.total[r]


def test_a_load_of_others_that_changes_over_time() -> None:
    """1 GB of 10 from 2 s on, 2 GB from 5 s on, 512 MB from 8 s on; beside it 2 GB are outside the allowance."""
    load = (Level(2_000, (1024, 1000)), Level(5_000, (2048, 500)), Level(8_000, (512, 0)))
    node = Node("n", (10240, 4000), (8192, 4000), background=load)
    jobs = [JobSpec("j", 0, [StageSpec("s", (1024, 1000), [TaskSpec(10_000, constant(1024, 1000))])])]
    ledger, drawn = ledger_and_course(
        simulate(build("one", jobs), Cluster((node,)), parse_policy("fifo"), record=True), 10
    )
    assert amount(ledger, "background") == 1024 * 3_000 + 2048 * 3_000 + 512 * 2_000
    assert amount(ledger, "background", 1) == 1000 * 3_000 + 500 * 3_000
    shares = drawn.shares["memory_mb"]
    assert shares["background"] * 10240 == pytest.approx([0, 0, 1024, 1024, 1024, 2048, 2048, 2048, 512, 512])
    assert shares["outside"] * 10240 == pytest.approx([2048, 2048, 1024, 1024, 1024, 0, 0, 0, 1536, 1536])
    assert sum(shares.values()) == pytest.approx(np.ones(10))


@pytest.mark.parametrize("policy", ["capacity", "fifo+usage-feedback", "fifo+borg-default(fraction=0.5)"])
def test_over_time_it_adds_up_in_every_bin_and_to_the_ledger(policy: str) -> None:
    name = "mix(jobs=12)"
    run = simulate(make_workload(name, 1), suggested_cluster(name), parse_policy(policy), seed=1, record=True)
    ledger, drawn = ledger_and_course(run, 40)
    assert ledger == waste_ledger(run)
    for r, resource in enumerate(run.resources):
        shares = drawn.shares[resource]
        assert sum(shares.values()) == pytest.approx(np.ones(40))
        assert all((share >= 0).all() for share in shares.values())
        of_ledger = {line.name: line.amounts[r] / ledger.total[r] for line in ledger.lines}
        exact = ("away", "background", "outside", *(line for line in FREE_LINES if line != "nothing_pending"))
        for line in exact:
            assert shares[line].mean() == pytest.approx(of_ledger[line], abs=1e-9)
        # What is oversold is taken off bin by bin here, off the sums there: only these lines may differ, together not.
        reserved = [line for line in RESERVED_LINES if line not in ("lost", "am")]
        together = sum(of_ledger[line] for line in reserved)
        assert sum(shares[line].mean() for line in reserved) == pytest.approx(together, abs=0.01)


def test_executors_over_time() -> None:
    name = "mix(jobs=30)"  # its Spark jobs have executors with tasks inside
    run = simulate(make_workload(name, 1), suggested_cluster(name), parse_policy("fifo"), seed=1, record=True)
    assert (run.attempts["kind"] == EXECUTORS).any()
    ledger, drawn = ledger_and_course(run, 25)
    for r, resource in enumerate(run.resources):
        for line in ledger.lines:
            mean = drawn.shares[resource][line.name].mean()
            assert mean == pytest.approx(line.amounts[r] / ledger.total[r], abs=0.005), line.name
        assert amount(ledger, "beyond", r) == 0, "nobody uses more than is reserved"


def test_what_still_waits_in_a_deadlock_was_pending() -> None:
    run = simulate(make_workload("am-storm", 0), suggested_cluster("am-storm"), parse_policy("fifo"), record=True)
    assert run.manifest["outcome"] == "stalled"
    ledger, drawn = ledger_and_course(run, 10)
    assert drawn.shares["memory_mb"]["nothing_pending"][-1] == pytest.approx(0.0)
    assert drawn.shares["vcores_milli"]["nothing_pending"][-1] < 0.1
    assert drawn.shares["vcores_milli"]["order"][-1] > 0.3, "28 jobs wait for their application masters"
    for r in range(2):
        assert sum(line.amounts[r] for line in ledger.lines) == ledger.total[r]


def test_a_run_without_a_log_is_refused() -> None:
    run = simulate(make_workload("burst", 0), suggested_cluster("burst"), parse_policy("fifo"))
    with pytest.raises(BadInput, match="--record"):
        waste_ledger(run)
