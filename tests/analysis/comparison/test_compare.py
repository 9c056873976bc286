from __future__ import annotations

import json
import math
from typing import Any

import pytest

from heddle.analysis.comparison.compare import COMPARED, ComparedRun, compare_runs, metric_value, summarise
from heddle.analysis.measures.metrics import run_metrics
from heddle.model.errors import BadInput
from record.hand_made import Job, manifest, run_of


def metrics(policy: str, seed: int, mean_jct_s: float, **changes: Any) -> dict[str, Any]:
    found = run_metrics(run_of([Job(0, 0, 1000)], policy=policy, seed=seed))
    return found | {"jct_s": {"mean": mean_jct_s, "p95": 2 * mean_jct_s}} | changes


def row(
    rows: list[dict[str, Any]], policy: str, metric: str = "jct_s.mean", cluster: str = "one-node"
) -> dict[str, Any]:
    (found,) = [one for one in rows if (one["policy"], one["metric"], one["cluster"]) == (policy, metric, cluster)]
    return found


def test_pairs_by_hand() -> None:
    # Changes per seed: -10 %, -20 %, -30 %: mean -20, deviation 10, half width 4.302653 * 10 / sqrt(3).
    runs = [metrics("fifo", seed, base) for seed, base in ((1, 100.0), (2, 1000.0), (3, 10.0))]
    runs += [metrics("fair", seed, value) for seed, value in ((3, 7.0), (1, 90.0), (2, 800.0))]
    rows = summarise(runs, "fifo")
    half = 4.302653 * 10 / math.sqrt(3)
    fair = row(rows, "fair")
    assert fair["mean"] == pytest.approx(299.0)
    assert fair["vs_baseline_pct"] == pytest.approx(-20.0)
    assert fair["vs_ci95"] == pytest.approx((-20 - half, -20 + half))
    assert (fair["runs"], fair["pairs"], fair["stalled_runs"]) == (3, 3, 0)
    assert row(rows, "fifo")["vs_baseline_pct"] is None
    assert row(rows, "fifo")["ci95"][0] < row(rows, "fifo")["mean"] < row(rows, "fifo")["ci95"][1]
    assert len(rows) == 2 * len(COMPARED)
    assert {"policy", "metric", "mean", "ci95", "vs_baseline_pct", "vs_ci95"} <= fair.keys()


def test_one_seed_has_no_interval() -> None:
    fair = row(summarise([metrics("fifo", 1, 10.0), metrics("fair", 1, 5.0)], "fifo"), "fair")
    assert (fair["mean"], fair["ci95"], fair["vs_baseline_pct"], fair["vs_ci95"]) == (5.0, None, -50.0, None)


def test_a_policy_that_stalled_in_some_runs_has_neither_mean_nor_gain() -> None:
    runs = [metrics("fifo", seed, 100.0) for seed in (1, 2, 3)]
    runs += [metrics("fair", 1, 50.0), metrics("fair", 2, 9e9, outcome="stalled"), metrics("fair", 3, 60.0)]
    fair = row(summarise(runs, "fifo"), "fair")
    assert (fair["mean"], fair["ci95"], fair["vs_baseline_pct"], fair["vs_ci95"]) == (None,) * 4
    assert (fair["runs"], fair["pairs"], fair["stalled_runs"], fair["all_runs"]) == (0, 0, 1, 3)

    fifo = row(summarise(runs, "fair"), "fifo")
    assert (fifo["mean"], fifo["vs_baseline_pct"], fifo["pairs"]) == (100.0, None, 0), "nor against such a baseline"


def test_change_from_zero_has_no_percentage() -> None:
    runs = [metrics("fifo", seed, 1.0, crashed_tasks=0) for seed in (1, 2)]
    crashing = [metrics("fair", seed, 1.0, crashed_tasks=count) for seed, count in ((1, 0), (2, 5))]
    fair = row(summarise(runs + crashing, "fifo"), "fair", "crashed_tasks")
    assert (fair["mean"], fair["vs_baseline_pct"], fair["vs_ci95"]) == (2.5, None, None)
    calm = [metrics("fair", seed, 1.0, crashed_tasks=0) for seed in (1, 2)]
    assert row(summarise(runs + calm, "fifo"), "fair", "crashed_tasks")["vs_baseline_pct"] == 0.0


def test_clusters_are_compared_apart() -> None:
    runs = []
    for name, factor in (("small", 1.0), ("large", 10.0)):
        for seed in (1, 2):
            runs.append(metrics("fifo", seed, 10.0 * factor, cluster=name))
            runs.append(metrics("fair", seed, 5.0 * factor if name == "small" else 200.0, cluster=name))
    rows = summarise(runs, "fifo")
    assert row(rows, "fair", cluster="small")["vs_baseline_pct"] == -50.0
    assert row(rows, "fair", cluster="large")["vs_baseline_pct"] == 100.0


def test_unknown_baseline_and_double_runs_are_refused() -> None:
    with pytest.raises(BadInput, match="drf is not among the policies compared: fifo"):
        summarise([metrics("fifo", 1, 1.0)], "drf")
    with pytest.raises(BadInput, match="ran twice with seed 1"):
        summarise([metrics("fifo", 1, 1.0), metrics("fifo", 1, 1.0)], "fifo")


def test_every_compared_metric_is_in_the_json_of_a_run() -> None:
    found = run_metrics(run_of([Job(0, 0, 1000)]))
    assert all(metric_value(found, metric.name) is not None for metric in COMPARED)
    assert metric_value(found, "jct_s.p12") is None


def test_comparison_of_runs() -> None:
    runs = [
        ComparedRun.of(run_of([Job(0, wait, wait + 1000)], policy=policy, seed=seed))
        for seed in (2, 1)
        for policy, wait in (("fair", 0), ("fifo", 1000))
    ]
    found = compare_runs(runs, "fifo", "heddle compare two")
    assert found.policies == ("fair", "fifo")
    assert found.seeds == (1, 2)
    assert found.row("one-node", "fair", "makespan_s")["vs_baseline_pct"] == -50.0
    document = json.loads(json.dumps(found.as_json(), allow_nan=False))
    assert document.keys() >= {"runs", "summary", "baseline"}
    assert len(document["runs"]) == 4


def test_configuration_hash_changes_with_what_was_run_only() -> None:
    def comparison(**changes: Any) -> str:
        return compare_runs([ComparedRun.of(run_of([Job(0, 0, 1000)], **changes))], "fifo", "x").configuration_hash

    other_cluster = manifest()["cluster"] | {"hash": "d" * 16}
    assert comparison() == comparison(wall_s=50.0)
    assert comparison() != comparison(seed=2)
    assert comparison() != comparison(cluster=other_cluster)
