"""Forms of a policy's parts, each tried beside what was chosen so far: what each gained, and which was taken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from heddle.analysis.comparison.factorial import Effect


@dataclass(frozen=True)
class Trial:
    """`against`: why it is not taken, whatever it gains. `spares`: what a cluster then need not have for it."""

    policy: str
    change: Effect
    against: Sequence[str]
    spares: str = ""

    @property
    def is_better(self) -> bool:
        """Shown to be; one that spares the operator something need only not be shown to be worse."""
        pct = self.change.pct
        if self.against or pct is None:
            return False
        return pct < 0 if self.change.is_shown else bool(self.spares)


@dataclass(frozen=True)
class Step:
    """All forms beside one policy."""

    before: str
    trials: Mapping[str, Trial]  # by the form's name

    @property
    def taken(self) -> str | None:
        """The form that gains most."""
        better = [name for name, trial in self.trials.items() if trial.is_better]
        return min(better, key=lambda name: self.trials[name].change.pct or 0.0) if better else None

    @property
    def after(self) -> str:
        return self.trials[self.taken].policy if self.taken else self.before
