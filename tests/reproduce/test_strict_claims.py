"""Claims whose verdicts once could not fail, fed with runs that must fail them: no run is simulated here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from heddle.reproduce.admission_control.settings import Rounds
from heddle.reproduce.admission_control.stock import stock
from heddle.reproduce.claims import Claim, Source
from heddle.reproduce.constants import read_constants
from heddle.reproduce.haste.held import held_reduces
from heddle.reproduce.haste.measures import Measured
from heddle.reproduce.haste.scored import Scored
from heddle.reproduce.haste.settings import ITERATIVE, SAME
from heddle.reproduce.haste.settings import Settings as HasteSettings
from heddle.reproduce.haste.side import side_results
from heddle.reproduce.lab import Findings, Lab, Part, Scores
from heddle.reproduce.network_aware.bandwidths import bandwidths
from heddle.reproduce.network_aware.hosts import Hosts
from heddle.reproduce.usage_feedback.budget import budget
from heddle.reproduce.usage_feedback.damping import FIT, USERS, damping_factor
from heddle.reproduce.usage_feedback.settings import Settings
from heddle.reproduce.verdicts import Verdict


@pytest.fixture
def lab() -> Lab:
    return Lab(lambda *_: iter(()), Path(), quick=True)


def claims_of(part: Part, metrics: Callable[[Any, str, int], dict[str, Any]]) -> dict[str, Claim]:
    """What the part says if every run that it asks for, by (name, policy, seed), has these metrics."""
    plan = next(part)
    try:
        part.send({key: metrics(*key) for key in plan if isinstance(key, tuple)})
    except StopIteration as ended:
        findings: Findings = ended.value
        return {claim.id: claim for claim in findings.claims}
    raise AssertionError("the part asks for more runs")


@pytest.mark.parametrize(
    ("stuck_seeds", "stock_stalls", "verdicts"),
    [
        ([], True, [Verdict.REPRODUCED, Verdict.REPRODUCED]),
        ([2], True, [Verdict.REPRODUCED, Verdict.NOT_REPRODUCED]),  # one round of one seed is too many
        ([], False, [Verdict.NOT_REPRODUCED, Verdict.REPRODUCED]),
    ],
)
def test_one_deadlock_under_admission_control_is_too_many(
    lab: Lab, stuck_seeds: list[int], stock_stalls: bool, verdicts: list[Verdict]
) -> None:
    rounds = Rounds(lab, read_constants("admission-control"), 8)

    def metrics(size: tuple[int, int], policy: str, seed: int) -> dict[str, Any]:
        controlled = policy == rounds.controlled
        stalls = size == (4, 4) and seed in stuck_seeds if controlled else stock_stalls
        return {"outcome": "stalled" if stalls else "finished", "makespan_s": None if stalls else 100.0}

    found = claims_of(stock(rounds), metrics)
    assert [found["I.3"].judgement.verdict, found["I.4"].judgement.verdict] == verdicts


@pytest.mark.parametrize(
    ("leads", "verdict"),
    [
        ({10: 20.0, 100: 10.0, 1000: 5.0}, Verdict.REPRODUCED),
        ({10: 12.0, 100: -18.0, 1000: -74.0}, Verdict.NOT_REPRODUCED),  # widest when small, but behind elsewhere
        ({10: 10.0, 100: 20.0, 1000: 5.0}, Verdict.NOT_REPRODUCED),
        ({10: -74.0, 100: -18.0, 1000: -12.0}, Verdict.NOT_REPRODUCED),
    ],
)
def test_a_gap_is_a_lead_at_every_bandwidth(lab: Lab, leads: dict[int, float], verdict: Verdict) -> None:
    hosts = Hosts(lab, read_constants("network-aware"))
    stock_policy = hosts.known["policy.stock"]

    def metrics(name: tuple[str, int], policy: str, seed: int) -> dict[str, Any]:
        lead = 0.0 if policy == stock_policy else leads[name[1]]
        span = 1000 * (1 - lead / 100) * (1 + seed / 1000)
        network = {"moved_gb": 1.0, "cross_rack_gb": 0.5, "local_gb": 1.0, "fetching_s": 10.0}
        return {
            "outcome": "finished", "makespan_s": span, "network": network, "tasks": 100,
            "utilisation": {"vcores": {"used": 500 / span}},
        }  # fmt: skip

    found = claims_of(bandwidths(hosts), metrics)
    assert found["paper-stock.2"].judgement.verdict is verdict
    assert {id_ for id_, claim in found.items() if claim.source is Source.PAPER} == {
        f"paper-stock.{n}" for n in (1, 2, 3)
    }
    behind = any(lead < 0 for lead in leads.values())
    assert ("Where it is slower" in found["paper-stock.1"].note) is behind
    assert "same work in another time" in found["paper-stock.3"].note


@pytest.mark.parametrize(
    ("leads", "verdicts"),
    [
        ({10: 5.0, 100: 5.0, 1000: 1.0}, [Verdict.REPRODUCED, Verdict.REPRODUCED, Verdict.REPRODUCED]),
        ({10: 20.0, 100: 0.0, 1000: 0.0}, [Verdict.DIRECTION, Verdict.REPRODUCED, Verdict.DIRECTION]),
        ({10: 20.0, 100: 5.0, 1000: -4.0}, [Verdict.REPRODUCED, Verdict.NOT_REPRODUCED, Verdict.REPRODUCED]),
        ({10: 0.0, 100: 0.0, 1000: 0.0}, [Verdict.NOT_REPRODUCED, Verdict.REPRODUCED, Verdict.NOT_REPRODUCED]),
    ],
)
def test_fetch_times_are_ahead_or_not(lab: Lab, leads: dict[int, float], verdicts: list[Verdict]) -> None:
    hosts = Hosts(lab, read_constants("network-aware"))
    fetch_policy = hosts.known["policy.fetch"]

    def metrics(name: tuple[str, int], policy: str, seed: int) -> dict[str, Any]:
        lead = leads[name[1]] if policy == fetch_policy else 0.0
        span = 1000 * (1 - lead / 100) * (1 + seed / 1000)
        network = {"moved_gb": span, "cross_rack_gb": 0.5, "local_gb": 1.0, "fetching_s": 10.0}
        return {
            "outcome": "finished", "makespan_s": span, "network": network, "tasks": 100,
            "utilisation": {"vcores": {"used": 500 / span}},
        }  # fmt: skip

    found = claims_of(bandwidths(hosts), metrics)
    assert [found[f"fetch-late.{n}"].judgement.verdict for n in (1, 2, 3)] == verdicts
    later = "light, 1000 Mbit/s (+4.0 %)" if leads[1000] < 0 else "Surely later: nowhere."
    assert later in found["fetch-late.1"].note


@pytest.mark.parametrize(
    ("fails_from", "falls_until", "begins", "earlier", "stops"),
    [
        ({FIT: 0.125, USERS: 0.175}, 0.3, Verdict.REPRODUCED, Verdict.REPRODUCED, Verdict.REPRODUCED),
        ({FIT: 0.1, USERS: 0.1}, 0.0, Verdict.NOT_REPRODUCED, Verdict.NOT_REPRODUCED, Verdict.NOT_REPRODUCED),
        ({FIT: 0.5, USERS: 0.125}, 1.0, Verdict.DIRECTION, Verdict.NOT_REPRODUCED, Verdict.NOT_REPRODUCED),
    ],
)
def test_the_damping_factor_bends_where_the_paper_says_or_not(
    lab: Lab, fails_from: dict[str, float], falls_until: float, begins: Verdict, earlier: Verdict, stops: Verdict
) -> None:
    settings = Settings(lab, read_constants("usage-feedback"))

    def metrics(name: tuple[str, str], policy: str, seed: int) -> dict[str, Any]:
        damping = float(policy.partition("damping=")[2].removesuffix(")").partition(",")[0])
        span = 100.0 if damping >= falls_until else 200.0 - 100 * damping
        failed = 1 if damping >= fails_from[name[0]] else 0
        return {"outcome": "finished", "makespan_s": span, "crashed_tasks": failed, "tasks": 3600}

    found = {id_: claim.judgement.verdict for id_, claim in claims_of(damping_factor(settings), metrics).items()}
    assert found["V-C.2"] is begins
    assert found["V-C.3"] is earlier
    assert found["V-C.4"] is stops
    assert found["V-C.5"] is stops


@pytest.mark.parametrize(
    ("span", "failed", "verdicts"),
    [
        (90.0, 3, [Verdict.REPRODUCED, Verdict.REPRODUCED, Verdict.REPRODUCED]),
        (90.0, 9, [Verdict.NOT_REPRODUCED, Verdict.REPRODUCED, Verdict.REPRODUCED]),  # 0.9 % of tasks
        (97.0, 3, [Verdict.REPRODUCED, Verdict.REPRODUCED, Verdict.NOT_REPRODUCED]),  # 8 % behind hindsight
        (101.0, 3, [Verdict.REPRODUCED, Verdict.NOT_REPRODUCED, Verdict.NOT_REPRODUCED]),
    ],
)
def test_a_failure_budget_must_keep_to_it_and_win(lab: Lab, span: float, failed: int, verdicts: list[Verdict]) -> None:
    """Hindsight has 90 s, at a damping of 0.3; the fastest of all, 80 s at 1, fails too often."""
    settings = Settings(lab, read_constants("usage-feedback"))
    fixed = {0.05: (120.0, 0), 0.125: (100.0, 1), 0.3: (90.0, 3), 1.0: (80.0, 20)}
    runs = {settings.damped(damping): one for damping, one in fixed.items()} | {settings.tuned: (span, failed)}
    scores = Scores(
        {
            ("day", policy, seed): {
                "outcome": "finished", "makespan_s": s * (1 + seed / 1000), "crashed_tasks": f, "tasks": 1000
            }
            for policy, (s, f) in runs.items()
            for seed in range(4)
        }
    )  # fmt: skip
    found = budget(settings, scores, {"day": "day"}, list(fixed), "budget", "here")
    assert [claim.judgement.verdict for claim in found.claims] == verdicts
    assert "0.3 (day)" in found.claims[2].note
    assert all(claim.source is Source.OURS for claim in found.claims)


def haste_runs(spans: Callable[[str, str, str], float]) -> dict[str, Claim]:
    """HaSTE's side results and those beyond, if makespans are these by setting, batch and policy."""
    settings = HasteSettings(Lab(lambda *_: iter(()), Path(), quick=True), read_constants("haste"))
    form = "urgency=assigned"
    held = [f"{name}({form},hold_reduces=true)" for name in ("haste", "haste-a")]
    policies = [*settings.known["policy.baselines"], f"haste({form})", f"haste-a({form})", *held]
    results: Any = {
        (setting, name, policy, seed): Measured(spans(setting, name, policy) * (1 + seed / 1000), 1.0, 50.0, 50.0, 1.0)
        for setting, name in settings.batches()
        for policy in [*policies, *settings.known["policy.ablations"]]
        for seed in range(3)
    }
    scored = Scored(settings, results, settings.known["policy.baselines"], f"haste({form})", f"haste-a({form})")
    claims = [*side_results(scored), *held_reduces(scored, {}, *held).claims]
    return {claim.id: claim for claim in claims}


