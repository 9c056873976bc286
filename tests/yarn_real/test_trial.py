"""The order of a trial, and that an interrupted one goes on; needs no cluster."""

import signal
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from heddle.analysis.comparison.real_trial import running_over_time, shown_jobs, shown_policies
from heddle.cli.yarn_cluster import interruptible
from heddle.cli.yarn_trial import _distinct
from heddle.model.errors import BadInput
from heddle.report.real_trial import trial_html
from heddle.yarn.observe.journal import Journal
from heddle.yarn.testbed import trial
from heddle.yarn.testbed.alternatives import Alternative, alternative, ordering_by
from heddle.yarn.testbed.replay.plan import ReplayJob
from heddle.yarn.testbed.run_jobs import GAVE_UP, JobRun
from heddle.yarn.testbed.trial import TrialRun, order_of, over_reserved, run_trial

RUN = TrialRun(0, "stock", 100.0, 50.0, 6, 0, 0, 0.3, {"a": 50.0})


def test_rounds_go_forth_and_back() -> None:
    assert order_of(["a", "b"], 3) == [(0, "a"), (0, "b"), (1, "b"), (1, "a"), (2, "a"), (2, "b")]


def test_an_interrupted_trial_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[tuple[int, str]] = []

    def one(jobs: Any, number: int, policy: str, *how: Any) -> TrialRun:
        if len(ran) == 2:
            raise KeyboardInterrupt
        ran.append((number, policy))
        return replace(RUN, round=number, policy=policy)

    monkeypatch.setattr(trial, "_one", one)
    monkeypatch.setattr(trial, "SETTLE_S", 0)
    plan = {"rounds": 2}
    places: Any = {None: None}

    def go(given: dict[str, Any]) -> list[TrialRun]:
        return run_trial([], ["stock", "b"], 2, places, Journal(tmp_path / "t"), given, lambda _: None)

    with pytest.raises(KeyboardInterrupt):
        go(plan)
    first, ran[:] = list(ran), []
    assert [(run.round, run.policy) for run in go(plan)] == [(0, "stock"), (0, "b"), (1, "b"), (1, "stock")]
    assert (first, ran) == ([(0, "stock"), (0, "b")], [(1, "b"), (1, "stock")])
    with pytest.raises(BadInput, match="another trial"):
        go({"rounds": 3})


def test_the_built_in_burst_reserves_what_it_says() -> None:
    jobs = over_reserved(times=4, task_s=30)
    assert len(jobs) == 6
    assert isinstance(jobs[0], ReplayJob)
    assert jobs[0].lines == ("stage 1024 1 -", *6 * ("task 0 30000 256:20:10000",))


def test_the_summary_compares_with_the_first_policy_in_the_same_round() -> None:
    runs = [
        RUN,
        replace(RUN, round=1, makespan_s=120.0),
        replace(RUN, policy="b", makespan_s=80.0, failed_jobs=1),
        replace(RUN, policy="b", round=1, makespan_s=84.0, jct_s={"a": 40.0}),
    ]
    first, second = shown_policies(runs, ["stock", "b"])
    assert first.makespan_change_pct is None
    assert (second.failed_jobs, second.makespan_s.mean) == (1, 82.0)
    assert second.makespan_change_pct is not None
    assert second.makespan_change_pct.mean == pytest.approx(-25.0)  # -20 and -30
    assert [(job.name, job.jct_s) for job in shown_jobs(runs)] == [("a", {"stock": 50.0, "b": 45.0})]


def test_one_round_has_no_interval() -> None:
    _, second = shown_policies([RUN, replace(RUN, policy="b")], ["stock", "b"])
    assert second.makespan_change_pct is not None
    assert (second.makespan_change_pct.mean, second.makespan_change_pct.ci95) == (0.0, None)


def test_the_report_says_what_happened_and_escapes_names() -> None:
    runs = [RUN, replace(RUN, policy="<b>", makespan_s=80.0, stuck_jobs=2, jct_s={"<job>": 40.0, "a": 55.0})]
    curves = {"stock": running_over_time(_record([(0, 2000), (1000, 5000)]))}
    html = trial_html("a burst", 1, shown_policies(runs, ["stock", "<b>"]), shown_jobs(runs), curves, "heddle x")
    assert "&lt;b&gt; changed the makespan by −20 % against stock, which these rounds cannot distinguish" in html
    assert "2 of 6 jobs got stuck" in html
    assert "&lt;job&gt;" in html
    assert "<job>" not in html
    assert "Containers running" in html
    assert "+10 %" in html  # job a, later
    assert "Moved between nodes" not in html  # nothing is known of it


def test_what_links_carried_and_cpu_are_shown_where_they_were_measured() -> None:
    runs = [replace(RUN, moved_mb=120.0, cpu_share=0.0125), replace(RUN, round=1, moved_mb=80.0, cpu_share=0.0375)]
    runs += [replace(run, policy="b", moved_mb=None) for run in runs]
    stock, other = shown_policies(runs, ["stock", "b"])
    assert stock.moved_mb is not None
    assert stock.cpu_share is not None
    assert (stock.moved_mb.mean, stock.cpu_share.mean) == (100.0, 0.025)
    assert other.moved_mb is None
    html = trial_html("links", 2, [stock, other], shown_jobs(runs), {}, "heddle x")
    assert ">100 MB</td>" in html
    assert html.count(">2.50 %</td>") == 2


