"""The built-in workloads: deterministic, sound, and what they claim to be."""

from __future__ import annotations

import numpy as np
import pytest

from heddle.model.cluster import Cluster
from heddle.model.errors import BadInput
from heddle.model.workload import AM, EXECUTORS, INNER, NO_SEGMENTS, TASKS, Workload
from heddle.traces.catalogue import describe, make_workload, names, suggested_cluster
from heddle.traces.check import check_fits, check_structure
from heddle.traces.identity import workload_hash
from heddle.traces.load import is_built_in, load_workload


@pytest.mark.parametrize("name", names())
def test_same_seed_same_workload_other_seed_another(name: str) -> None:
    first, again, other = (workload_hash(make_workload(name, seed)) for seed in (1, 1, 2))
    assert first == again
    assert first != other


@pytest.mark.parametrize("name", [*names(), "bench(with_am=yes, with_use=yes, job_tasks=7, tasks=100)"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_sound_and_runnable_on_the_suggested_cluster(name: str, seed: int) -> None:
    workload = make_workload(name, seed)
    assert check_structure(workload, name).found == []
    assert check_fits(workload, suggested_cluster(name)) == []
    assert workload.about["seed"] == seed


@pytest.mark.parametrize(
    "name", ["over-reserved-day(with_am=yes, tasks=500)", "over-reserved-day(tasks=1)", "mix(jobs=1)"]
)
def test_odd_parameters(name: str) -> None:
    assert check_structure(make_workload(name, 1), name).found == []


@pytest.mark.parametrize("name", names())
def test_described_with_every_parameter(name: str) -> None:
    entry = describe(name)
    assert 20 < len(entry.summary) < 120
    assert entry.parameters
    assert {parameter.name for parameter in entry.parameters} == set(make_workload(name).about["parameters"])
    for parameter in entry.parameters:
        assert type(parameter.default) is parameter.kind
        assert len(parameter.what) > 5


def offered_load(workload: Workload, cluster: Cluster) -> float:
    """Reserved work of the tasks over what the scarcest resource offers until the last arrival."""
    tasks = workload.stages["kind"] == TASKS
    shape = np.repeat(workload.shapes[workload.stages["shape"]], workload.stages["n_tasks"], axis=0)
    working = np.repeat(tasks, workload.stages["n_tasks"])
    work = (shape[working] * workload.tasks["duration_ms"][working][:, None]).sum(axis=0)
    return float((work / np.array(cluster.total_allowance())).max() / workload.jobs["submit_at_ms"][-1])


@pytest.mark.parametrize(
    ("spec", "load"),
    [
        ("bench(tasks=20000)", 0.8),
        ("bench(tasks=20000, load=1.5)", 1.5),
        ("bench(tasks=20000, nodes=10, job_tasks=10, with_am=true)", 0.8),
        ("over-reserved-day", 1.2),
    ],
)
def test_load_is_as_asked(spec: str, load: float) -> None:
    for seed in range(3):
        assert offered_load(make_workload(spec, seed), suggested_cluster(spec)) == pytest.approx(load, rel=0.02)


def test_bench_distributions() -> None:
    workload = make_workload("bench(tasks=40000)", 7)
    seconds = workload.tasks["duration_ms"] / 1000
    assert seconds.min() == 10
    assert seconds.max() == 1000
    assert np.median(seconds) == pytest.approx(100, rel=0.03)
    inside = np.log(seconds[(seconds > 10) & (seconds < 1000)])
    assert np.quantile(inside, [0.159, 0.841]) == pytest.approx([np.log(100) - 1, np.log(100) + 1], abs=0.08)
    sizes = workload.shapes[workload.stages["shape"]]
    for column, values in ((0, (1024, 2048, 4096, 8192)), (1, (1000, 2000, 4000))):
        found, count = np.unique(sizes[:, column], return_counts=True)
        assert found.tolist() == list(values)
        assert count / len(sizes) == pytest.approx([1 / len(values)] * len(values), abs=0.015)
    gaps = np.diff(workload.jobs["submit_at_ms"])
    assert gaps.std() / gaps.mean() == pytest.approx(1, abs=0.03)  # exponential


def test_bench_options() -> None:
    workload = make_workload("bench(tasks=95, job_tasks=10, with_am=true, with_use=true)", 1)
    assert workload.n_jobs == 10
    assert workload.n_tasks == 95
    assert workload.stages["n_tasks"][1::2].tolist() == [10] * 9 + [5]
    assert workload.has_use
    assert (workload.stages["kind"][::2] == AM).all()
    assert make_workload("bench(tasks=95)", 1).tasks["first_segment"].max() == NO_SEGMENTS


def mean_memory(workload: Workload) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(mean use, reservation, duration) of each task of a workload whose use has two levels."""
    until = workload.segments["until_permyriad"][::2] / 10_000
    use = workload.segments["use"][::2, 0] * until + workload.segments["use"][1::2, 0] * (1 - until)
    reserved = np.repeat(workload.shapes[workload.stages["shape"], 0], workload.stages["n_tasks"])
    return use, reserved, workload.tasks["duration_ms"]


def test_over_reserved_day_is_as_inefficient_as_the_paper_says() -> None:
    workload = make_workload("over-reserved-day", 3)
    use, reserved, duration = mean_memory(workload)
    job = np.repeat(np.arange(workload.n_jobs), workload.stages["n_tasks"])

    def efficiency(owner: np.ndarray) -> np.ndarray:
        return np.bincount(owner, use * duration) / np.bincount(owner, reserved * duration)

    assert workload.n_tasks == pytest.approx(18_000, rel=0.05)
    assert np.mean(use / reserved < 0.5) == pytest.approx(0.9, abs=0.04)
    assert np.mean(efficiency(job) < 0.24) == pytest.approx(0.9, abs=0.03)
    assert np.mean(efficiency(workload.jobs["user"][job]) < 0.35) == pytest.approx(0.9, abs=0.03)
    assert (use * duration).sum() / (reserved * duration).sum() == pytest.approx(0.5, abs=0.06)
    vcores = workload.segments["use"][::2, 1]
    assert np.mean(vcores < 1000) == pytest.approx(0.6, abs=0.02)
    assert 1700 < vcores.max() <= 2000
    assert np.mean(duration < 100_000) > 0.75
    assert (workload.segments["use"][1::2, 0] <= reserved).all()


def test_am_storm_has_more_ams_than_its_cluster_holds() -> None:
    workload, cluster = make_workload("am-storm"), suggested_cluster("am-storm")
    am = workload.shapes[workload.stages["shape"][workload.stages["kind"] == AM]]
    assert am[:, 0].sum() > 1.5 * cluster.total_allowance()[0]


def test_mix_has_every_kind_of_job() -> None:
    workload = make_workload("mix", 1)
    stages = workload.stages
    assert workload.jobs["has_am"].all()
    assert (stages["kind"] == EXECUTORS).any()
    assert (stages["kind"] == INNER).any()
    assert (stages["slow_start_permille"] >= 0).any()
    assert workload.jobs["iterative"].any()
    assert (stages["n_after"] == 2).any()
    assert set(workload.queues) == {"root.prod", "root.dev", "root.adhoc"}
    assert workload.has_use
    own = stages["kind"] == TASKS
    reserved = np.repeat(workload.shapes[stages["shape"]], stages["n_tasks"], axis=0)
    first = workload.tasks["first_segment"]
    working = np.repeat(own, stages["n_tasks"])
    assert (workload.segments["use"][first[working] + 1] <= reserved[working]).all()


def test_network_dags_prefer_existing_hosts_in_their_first_layer() -> None:
    workload = make_workload("network-dags(hosts=5)", 1)
    assert workload.prefers is not None
    assert {node.name for node in suggested_cluster("network-dags(hosts=5)").nodes} >= set(workload.hosts)
    first_layer = np.repeat(
        (workload.stages["n_after"] == 0) & (workload.stages["kind"] == TASKS), workload.stages["n_tasks"]
    )
    assert ((workload.prefers >= 0) == first_layer).all()


def test_network_dags_hand_on_data() -> None:
    workload = make_workload("network-dags(read_mb=10)", 1)
    assert workload.edge_bytes is not None
    assert workload.input_bytes is not None
    per_task = workload.edge_bytes / np.repeat(workload.stages["n_tasks"], workload.stages["n_after"])
    reads = np.concatenate([per_task, workload.input_bytes[workload.input_bytes > 0]])
    assert 2.5e6 <= reads.min() < reads.max() <= 17.5e6
    # Other sizes are the same DAGs.
    other = make_workload("network-dags(read_mb=0)", 1)
    assert other.edge_bytes is None
    assert (other.tasks == workload.tasks).all()
    assert suggested_cluster("network-dags").has_network


def test_parameters_reach_the_generator() -> None:
    assert make_workload("mix(jobs=11)").n_jobs == 11
    assert make_workload(" burst( jobs = 1_0 ,tasks=1) ").n_tasks == 10
    assert suggested_cluster("bench(nodes=7)").n_nodes == 7


@pytest.mark.parametrize(
    ("spec", "what"),
    [
        ("mx", 'did you mean "mix"? known: mix, burst'),
        ("mix(job=3)", 'unknown parameter, did you mean "jobs"? known are jobs, mean_gap_s, scale'),
        ("mix(jobs=0)", "must be between 1 and"),
        ("mix(jobs=x)", "must be a whole number, not x"),
        ("mix(jobs=1.5)", "must be a whole number"),
        ("mix(mean_gap_s=nan)", "must be between"),
        ("bench(with_am=maybe)", "must be true or false"),
        ("mix(jobs)", "say parameter=value"),
        ("mix(jobs=1, jobs=2)", "given twice"),
        ("mix(jobs=1", "not a workload"),
        ("", "not a workload"),
    ],
)
def test_bad_specs(spec: str, what: str) -> None:
    with pytest.raises(BadInput) as caught:
        load_workload(spec)
    assert what in str(caught.value)


def test_all_problems_of_a_spec_at_once() -> None:
    with pytest.raises(BadInput) as caught:
        make_workload("mix(jobs=x, gap=1, scale=-1)")
    assert [problem.field for problem in caught.value.problems] == ["jobs", "gap", "scale"]


def test_negative_seed_is_bad_input() -> None:
    with pytest.raises(BadInput, match="a seed is 0 or more"):
        make_workload("mix", -1)


def test_is_built_in() -> None:
    assert is_built_in("mix(jobs=3)")
    assert not is_built_in("mix.csv")


def test_phases_follow_one_another_and_differ_in_what_they_use() -> None:
    workload = make_workload("phases(phase_s=100)", 1)
    phase = {"etl": 0, "hourly": 1, "report": 2, "query": 2, "train": 3}
    share: dict[str, list[float]] = {}
    for job in range(workload.n_jobs):
        name = workload.job_name(job).partition("-")[0]
        assert phase[name] * 100_000 <= workload.jobs["submit_at_ms"][job] < (phase[name] + 1) * 100_000
        stage = int(workload.jobs["first_stage"][job]) + 1
        last = np.flatnonzero(workload.segments["last"])
        task = workload.tasks[int(workload.stages["first_task"][stage])]
        peak = workload.segments["use"][last[np.searchsorted(last, task["first_segment"])], 0]
        share.setdefault(name, []).append(peak / workload.shapes[workload.stages["shape"][stage], 0])
    assert max(share["etl"]) < 0.4
    assert min(share["train"]) > 0.9
    assert {queue.name for queue in suggested_cluster("phases").queues} >= {"root.pool-0", "root.pool-1"}


def test_memory_and_cpu_has_early_reduces_and_rounds() -> None:
    workload = make_workload("memory-and-cpu")
    early = workload.stages["slow_start_permille"] >= 0
    assert early.any()
    assert workload.stages["iteration"].max() == 2
    assert workload.jobs["iterative"].tolist() == 4 * [0, 0, 1]
    sizes = {tuple(shape) for shape in workload.shapes.tolist()}
    assert {(1536, 1000), (512, 3000)} <= sizes  # what fits beside each other
