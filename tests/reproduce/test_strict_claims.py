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
from heddle.reproduce.lab import Findings, Lab, Part
from heddle.reproduce.network_aware.bandwidths import Hosts, bandwidths
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
            "outcome": "finished", "makespan_s": span, "network": network,
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

    def metrics(name: str, policy: str, seed: int) -> dict[str, Any]:
        damping = float(policy.partition("damping=")[2].removesuffix(")"))
        span = 100.0 if damping >= falls_until else 200.0 - 100 * damping
        failed = 10 if damping >= fails_from[name] else 0
        return {"outcome": "finished", "makespan_s": span, "crashed_tasks": failed, "tasks": 1000}

    found = {id_: claim.judgement.verdict for id_, claim in claims_of(damping_factor(settings), metrics).items()}
    assert found["V-C.2"] is begins
    assert found["V-C.3"] is earlier
    assert found["V-C.4"] is stops
    assert found["V-C.5"] is stops
