"""Stock schedulers without a cap on AMs: in which rounds do they deadlock, in which do they crawl?"""

from __future__ import annotations

from collections.abc import Hashable

from heddle.reproduce import verdicts
from heddle.reproduce.admission_control.rounds import kinds_of_job
from heddle.reproduce.admission_control.score import Rounds
from heddle.reproduce.claims import Claim, Table
from heddle.reproduce.lab import Findings, Part, Scores, Work, runs_of

STOCK = ("fair+admit-all", "capacity+admit-all")


def stock(rounds: Rounds) -> Part:
    kind = next(iter(kinds_of_job(rounds.known)))
    batches = {size: jobs for (of, size), jobs in rounds.batches().items() if of == kind and size in rounds.sizes}
    plan: dict[Hashable, Work] = {}
    for size, jobs in batches.items():
        for policy in (*STOCK, rounds.controlled):
            plan.update(runs_of(size, jobs, rounds.cluster, policy, rounds.seeds))
    scores = Scores((yield plan))
    n_seeds = len(rounds.seeds)
    stalled = {
        policy: {size: scores.stalled(size, policy) for size in batches} for policy in (*STOCK, rounds.controlled)
    }
    rows = []
    for am, task in batches:
        cells = []
        for policy in STOCK:
            if stalled[policy][am, task]:
                cells.append(f"deadlock on {stalled[policy][am, task]} of {n_seeds} seeds")
                continue
            change = verdicts.change_pct(
                scores.metric((am, task), rounds.controlled, "makespan_s"),
                scores.metric((am, task), policy, "makespan_s"),
            )
            mean = verdicts.over_seeds({"": change})[0] or 0.0
            cells.append(f"ends, makespan {mean:+.0f} %")
        rows.append((f"AM {am}, tasks {task} vcores", *cells))
    dead = sum(any(stalled[policy][size] for policy in STOCK) for size in batches)
    kept = sum(stalled[rounds.controlled].values())
    per_seed = {seed: float(kept) / n_seeds for seed in rounds.seeds}
    return Findings(
        claims=[
            Claim(
                "I.3",
                "Without a cap on AMs, Fair and Capacity can deadlock under a burst",
                "deadlock",
                "of 16 rounds",
                verdicts.shape(dead > 0, float(dead)),
                "A deadlock is proven from the final state: every AM holds resources and no task fits. It needs "
                "as many jobs as fill the cluster with AMs: 72 AMs of any size are more than 64 vcores.",
            ),
            Claim(
                "I.4",
                "With admission control no round deadlocks",
                "deadlock avoided",
                "deadlocks to a seed",
                verdicts.limit(per_seed, 1.0, 1.0),
                f"{kept} of {len(batches) * n_seeds} runs stalled.",
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
