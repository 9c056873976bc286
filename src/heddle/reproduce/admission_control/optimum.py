"""The best static reserve of a round, beside the one of equation (1): Fig. 1 and Fig. 4."""

from __future__ import annotations

from typing import Any

import numpy as np

from heddle.reproduce import verdicts
from heddle.reproduce.admission_control.reasons import near_best
from heddle.reproduce.admission_control.settings import Rounds
from heddle.reproduce.claims import Claim, Drawing
from heddle.reproduce.drawing import Curve, draw_curves
from heddle.reproduce.lab import Scores


def equation_1(total: float, am: float, task: float) -> float:
    """What the paper reserves for tasks."""
    return total * task / (am + task)


def best_reserve(rounds: Rounds, tuning: Scores, name: tuple[Any, ...], seed: int | None = None) -> float:
    """The static reserve with the shortest mean makespan (or, with `seed`, that of this seed); ties: the larger."""
    found: dict[float, float] = {}
    for reserve, policy in rounds.static(name[1][0]).items():
        spans = tuning.metric(name, policy, "makespan_s")
        if not tuning.stalled_on(name, policy):
            found[reserve] = spans[seed] if seed is not None else float(np.mean(list(spans.values())))
    shortest = min(found.values())
    return max(reserve for reserve, span in found.items() if span == shortest)


def linear(rounds: Rounds, tuning: Scores) -> Claim:
    """Fig. 1: correlation of the best static reserve with equation (1) over the 16 rounds, for each seed."""
    found = {
        member: {
            seed: float(
                np.corrcoef(
                    [equation_1(rounds.total_vcores, *size) for size in rounds.sizes],
                    [best_reserve(rounds, tuning, (member, size), seed) for size in rounds.sizes],
                )[0, 1]
            )
            for seed in rounds.tuning_seeds
        }
        for member in rounds.members
    }
    near = [
        near_best(
            {
                reserve: verdicts.over_seeds({"": tuning.metric((member, size), policy, "makespan_s")})[0]
                for reserve, policy in rounds.static(size[0]).items()
            }
        )
        for member in found
        for size in rounds.sizes
    ]
    by_member = "; ".join(f"{member} {np.mean(list(seeds.values())):.2f}" for member, seeds in found.items())
    return Claim(
        "Fig.1",
        "The best static reserve grows with the one of equation (1)",
        "a linear relationship",
        "correlation",
        verdicts.not_judged(found),
        f"Over the 16 rounds, for each seed. {by_member}. Static reserves within 1 % of the shortest makespan of a "
        f"round: {np.mean(near):.1f} on average.",
    )


def figure_1(rounds: Rounds, tuning: Scores) -> Drawing:
    curves = []
    for slot, member in enumerate(rounds.first_start):
        points: dict[float, list[float]] = {}
        for size in rounds.sizes:
            by_equation = equation_1(rounds.total_vcores, *size)
            points.setdefault(by_equation, []).append(best_reserve(rounds, tuning, (member, size)))
        x = sorted(points)
        curves.append(Curve(member, x, [float(np.mean(points[one])) for one in x], colour=slot))
    return draw_curves(
        "Fig. 1: the best static reserve beside equation (1)", "reserve by equation (1) (vcores)",
        "best static reserve (vcores)", [*curves, Curve("equation (1)", [12.0, 52.0], [12.0, 52.0], dashed=True)],
        "One point for each of the 16 rounds, chosen on tuning seeds; those with the same reserve by (1) are averaged.",
    )  # fmt: skip


def figure_4(rounds: Rounds, tuning: Scores, scores: Scores) -> list[Drawing]:
    """Makespan over the static reserve, and what admission control gets, for AM and tasks of the same size."""
    member = rounds.first_start[0]
    drawings = []
    for size in ((1, 1), (1, 4), (4, 1), (4, 4)):
        name = (member, size)
        static = rounds.static(size[0])
        spans = {reserve: tuning.metric(name, policy, "makespan_s") for reserve, policy in static.items()}
        own = scores.metric(name, rounds.controlled, "makespan_s")
        ends = [min(spans), max(spans)]
        level = verdicts.over_seeds({"": own})[0] or 0.0
        drawings.append(
            draw_curves(
                f"Fig. 4: AM {size[0]}, tasks {size[1]} vcores", "static reserve (vcores)", "makespan (s)",
                [
                    Curve.of_seeds("static", {reserve: seeds for reserve, seeds in spans.items() if seeds}),
                    Curve("admission control", ends, [level, level], dashed=True),
                ],
                f"Mean over seeds with its 95 % interval; jobs: {member}.",
            )
        )  # fmt: skip
    return drawings
