"""What can be said of the comparison with Hadoop's load simulator without running it."""

from dataclasses import replace
from pathlib import Path
from statistics import fmean

import pytest

from heddle.cli.inputs import workload_for
from heddle.experiments.load_simulator import beside, for_load_simulator, heartbeats_ms, policy_of, simulated
from heddle.model.cluster import YARN, Queue
from heddle.model.errors import BadInput, CheckFailed, RunRefused
from heddle.policy.parse import parse_policy
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build
from heddle.traces.catalogue import make_workload
from heddle.traces.cluster_import.scheduler_xml import read_queues_xml
from heddle.traces.clusters import load_cluster, uniform_cluster
from heddle.yarn.testbed.sls.run import JobTimes
from heddle.yarn.testbed.sls.settings import Scheduler, with_queues_of, write_settings

ONE_TASK = StageSpec("only", (1024, 500), [TaskSpec(5000)])
CLUSTER = uniform_cluster(2, 4096, 4, timing=YARN)
BELOW_ROOT = (
    Queue("root"),
    Queue("root.prod", guarantee_permille=700, maximum_permille=900, weight_milli=7000, am_share_permille=500),
    Queue("root.dev", guarantee_permille=300, weight_milli=3000, user_limit_factor_milli=2500, max_running_jobs=4),
    Queue("root.dev.a", guarantee_permille=250, weight_milli=1000, order="fair"),
    Queue("root.dev.b", guarantee_permille=750, weight_milli=3000, min_share=(512, 1000)),
)


def test_a_job_takes_what_its_am_in_sls_takes() -> None:
    """Half a heartbeat or so for the AM's container and to ask, one to be answered, one to act, the task, one to hear
    of its end, and in half of all cases one more, since the node reported too late.
    """
    work = for_load_simulator(build("w", [JobSpec("a", 0, [ONE_TASK])]))
    times_s = [run["a"].jct_s for run in simulated(work, CLUSTER, "capacity", 40)]
    assert min(times_s) >= 8
    assert max(times_s) <= 11
    assert 9 < fmean(times_s) < 10
    assert max(times_s) - min(times_s) > 1


def test_a_simulation_that_stalls_is_a_failed_check() -> None:
    """Two AMs that fill the cluster between them, and no cap on AMs."""
    full = uniform_cluster(
        1, 2048, 4, timing=YARN, queues=(Queue("root"), Queue("root.default", am_share_permille=1000))
    )
    jobs = [JobSpec(name, 0, [ONE_TASK], am=(1024, 1000)) for name in ("a", "b")]
    with pytest.raises(CheckFailed, match="stalled"):
        simulated(for_load_simulator(build("w", jobs)), full, "capacity", 1)


def test_what_sls_does_not_say_is_filled_in() -> None:
    second = StageSpec("sum up", (512, 1000), [TaskSpec(0)], after=("only",))
    work = for_load_simulator(build("w", [JobSpec("a", 0, [ONE_TASK, second])]))
    assert [work.stage_name(stage) for stage in range(3)] == ["am", "map", "reduce"]
    assert work.shapes[work.stages["shape"]].tolist() == [[1024, 1000], [1024, 1000], [512, 1000]]
    assert heartbeats_ms(uniform_cluster(1, 1024, 1)) == (1000, 1000)


def test_what_sls_cannot_run_is_refused_by_name() -> None:
    with pytest.raises(RunRefused, match="executors"):
        for_load_simulator(make_workload("mix", 0))
    beside_it = replace(ONE_TASK, name="other")
    with pytest.raises(RunRefused, match="other stages"):
        for_load_simulator(build("w", [JobSpec("a", 0, [ONE_TASK, beside_it])]))
    with pytest.raises(RunRefused, match="priorities"):
        for_load_simulator(build("w", [JobSpec("a", 0, [ONE_TASK], priority=3)]))


def test_a_workload_brings_one_queue_at_most() -> None:
    assert [queue.name for queue in with_queues_of(CLUSTER, ("root.a",)).queues] == ["root", "root.a"]
    with pytest.raises(BadInput, match=r"no queue root\.a, root\.b"):
        with_queues_of(CLUSTER, ("root.a", "root.b"))


