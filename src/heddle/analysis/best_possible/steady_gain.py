"""What usage feedback can gain on a steady stream of equal tasks, by the first paper's equations.

Tasks reserve k times what they use and run for D reports; memory is what lacks. What is counted of them on average is
1/k for their use, and of their reservation, for y reports all of it, then what damping a leaves of it at each report.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SteadyGain:
    """Shares of the makespan: what a steady stream would save, and what a real run saved."""

    policy: str
    in_full_s: float
    expected: float
    measured: float

    @property
    def sentence(self) -> str:
        of_it = f", {self.measured / self.expected:.0%} of it" if self.expected > 0 else ""
        return (
            f"{self.policy}: a steady stream of such tasks would save {self.expected:.1%} of the makespan, where new"
            f" containers count in full for {self.in_full_s:.1f} s; these rounds saved {self.measured:.1%}{of_it}"
        )


def steady_gain(times: float, reports: float, damping: float, in_full_reports: float) -> float:
    """The share of the makespan that is saved; at best 1 - 1/k, and nothing where as much is counted as reserved."""
    in_full = min(in_full_reports, reports)
    left = reports - in_full
    fading = left if damping == 0 else (1 - (1 - damping) ** left) / damping
    return max(0.0, 1 - 1 / times - (in_full + fading) / reports)
