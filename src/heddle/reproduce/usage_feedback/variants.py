"""The prototype's rules (section VI) and two improvements: what they change on the day of V-A, and for short tasks."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

import numpy as np

from heddle.reproduce import verdicts
from heddle.reproduce.claims import Claim, Source, Table, mean_text
from heddle.reproduce.lab import Findings, Part, Scores, Work, runs_of
from heddle.reproduce.usage_feedback.day import ALL_AT_ONCE
from heddle.reproduce.usage_feedback.settings import Settings
from heddle.reproduce.usage_feedback.surface import alike_tasks, expected_gain_forgetting, roomy_cluster

DAY = "day"


def variants(settings: Settings) -> Part:
    known = settings.known
    over = known["short_tasks.over_reservation"]
    policies = {option: _policy(settings, option) for option in known["variants.options"]}
    tasks = settings.lab.size(known["beyond.tasks"], known["beyond.tasks_quick"])
    day = replace(
        settings.day(known["v_b.size"], ALL_AT_ONCE, known["v_b.median_s"], known["v_a.profile"]), tasks=tasks
    )
    roomy, slots = roomy_cluster(settings)
    plan: dict[Hashable, Work] = {}
    for policy in (settings.reservation, *policies.values()):
        plan.update(runs_of(DAY, day, settings.cluster("cluster_a"), policy, settings.seeds))
        for duration in known["variants.durations_s"]:
            alike = alike_tasks(settings, duration, over, ALL_AT_ONCE, slots)
            plan.update(runs_of(duration, alike, roomy, policy, settings.seeds))
    scores = Scores((yield plan))

    def sooner(name: Hashable, policy: str) -> dict[int, float]:
        return verdicts.sooner_pct(
            scores.metric(name, settings.reservation, "makespan_s"), scores.metric(name, policy, "makespan_s")
        )

    rows = tuple(
        (
            option or "as in V-A",
            mean_text(sooner(DAY, policy)),
            mean_text(scores.failed_pct(DAY, policy), 3),
            *(mean_text(sooner(duration, policy)) for duration in known["variants.durations_s"]),
        )
        for option, policy in policies.items()
    )
    forgetting = policies["forget=true"]
    off = {
        f"{duration} s": {
            seed: value - 100 * expected_gain_forgetting(over, duration, known["policy.damping"])
            for seed, value in sooner(duration, forgetting).items()
        }
        for duration in known["variants.durations_s"]
    }
    means = "; ".join(f"{name} {np.mean(list(seeds.values())):+.1f}" for name, seeds in off.items())
    gains = "; ".join(
        f"{duration} s {mean_text(sooner(duration, forgetting))} %" for duration in known["variants.durations_s"]
    )
    return Findings(
        claims=[
            Claim(
                "V-A.6",
                "If a task's smoothed use goes with it, the gain is 1 - 1/k - g(1 - 1/k)",
                "not in the paper (algebra)",
                "% points off",
                verdicts.sameness(off, known["surface.algebra_within"]),
                f"Option forget=true, {over:g}x reserved: {means}. Sooner by: {gains}.",
                Source.OURS,
            )
        ],
        tables=[
            Table(
                "Variants: the prototype's rules, and two improvements",
                (
                    "usage-feedback",
                    "V-A's day: sooner (%)",
                    "failed (%)",
                    *(f"{over:g}x, {duration} s: sooner (%)" for duration in known["variants.durations_s"]),
                ),
                rows,
                "Against reservation, everything at once. headroom=prototype is min of (5) and (6); side=worker is one "
                "to two reports later; young_reports and forget are not in the paper.",
            )
        ],
    )


def _policy(settings: Settings, option: str) -> str:
    return settings.feedback.removesuffix(")") + (f",{option})" if option else ")")
