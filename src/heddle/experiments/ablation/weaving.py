"""From the ablation to one policy: the best combination that can act, then form by form as long as one is shown better.

Everything is decided on the choosing half of the workloads; the other half only scores the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import polars as pl

from heddle.analysis.comparison.ablation import NOTHING, Ablation
from heddle.analysis.comparison.form_trials import Step, Trial
from heddle.experiments.ablation.forms import Woven, neighbours
from heddle.experiments.ablation.plan import acting_executor


def weave(
    ablation: Ablation, choosing: Sequence[str], run: Callable[[Iterable[Woven]], pl.DataFrame]
) -> tuple[Ablation, list[Step]]:
    """The ablation with the runs of all forms that were tried, and these in turn; the last step takes none.

    `run`: the rows of these, wherever the ablation ran.
    """
    chosen, steps = Woven(best_combination(ablation, choosing)), list[Step]()
    while True:
        tried = neighbours(chosen)
        if new := [woven for woven in tried.values() if woven.policy not in ablation.settings]:
            ablation = ablation.with_rows(run(new))
        trials = {name: _trial(ablation, choosing, woven, chosen) for name, woven in tried.items()}
        steps.append(Step(chosen.policy, trials))
        if steps[-1].taken is None:
            return ablation, steps
        chosen = tried[steps[-1].taken]


def best_combination(ablation: Ablation, choosing: Sequence[str]) -> frozenset[str]:
    """Of those that a YARN can be made to do and that nothing speaks against."""
    acting = {policy: s for policy, s in ablation.settings.items() if s is not None and acting_executor(policy)}
    for policy, _, faults in ablation.ranked(acting, ablation.places(among=choosing)):
        if not faults:
            return acting[policy]
    return NOTHING


def _trial(ablation: Ablation, choosing: Sequence[str], woven: Woven, base: Woven) -> Trial:
    places = ablation.places(among=choosing)
    against = ablation.faults(woven.policy, places)
    if acting_executor(woven.policy) is None:
        against.append("no YARN can be made to do it")
    return Trial(woven.policy, ablation.gain(woven.policy, places, base.policy), against, woven.forms[-1].spares)
