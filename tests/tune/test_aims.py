"""Goals and limits, as people write them."""

from __future__ import annotations

import pytest

from heddle.model.errors import BadInput
from heddle.run import simulate
from heddle.traces.catalogue import suggested_cluster
from heddle.traces.load import load_workload
from heddle.tune.aims import FEW_CRASHES, Keep, Measure, read_aims

QUEUES = ("root", "root.prod", "root.etl")


def test_short_names_and_limits() -> None:
    aims = read_aims("jct.mean", ["root.prod jct.p95 <= +5%", "makespan<=900", "fairness.jain >= -2 %"], QUEUES)
    assert aims.goal == Measure("jct_s.mean")
    assert aims.keeps == (
        Keep(Measure("jct_s.p95", "root.prod"), 5.0, relative=True, at_least=False),
        Keep(Measure("makespan_s"), 900.0, relative=False, at_least=False),
        Keep(Measure("fairness.jain"), -2.0, relative=True, at_least=True),
        FEW_CRASHES,
    )
    assert [str(one) for one in aims.keeps][:2] == ["root.prod jct_s.p95 <= +5%", "makespan_s <= 900"]
    assert read_aims("makespan", ["crashed_pct <= 2"], QUEUES).keeps[0].limit == 2.0


def test_everything_wrong_is_said_at_once() -> None:
    with pytest.raises(BadInput) as raised:
        read_aims("jct.men", ["root.prd jct.p95 <= 5%", "makespan < 3", "root.prod makespan <= 3"], QUEUES)
    said = [str(one) for one in raised.value.problems]
    assert len(said) == 4
    assert "jct_s.mean" in said[0]
    assert "no queue root.prd" in said[1]
    assert "root.prod" in said[1]
    assert "say it as in" in said[2]
    assert "no such number of a queue" in said[3]


def test_a_queues_numbers_are_of_its_jobs_and_those_of_queues_below() -> None:
    workload, cluster = load_workload("mix"), suggested_cluster("mix")
    run = simulate(workload, cluster, "capacity")
    queues = run.jobs["queue"].unique().to_list()
    whole, parts = Measure("jct_s.mean").of(run), [Measure("jct_s.mean", queue).of(run) for queue in queues]
    sizes = [(run.jobs["queue"] == queue).sum() for queue in queues]
    assert len(queues) > 1
    assert whole == pytest.approx(sum(n * part for n, part in zip(sizes, parts, strict=True) if part) / sum(sizes))
    assert Measure("jct_s.mean", "root").of(run) == pytest.approx(whole)
    assert Measure("jct_s.p95", "root").of(run) == pytest.approx(Measure("jct_s.p95").of(run))
    assert Measure("wait_s.p95", "root.nobody").of(run) is None