def test_haste_leads_less_with_iterative_jobs_and_long_intervals_or_not() -> None:
    def spans(less: float) -> Callable[[str, str, str], float]:
        def span(setting: str, name: str, policy: str) -> float:
            far = setting == ITERATIVE or "every 60 s" in name
            return 80.0 + less * far if policy.startswith("haste") else 90.0 if policy == "ffd-dp" else 100.0

        return span

    found = haste_runs(spans(5.0))
    assert [found[name].judgement.verdict for name in ("side.7", "side.8", "side.10")] == [Verdict.REPRODUCED] * 3
    found = haste_runs(spans(-5.0))
    assert [found[name].judgement.verdict for name in ("side.8", "side.10")] == [Verdict.NOT_REPRODUCED] * 2


@pytest.mark.parametrize(
    ("held", "verdict", "behind"), [(75.0, Verdict.REPRODUCED, "nowhere"), (85.0, Verdict.NOT_REPRODUCED, SAME)]
)
def test_reduces_that_are_held_back_win_or_they_do_not(held: float, verdict: Verdict, behind: str) -> None:
    found = haste_runs(lambda _, __, policy: held if "hold_reduces" in policy else 80.0)
    assert found["beyond.1"].judgement.verdict is verdict
    assert f"Surely behind: {behind}" in found["beyond.1"].note
    assert found["side.9"].judgement.verdict is Verdict.NOT_REPRODUCED  # as good as HaSTE is not ahead of it
