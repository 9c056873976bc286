"""The clusters, policies and days of paper 1, from its constants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from heddle.model.cluster import Cluster, Level, Node, Physics, Timing
from heddle.model.resources import MILLI
from heddle.reproduce.lab import Scope
from heddle.reproduce.usage_feedback.day import Day


@dataclass(frozen=True)
class Settings(Scope):
    """What all parts share."""

    @property
    def reservation(self) -> str:
        return str(self.known["policy.reservation"])

    @property
    def feedback(self) -> str:
        return self.damped(self.known["policy.damping"])

    def damped(self, damping: float) -> str:
        return f"{self.reservation}+usage-feedback(damping={damping:g})"

    def cluster(self, which: Literal["cluster_a", "cluster_b"]) -> Cluster:
        """The simulated cluster of V-A, or that of V-B and V-C."""
        given = self.known.of(which)
        background = (given["background_mb"], given["background_vcores"] * MILLI)
        node = Node(
            name="",
            capacity=(given["capacity_mb"], given["capacity_vcores"] * MILLI),
            allowance=(given["allowance_mb"], given["allowance_vcores"] * MILLI),
            background=(Level(0, background),) if any(background) else (),
        )
        return self.of_nodes(node, given["nodes"], which)

    def of_nodes(self, node: Node, count: int, name: str) -> Cluster:
        """So many such nodes, with the physics of the paper's simulator."""
        nodes = (
            Node(f"node-{number}", node.capacity, node.allowance, background=node.background) for number in range(count)
        )
        timing = Timing(usage_report_ms=self.known["cluster.report_ms"], retry_ms=self.known["cluster.retry_ms"])
        physics = Physics(oom=self.known["cluster.oom"], cpu=self.known["cluster.cpu"])
        return Cluster(nodes=tuple(nodes), timing=timing, physics=physics, name=name)

    def day(
        self,
        size: str,
        load: float,
        median_s: float,
        profile: str,
        reservation: Literal["users", "extreme-fit"] = "users",
    ) -> Day:
        """One of the days that the published facts allow."""
        known = self.known
        return Day(
            tasks=self.lab.size(known["day.tasks"], known["day.tasks_quick"]),
            load=load,
            median_s=median_s,
            sizes=tuple((mb, part) for mb, part in known.of("ensemble.sizes")[size]),
            careful_mb=known.of("ensemble.careful_mb")[size],
            levels=tuple((until, part) for until, part in known.of("ensemble.profiles")[profile]),
            reservation=reservation,
            allowed_mb=known["cluster_a.nodes"] * known["cluster_a.allowance_mb"],
            fit_steps=self.fit_steps,
            facts=tuple(known.of("calibration").items()),
        )

    @property
    def fit_steps(self) -> tuple[int, int]:
        return self.known["v_b.fit_step_mb"], self.known["v_b.fit_step_vcores_milli"]

    def ensemble(self) -> dict[str, dict[str, Day]]:
        """V-A's, by name and form of use: every size, load, median and form that the facts leave open."""
        known = self.known
        return {
            f"{size} containers, {load_text(load)}, median {median:g} s": {
                form: self.day(size, load, median, form) for form in known.of("ensemble.profiles")
            }
            for size in known.of("ensemble.sizes")
            for load in known["ensemble.loads"]
            for median in known["ensemble.medians_s"]
        }

    def members(self) -> list[tuple[str, str]]:
        """Name and form of every day of the ensemble."""
        return [(name, form) for name, by_form in self.ensemble().items() for form in by_form]

    @property
    def tuned(self) -> str:
        """Usage feedback with a failure budget."""
        budget = self.known["budget.failures_pct"]
        return f"{self.reservation}+usage-feedback(damping={self.known['policy.damping']:g},target_failures={budget:g})"


def load_text(load: float) -> str:
    return f"load {load:g}" if load else "all at once"
