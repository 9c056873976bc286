"""The rule as printed: no size stands in before a task runs, and no node is kept. With bursts, and with submissions
that are spaced, so that tasks run before the last AM asks."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

from heddle.reproduce import verdicts
from heddle.reproduce.admission_control.settings import MIXED, Rounds
from heddle.reproduce.claims import Table, mean_text
from heddle.reproduce.lab import Findings, Part, Scores, Work, runs_of


def as_printed(rounds: Rounds) -> Part:
    policies, spaces = (rounds.policy("literal"), rounds.controlled), rounds.known["spaced.seconds"]
    plan: dict[Hashable, Work] = {}
    names = [(member, size) for member, size in rounds.batches if member == rounds.first_start[0] and size != MIXED]
    for name in names:
        for seconds in spaces:
            jobs = replace(rounds.batches[name], interval_ms=1000 * seconds)
            for policy in policies:
                plan.update(runs_of((name, seconds), jobs, rounds.cluster(name[0]), policy, rounds.seeds))
    scores = Scores((yield plan))
    rows = []
    for seconds in spaces:
        stalled = {
            policy: sum(bool(scores.stalled_on((name, seconds), policy)) for name in names) for policy in policies
        }
        later = {
            name: verdicts.change_pct(
                *(scores.metric((name, seconds), policy, "makespan_s") for policy in policies[::-1])
            )
            for name in names
        }
        ended = {name: seeds for name, seeds in later.items() if len(seeds) == len(rounds.seeds)}
        mean = (
            {seed: sum(seeds[seed] for seeds in ended.values()) / len(ended) for seed in rounds.seeds} if ended else {}
        )
        rows.append((f"{seconds} s", *(f"{stalled[policy]} of {len(names)}" for policy in policies), mean_text(mean)))
    return Findings(
        tables=[
            Table(
                "The rule as printed, with submissions that are spaced",
                ("between jobs", "rounds that deadlock: as printed", "mended", "makespan as printed (% change)"),
                tuple(rows),
                f"`{policies[0]}` against `{policies[1]}`, jobs: {rounds.first_start[0]}. A round counts if it "
                "deadlocks on any seed; makespans are of the rounds that end on all.",
            )
        ]
    )
