"""Beyond the paper: damping tuned to a failure budget, against the paper's and against the best fixed in hindsight.

Hindsight knows the runs that are scored: of each member, the fixed damping with the shortest mean makespan among those
whose failures were within the budget there. No operator has it.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np

from heddle.reproduce import verdicts
from heddle.reproduce.claims import Claim, Source, Table, mean_text
from heddle.reproduce.lab import Findings, Scores
from heddle.reproduce.usage_feedback.settings import Settings


def budget(
    settings: Settings, scores: Scores, members: Mapping[str, Hashable], dampings: Sequence[float], id_: str, where: str
) -> Findings:
    """From runs of each member with every one of these dampings and with the tuned one."""
    most = settings.known["budget.failures_pct"]
    limit = settings.known["v_b.failed_limit_pct"]
    fixed = {settings.damped(a): a for a in dampings}

    def span(name: str, policy: str) -> dict[int, float]:
        return scores.metric(members[name], policy, "makespan_s")

    best = {name: _best(scores, members[name], list(fixed), most) for name in members}
    ahead = {name: verdicts.sooner_pct(span(name, settings.feedback), span(name, settings.tuned)) for name in members}
    behind = {name: verdicts.change_pct(span(name, best[name]), span(name, settings.tuned)) for name in members}
    failed = {name: scores.failed_pct(members[name], settings.tuned) for name in members}
    worst = max(failed, key=lambda name: _mean(failed[name]))
    over = sum(_mean(scores.failed_pct(members[name], settings.feedback)) > most for name in members)
    rows = tuple(
        (
            name,
            mean_text(ahead[name]),
            mean_text(scores.failed_pct(members[name], settings.feedback), 3),
            mean_text(failed[name], 3),
            f"{fixed[best[name]]:g}",
            mean_text(scores.failed_pct(members[name], best[name]), 3),
            mean_text(behind[name]),
        )
        for name in members
    )
    lever = settings.tuned.partition("+")[2]
    return Findings(
        claims=[
            Claim(
                f"{id_}.1", f"With {lever} failures stay within the limit {where}", "not in the paper", "% of tasks",
                verdicts.limit_everywhere({name: {"": seeds} for name, seeds in failed.items()}, limit),
                f"Limit {limit:g} % everywhere; the budget is {most:g} %. Most fail in: {worst}. With the paper's "
                f"damping more than {most:g} % fail in {over} of {len(members)}.",
                Source.OURS,
            ),
            Claim(
                f"{id_}.2", f"It completes sooner than with the paper's damping {where}", "not in the paper",
                "% sooner", verdicts.order({"": ahead}),
                f"Sooner in {sum(_mean(seeds) > 0 for seeds in ahead.values())} of {len(ahead)}.",
                Source.OURS,
            ),
            Claim(
                f"{id_}.3", f"It is as good as the best fixed damping in hindsight {where}", "not in the paper",
                "% longer", verdicts.sameness(behind),
                "Of each member, the fixed damping with the shortest makespan within the budget: "
                + ", ".join(f"{fixed[best[name]]:g} ({name})" for name in members) + ".",
                Source.OURS,
            ),
        ],
        tables=[
            Table(
                f"Damping tuned to a failure budget of {most:g} % {where}",
                ("member", "sooner than with the paper's damping (%)", "failed with that (%)", "failed, tuned (%)",
                 "best fixed in hindsight", "failed with that (%)", "tuned is longer by (%)"),
                rows,
                f"`{settings.tuned}` against `{settings.feedback}` and against every fixed damping of "
                f"{', '.join(f'{a:g}' for a in dampings)}.",
            )
        ],
    )  # fmt: skip


def _best(scores: Scores, name: Hashable, policies: Sequence[str], most: float) -> str:
    """The shortest mean makespan of those that fail within the budget; where none does, the fewest failures."""
    failed = {policy: _mean(scores.failed_pct(name, policy)) for policy in policies}
    within = [policy for policy in policies if failed[policy] <= most]
    if not within:
        return min(policies, key=lambda policy: failed[policy])
    return min(within, key=lambda policy: _mean(scores.metric(name, policy, "makespan_s")))


def _mean(seeds: verdicts.Seeds) -> float:
    return float(np.mean(list(seeds.values()))) if seeds else float("nan")