@pytest.mark.parametrize("scheduler", ["capacity", "fair"])
def test_the_settings_say_what_the_cluster_says(scheduler: Scheduler, tmp_path: Path) -> None:
    """Read back by our own import of YARN's files."""
    cluster = replace(CLUSTER, queues=BELOW_ROOT, calculator="memory", off_switch_per_heartbeat=3)
    write_settings(tmp_path, cluster, scheduler, (1000, 1000))
    found = read_queues_xml(tmp_path / f"{scheduler}-scheduler.xml", cluster.total_allowance())
    same = {
        "capacity": ("name", "guarantee_permille", "user_limit_factor_milli", "order"),
        "fair": ("name", "weight_milli", "min_share"),
    }[scheduler] + ("maximum_permille", "max_running_jobs")

    def told(queue: Queue) -> list[object]:
        return [getattr(queue, attribute) for attribute in same]

    assert sorted(map(str, map(told, found.queues[1:]))) == sorted(map(str, map(told, BELOW_ROOT[1:])))
    if scheduler == "capacity":
        assert (found.calculator, found.off_switch_per_heartbeat) == ("memory", 3)


def test_fair_counts_what_the_calculator_counts(tmp_path: Path) -> None:
    for calculator, ordering in (("memory", "fair"), ("dominant", "drf")):
        (tmp_path / calculator).mkdir()
        write_settings(tmp_path / calculator, replace(CLUSTER, calculator=calculator), "fair", (1000, 1000))
        written = (tmp_path / calculator / "fair-scheduler.xml").read_text()
        assert f"<defaultQueueSchedulingPolicy>{ordering}<" in written
        assert policy_of("fair", calculator).queues.name == ordering


def times(*ended_s: float) -> dict[str, JobTimes]:
    return {f"job-{n}": JobTimes(n, round(1000 * end)) for n, end in enumerate(ended_s)}


def test_the_verdict_allows_three_percent_or_what_sls_differs_from_itself() -> None:
    close = beside([times(10, 100), times(10, 100)], [times(11, 102)])
    assert (close.verdict, close.allowed_error, close.sls_interval) == ("inside", 0.03, 0.0)
    assert close.makespan_error == pytest.approx(0.02)
    assert (close.spearman, close.sls_spearman) == (pytest.approx(1), pytest.approx(1))
    assert beside([times(10, 100), times(10, 100)], [times(11, 104)]).verdict == "outside"
    noisy = beside([times(10, 98), times(10, 102)], [times(11, 104)])
    assert noisy.verdict == "inside"
    assert noisy.allowed_error > 0.1
    assert beside([times(10, 100)], [times(100, 10)]).spearman == pytest.approx(-1)


def test_with_large_requests_reservations_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests of 6 of 8 GB among many of 1 GB. If Fair kept no nodes, the makespan would differ by more than the
    comparison with SLS allows; if it kept any number for a job, large jobs would be done much sooner."""
    work = for_load_simulator(workload_for("examples/yarn/scheduler-load-large.csv", 0))
    cluster = with_queues_of(load_cluster("examples/yarn/scheduler-load-cluster.yaml"), work.queues)
    makespan_s, prod_s = {}, {}
    for reserve in ("starved", "none", "always"):
        own = str(policy_of("fair", cluster.calculator)).replace("drf(", f"drf(reserve={reserve},")
        monkeypatch.setattr("heddle.experiments.load_simulator.policy_of", lambda *_, text=own: parse_policy(text))
        runs = simulated(work, cluster, "fair", 5)
        makespan_s[reserve] = fmean(max(job.ended_at_ms for job in run.values()) / 1000 for run in runs)
        prod_s[reserve] = fmean(job.jct_s for run in runs for name, job in run.items() if name.startswith("prod"))
    assert makespan_s["none"] < 0.97 * makespan_s["starved"]
    assert prod_s["always"] < 0.8 * prod_s["starved"] < 0.8 * 0.95 * prod_s["none"]
