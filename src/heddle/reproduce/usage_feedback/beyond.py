"""Beyond the paper: which part of a clairvoyant's gain do rules from practice get, and at what failure rate?

Each rule may try the same number of settings on seeds of their own; the shortest makespan among those whose failures
stay below the limit is then scored on the seeds of V-A.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

import numpy as np

from heddle.reproduce import verdicts
from heddle.reproduce.claims import Claim, Source, Table, mean_text
from heddle.reproduce.drawing import draw_bars
from heddle.reproduce.lab import Findings, Part, Scores, Work, runs_of
from heddle.reproduce.usage_feedback.settings import Settings

RULES = ("usage_feedback", "percentile", "n_sigma", "borg_default", "oracle")
ORACLE = "oracle"


def beyond(settings: Settings) -> Part:
    known, cluster = settings.known, settings.cluster("cluster_a")
    load = known["beyond.member_load"]
    tasks = settings.lab.size(known["beyond.tasks"], known["beyond.tasks_quick"])
    days = {
        f"{size} containers": replace(
            settings.day(size, load, known["v_b.median_s"], known["v_a.profile"]), tasks=tasks
        )
        for size in known.of("ensemble.sizes")
    }
    tried = {rule: [f"{settings.reservation}+{text}" for text in known[f"beyond.{rule}"]] for rule in RULES}
    plan: dict[Hashable, Work] = {}
    for name, day in days.items():
        for rule in RULES:
            if rule != ORACLE:  # it has nothing to choose
                for policy in tried[rule]:
                    plan.update(runs_of(name, day, cluster, policy, settings.tuning_seeds))
    tuning = Scores((yield plan))
    chosen = {
        (name, rule): tried[rule][0] if rule == ORACLE else _chosen(settings, tuning, name, tried[rule])
        for name in days
        for rule in RULES
    }
    plan = {}
    for name, day in days.items():
        for policy in {settings.reservation, settings.feedback, *(chosen[name, rule] for rule in RULES)}:
            plan.update(runs_of(name, day, cluster, policy, settings.seeds))
    scores = Scores((yield plan))

    def sooner(name: str, policy: str) -> dict[int, float]:
        return verdicts.sooner_pct(
            scores.metric(name, settings.reservation, "makespan_s"), scores.metric(name, policy, "makespan_s")
        )

    rows, shares = [], {}
    for name in days:
        oracle = sooner(name, chosen[name, ORACLE])
        for label, policy in [("as published", settings.feedback), *((rule, chosen[name, rule]) for rule in RULES)]:
            gain = sooner(name, policy)
            share = {seed: 100 * gain[seed] / oracle[seed] for seed in gain if oracle.get(seed)}
            shares[f"{name}: {label.replace('_', '-')}"] = share
            rows.append(
                (
                    name,
                    label.replace("_", "-"),
                    policy.partition("+")[2],
                    mean_text(gain),
                    mean_text(share),
                    mean_text(scores.failed_pct(name, policy), 3),
                )
            )
    published = {
        name: {
            seed: 100 * value / sooner(name, chosen[name, ORACLE])[seed]
            for seed, value in sooner(name, settings.feedback).items()
        }
        for name in days
    }
    most = max(len(policies) for policies in tried.values())
    return Findings(
        claims=[
            Claim(
                "beyond.1",
                "What part of the oracle's gain usage feedback gets as published",
                "not in the paper",
                "% of the oracle's gain",
                verdicts.not_judged(published),
                "The oracle knows the true future peak of what a node holds. All rules, tuned, are in the table.",
                Source.OURS,
            )
        ],
        drawings=[
            draw_bars(
                "Part of the oracle's gain", "% of the oracle's gain", shares,
                f"Everything at once. Settings were chosen on other seeds, of {most} for each rule, failures below "
                f"{known['beyond.failed_limit_pct']:g} %.",
            )
        ],
        tables=[
            Table(
                "Sizing rules from practice",
                ("day", "rule", "setting", "sooner than reservation (%)", "of the oracle's gain (%)", "failed (%)"),
                tuple(rows),
                "Mean over seeds with its 95 % interval. `as published`: "
                f"damping {known['policy.damping']:g}, not tuned.",
            )
        ],
    )  # fmt: skip


def _chosen(settings: Settings, tuning: Scores, name: str, policies: list[str]) -> str:
    """The shortest mean makespan of the settings that fail rarely and always come to an end; else fewest failures."""
    limit = settings.known["beyond.failed_limit_pct"]

    def mean(values: dict[int, float]) -> float:
        return float(np.mean(list(values.values())))

    ended = [policy for policy in policies if not tuning.stalled_on(name, policy)] or policies[:1]
    safe = [policy for policy in ended if mean(tuning.failed_pct(name, policy)) <= limit]
    if not safe:
        return min(ended, key=lambda policy: mean(tuning.failed_pct(name, policy)))
    return min(safe, key=lambda policy: mean(tuning.metric(name, policy, "makespan_s")))