def test_running_containers_over_time() -> None:
    at_s, count = running_over_time(_record([(0, 2000), (1000, 5000), (2000, 3000)]))
    assert (at_s.tolist(), count.tolist()) == ([0, 0, 1, 2, 2, 3, 5], [0, 1, 2, 1, 2, 1, 0])


def _record(spans: list[tuple[int, int]]) -> Any:
    lives = pl.DataFrame(spans, schema=["allocated_at_ms", "ended_at_ms"], orient="row")
    return SimpleNamespace(attempts=lives)


def test_jobs_that_are_given_up_count_until_then() -> None:
    ended = JobRun("a", "replay", "app_1", 1_000_000, 1_002_000, 1_030_000, "SUCCEEDED")
    stuck = JobRun("b", "replay", "app_2", 1_010_000, 1_012_000, None, GAVE_UP)
    run = trial._summed(0, "stock", [ended, stuck], 0.5, give_up_s=100)
    assert (run.makespan_s, run.jct_mean_s, run.failed_jobs, run.stuck_jobs) == (100.0, (30 + 90) / 2, 0, 1)
    assert run.jct_s == {"a": 30.0, "b": 90.0}


def test_every_run_has_a_folder_of_its_own() -> None:
    assert trial.run_name(0, "usage-feedback(damping=0.25)") == "round-1-usage-feedback_damping=0.25"
    assert trial.run_name(0, "stock again") != trial.run_name(0, "stock")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_being_told_to_end_is_an_interrupt(number: signal.Signals) -> None:
    """A trial that simply died would leave its controller steering."""
    before = signal.getsignal(number)
    with pytest.raises(KeyboardInterrupt), interruptible():
        signal.raise_signal(number)
    assert signal.getsignal(number) is before


def test_policies_of_a_trial() -> None:
    assert _distinct(["stock", "stock"]) == ["stock", "stock again"]
    assert _distinct(["a", "stock", "stock", "b"]) == ["a", "stock", "stock again", "b"]
    for wrong in (["stock"], ["a", "b", "a"], ["stock"] * 3):
        with pytest.raises(BadInput):
            _distinct(wrong)


def test_what_the_controller_learnt_is_in_the_policy_that_the_record_names(tmp_path: Path) -> None:
    decisions = Journal(tmp_path / trial.DECISIONS)
    # Before anything runs it does not matter.
    for containers, in_full_s in ((0, 99.0), (3, 10.0), (3, 15.0), (3, 12.5)):
        decisions.add({"containers": containers, "in_full_s": in_full_s})
    decisions.flush()
    assert trial.counted_in_full_s(tmp_path) == 12.5
    assert "young_reports=13" in trial._spelled_out(alternative("usage-feedback"), tmp_path)
    assert "young_reports=13" in trial._spelled_out(alternative("choose(weave)"), tmp_path)
    assert trial._spelled_out(alternative("stock again"), tmp_path) == "stock"


@pytest.mark.parametrize(
    ("text", "means", "simulated_as"),
    [
        ("stock", Alternative(None), "stock"),
        ("stock again@second", Alternative(None, None, "second"), "stock"),
        ("stock( order = fair )", Alternative(None, "fair"), "capacity+leaf-order(default=fair)"),
        ("haste(initial=false)@x", Alternative("haste(initial=false)", None, "x"), "haste(initial=false)"),
        ("choose(dress(theta=0.2)) @x", Alternative("dress(theta=0.2)", None, "x", True), "dress(theta=0.2)"),
    ],
)
def test_what_a_trial_compares(text: str, means: Alternative, simulated_as: str) -> None:
    assert alternative(text) == means
    assert means.simulated_as == simulated_as


def test_a_leaf_cannot_order_by_anything() -> None:
    with pytest.raises(BadInput, match="not 'drf'"):
        alternative("stock(order=drf)")


def test_leaves_are_put_back_as_they_were_found() -> None:
    class Rm:
        def __init__(self) -> None:
            self.changes: list[Any] = []

        def scheduler_settings(self) -> dict[str, str]:
            return {"yarn.scheduler.capacity.root.a.ordering-policy": "bridge"}

        def change_queues(self, changes: Any) -> None:
            self.changes.append(changes)

    rm: Any = Rm()
    with pytest.raises(KeyboardInterrupt), ordering_by("fair", rm, {"root.a", "root.b"}):
        raise KeyboardInterrupt
    fair = {"ordering-policy": "fair"}
    found = {"root.a": {"ordering-policy": "bridge"}, "root.b": {"ordering-policy": None}}
    assert rm.changes == [{"root.a": fair, "root.b": fair}, found]
