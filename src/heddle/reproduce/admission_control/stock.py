"""Stock schedulers without a cap on AMs: in which rounds do they deadlock, in which do they crawl?"""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from heddle.reproduce import verdicts
from heddle.reproduce.admission_control.settings import Rounds
from heddle.reproduce.claims import Claim, Table
from heddle.reproduce.lab import Findings, Part, Scores, Work, runs_of

STOCK = ("fair+admit-all", "capacity+admit-all")


def stock(rounds: Rounds) -> Part:
    member = rounds.first_start[0]
    batches = {size: rounds.batches[member, size] for size in rounds.sizes}
    plan: dict[Hashable, Work] = {}
    for size, jobs in batches.items():
        for policy in (*STOCK, rounds.controlled):
            plan.update(runs_of(size, jobs, rounds.cluster(member), policy, rounds.seeds))
    scores = Scores((yield plan))
    n_seeds = len(rounds.seeds)
    stuck = {
        policy: {size: scores.stalled_on(size, policy) for size in batches} for policy in (*STOCK, rounds.controlled)
    }
    rows = []
    for am, task in batches:
        cells = []
        for policy in STOCK:
            if stuck[policy][am, task]:
                cells.append(f"deadlock on {len(stuck[policy][am, task])} of {n_seeds} seeds")
                continue
            change = verdicts.change_pct(
                scores.metric((am, task), rounds.controlled, "makespan_s"),
                scores.metric((am, task), policy, "makespan_s"),
            )
            mean = verdicts.over_seeds({"": change})[0] or 0.0
            cells.append(f"ends, makespan {mean:+.0f} %")
        rows.append((f"AM {am}, tasks {task} vcores", *cells))
    rounds_dead = {
        policy: {"": {seed: float(sum(seed in stuck[policy][size] for size in batches)) for seed in rounds.seeds}}
        for policy in STOCK
    }
    per_seed = {seed: float(sum(seed in seeds for seeds in stuck[rounds.controlled].values())) for seed in rounds.seeds}
    return Findings(
        claims=[
            Claim(
                "I.3",
                "Without a cap on AMs, Fair and Capacity can deadlock under a burst",
                "deadlock",
                "of 16 rounds",
                verdicts.order(rounds_dead),
                "Counted on each seed. A deadlock is proven from the final state: every AM holds resources and no task "
                f"fits. {_who_ends(stuck)}",
            ),
            Claim(
                "I.4",
                "With admission control no round deadlocks",
                "deadlock avoided",
                "deadlocks to a seed",
                verdicts.never(per_seed),
                f"{sum(per_seed.values()):.0f} of {len(batches) * n_seeds} runs stalled, counted on each seed; one is "
                "too many.",
            ),
        ],
        tables=[
            Table(
                "Stock schedulers without a cap",
                ("round", *STOCK),
                tuple(rows),
                "Makespan against admission control.",
            )
        ],
    )


def _who_ends(stuck: Mapping[str, Mapping[tuple[int, int], set[int]]]) -> str:
    """The rounds that end on every seed, of each policy."""
    said = []
    for policy in STOCK:
        ends = [f"{am}/{task}" for (am, task), seeds in stuck[policy].items() if not seeds]
        said.append(f"{policy}: {', '.join(ends) or 'none'}")
    return f"Rounds (AM/task vcores) that end on every seed: {'; '.join(said)}."
