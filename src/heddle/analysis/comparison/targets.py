"""Whether a policy keeps what `weave` promises, place by place: each target with where it is missed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from heddle.analysis.comparison.ablation import MOST_CRASHES_PCT, MOST_WORSE_PCT, Ablation, Place
from heddle.analysis.comparison.factorial import Effect

BEHIND_A_PAPER_PCT: Final = 2.0
LONGER_PCT: Final = 2.0  # makespan
SLOWER_TAIL_PCT: Final = 10.0


@dataclass(frozen=True)
class Target:
    says: str
    found: str
    is_met: bool


def targets(
    ablation: Ablation, policy: str, places: Sequence[Place], stock: Sequence[str], papers: Mapping[str, str]
) -> Iterator[Target]:
    """`papers`: the policy of each paper alone."""
    for name in (ablation.bare, *stock):
        yield _never_worse(ablation, policy, places, name)
        yield _often_better(ablation, policy, places, name)
    yield _near_the_best_paper(ablation, policy, places, papers)
    yield _no_longer(ablation, policy, places, "makespan_s", "makespan", LONGER_PCT)
    yield _no_longer(ablation, policy, places, "jct_s_p95", "95th percentile of completion", SLOWER_TAIL_PCT)
    crashes = {place.words: ablation.at[place].crashes_pct.get(policy, 0.0) for place in places}
    yield _missed_at(
        f"at most {MOST_CRASHES_PCT:g} % of tasks crash",
        [f"{where} {pct:.2f} %" for where, pct in crashes.items() if pct > MOST_CRASHES_PCT],
    )


def _never_worse(ablation: Ablation, policy: str, places: Sequence[Place], stock: str) -> Target:
    changes = {place: ablation.change(policy, place, stock) for place in places}
    return _worse_nowhere(f"nowhere shown to be worse than {stock}", changes, MOST_WORSE_PCT)


def _often_better(ablation: Ablation, policy: str, places: Sequence[Place], stock: str) -> Target:
    changes = [ablation.change(policy, place, stock) for place in places]
    better = sum(change.is_shown_better for change in changes)
    found = f"{better} of {len(places)}"
    return Target(f"shown to be better than {stock} in at least half of the places", found, 2 * better >= len(places))


def _near_the_best_paper(ablation: Ablation, policy: str, places: Sequence[Place], papers: Mapping[str, str]) -> Target:
    missed = []
    for place in places:
        behind = {name: ablation.change(policy, place, paper).pct for name, paper in papers.items()}
        known = {name: pct for name, pct in behind.items() if pct is not None}
        if known and (worst := max(known, key=lambda name: known[name])) and known[worst] > BEHIND_A_PAPER_PCT:
            missed.append(f"{place.words} {known[worst]:+.1f} % behind {worst}")
    return _missed_at(f"within {BEHIND_A_PAPER_PCT:g} % of the best paper alone, or better", missed)


def _no_longer(
    ablation: Ablation, policy: str, places: Sequence[Place], metric: str, words: str, most_pct: float
) -> Target:
    changes = {place: ablation.change(policy, place, metric=metric) for place in places}
    return _worse_nowhere(f"{words} nowhere shown to be worse", changes, most_pct)


def _worse_nowhere(says: str, changes: Mapping[Place, Effect], most_pct: float) -> Target:
    missed = [
        f"{place.words} {change.pct:+.1f} %" for place, change in changes.items() if change.is_shown_worse_by(most_pct)
    ]
    return _missed_at(f"{says} by more than {most_pct:g} %", missed)


def _missed_at(says: str, missed: Sequence[str]) -> Target:
    return Target(says, "; ".join(missed) or "nowhere missed", not missed)
