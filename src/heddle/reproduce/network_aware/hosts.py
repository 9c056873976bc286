"""What paper 4's experiments run on: bandwidths, an ensemble of DAGs and hosts, and policies."""

from __future__ import annotations

from dataclasses import dataclass

from heddle.reproduce.lab import Scope


@dataclass(frozen=True)
class Hosts(Scope):
    """What is run."""

    @property
    def bandwidths(self) -> list[int]:
        return self.lab.size(self.known["cluster.bandwidths_mbps"], self.known["cluster.bandwidths_quick_mbps"])

    @property
    def members(self) -> dict[str, tuple[float, int]]:
        """Mean MB on an edge, and tasks that a host runs at a time."""
        return {name: (edge_mb, slots) for name, (edge_mb, slots) in self.known.of("ensemble").items()}

    @property
    def policies(self) -> list[str]:
        return [str(self.known[f"policy.{name}"]) for name in ("paper", "late", "fetch", "stock", "spread")]

    @property
    def ablations(self) -> list[str]:
        """Run beside them on random DAGs: what shows where an effect comes from."""
        return [str(self.known[f"policy.{name}"]) for name in ("stock_early", "paper_nearness", "late_nearness")]
