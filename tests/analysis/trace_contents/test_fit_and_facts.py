"""Fitting a synthetic workload to a trace, and describing one."""

import numpy as np
import pytest

from heddle.analysis.trace_contents.facts import trace_facts
from heddle.analysis.trace_contents.fit import fit, kolmogorov_smirnov
from heddle.model.errors import BadInput
from heddle.policy.parse import parse_policy
from heddle.run import simulate
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build
from heddle.traces.catalogue import make_workload
from heddle.traces.check import check_structure
from heddle.traces.clusters import load_cluster


def test_kolmogorov_smirnov_by_hand_and_at_its_extremes() -> None:
    found = kolmogorov_smirnov(np.array([1.0, 2.0, 3.0, 4.0]), np.array([3.0, 4.0, 5.0, 6.0]))
    assert found["distance"] == 0.5
    random = np.random.default_rng(0)
    same = kolmogorov_smirnov(random.normal(size=2000), random.normal(size=2000))
    other = kolmogorov_smirnov(random.normal(size=2000), random.normal(0.3, 1, size=2000))
    assert same["p"] > 0.05 > 1e-6 > other["p"]


def test_a_workload_drawn_from_lognormals_is_fitted_without_a_difference_to_show() -> None:
    random = np.random.default_rng(1)
    gaps, lengths = np.exp(random.normal(2, 0.5, 400)), np.exp(random.normal(3, 0.8, 400))
    at = np.round(1000 * np.cumsum(gaps)).astype(int)
    jobs = [
        JobSpec(f"j{n}", int(at[n]), [StageSpec("s", (1024, 1000), [TaskSpec(round(1000 * lengths[n]))])])
        for n in range(400)
    ]
    fitted, report = fit(build("lognormal", jobs), None, seed=2)
    assert fitted.n_jobs == 400
    assert not check_structure(fitted, "fitted").found
    assert all(one["p"] > 0.01 for one in report["tests"].values())
    assert report["parameters"]["gap_s"]["mu"] == pytest.approx(2, abs=0.1)


def test_one_job_is_not_enough_to_fit() -> None:
    with pytest.raises(BadInput, match="one job"):
        fit(build("one", [JobSpec("j", 0, [StageSpec("s", (1, 1), [TaskSpec(1)])])]), None, 0)


def test_the_suggested_cluster_is_loaded_to_eighty_percent() -> None:
    workload = make_workload("bench(tasks=20000, load=1.0)", 0)
    facts = trace_facts(workload)
    assert max(facts["cluster"]["load"].values()) == pytest.approx(0.8, abs=0.02)
    run = simulate(workload, load_cluster(facts["cluster"]["text"]), parse_policy("fifo"))
    assert run.manifest["outcome"] == "finished"


def test_what_is_missing_is_said() -> None:
    plain = trace_facts(build("w", [JobSpec("j", 0, [StageSpec("s", (1, 1), [TaskSpec(1)])])]))
    assert any("usage-feedback" in what for what in plain["missing"])
    assert any("am-share" in what for what in plain["missing"])
    rich = trace_facts(make_workload("mix", 0))
    assert not any("usage-feedback" in what or "am-share" in what or "queue" in what for what in rich["missing"])
