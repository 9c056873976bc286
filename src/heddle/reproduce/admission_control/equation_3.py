"""What equation (3) brings: admission control with it against the same without it, where it can matter.

Jobs of equal sizes never have the deficit that it is for: AMs start only as far as the reserve stays, and it does not
change. With mixed sizes the averages move, and AMs may hold more than is theirs.
"""

from __future__ import annotations

from heddle.reproduce import verdicts
from heddle.reproduce.admission_control.settings import MIXED, Rounds
from heddle.reproduce.claims import Claim, mean_text
from heddle.reproduce.lab import Scores


def equation_3(rounds: Rounds, scores: Scores) -> Claim:
    lead = {
        member: verdicts.sooner_pct(
            scores.metric((member, MIXED), rounds.policy("without_3"), "makespan_s"),
            scores.metric((member, MIXED), rounds.controlled, "makespan_s"),
        )
        for member in rounds.members
    }
    same = sum(value == 0 for seeds in lead.values() for value in seeds.values())
    total = sum(len(seeds) for seeds in lead.values())
    return Claim(
        "eq.3",
        "Equation (3) speeds up the execution of tasks: the makespan is shorter than without it (mixed sizes)",
        "meant for that; no number given",
        "% shorter",
        verdicts.order({"with (3)": lead}),
        f"The same to the millisecond in {same} of {total} runs. "
        + "; ".join(f"{member} {mean_text(seeds)}" for member, seeds in lead.items())
        + ".",
    )
