"""The gain over load, duration and over-reservation, beside the algebra: tasks all alike, memory the bottleneck.

In the steady state a node that is full by estimate has N tasks with N u + N R g = allowance: what they use, and what is
left of their reservations, g = (1 - (1-a)^D) / (a D) of them on average over D reports. Under reservation it has
allowance / R. So completion is sooner by 1 - u/R - g: at most 1 - 1/k, and below 0 where tasks are short.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from heddle.model.cluster import Cluster, Node
from heddle.model.resources import MILLI
from heddle.model.workload import Workload
from heddle.reproduce import verdicts
from heddle.reproduce.claims import Claim, Source, Table
from heddle.reproduce.drawing import Curve, draw_curves
from heddle.reproduce.lab import Findings, Part, Scores, Work, runs_of
from heddle.reproduce.usage_feedback.day import ALL_AT_ONCE
from heddle.reproduce.usage_feedback.settings import Settings, load_text
from heddle.traces.synthetic.arrivals import poisson_at_ms
from heddle.traces.synthetic.one_stage import constant_use, one_stage_jobs


def expected_gain(over_reservation: float, reports: float, damping: float) -> float:
    """The algebra: by which part completion is sooner than under reservation."""
    return 1 - 1 / over_reservation - left_of_reservation(reports, damping)


def expected_gain_forgetting(over_reservation: float, reports: float, damping: float) -> float:
    """The same where a task's smoothed use goes with it, so that only what it did not use stays too long."""
    idle = 1 - 1 / over_reservation
    return idle - left_of_reservation(reports, damping) * idle


def left_of_reservation(reports: float, damping: float) -> float:
    """g: the part of a reservation that the estimate still holds, on average over a task's life."""
    left: float = (1 - (1 - damping) ** reports) / (damping * reports)
    return left


@dataclass(frozen=True)
class Alike:
    """Tasks that all reserve, use and take the same, up to a little jitter of durations."""

    duration_s: float
    over_reservation: float
    load: float
    tasks: int
    slots: int  # that fit by reservation on the cluster: what load is measured by
    reserved_mb: int
    vcores_milli: int
    jitter: float

    def jobs(self, seed: int) -> Workload:
        random = np.random.default_rng([0, seed])
        around = random.uniform(1 - self.jitter, 1 + self.jitter, self.tasks)
        duration_ms = np.rint(1000 * self.duration_s * around).astype(np.int64)
        submit_at_ms = np.zeros(self.tasks, np.int64)
        if self.load != ALL_AT_ONCE:
            span_ms = float(duration_ms.sum()) / self.slots / self.load
            submit_at_ms = poisson_at_ms(np.random.default_rng([1, seed]), self.tasks, span_ms)
        used = np.full(self.tasks, round(self.reserved_mb / self.over_reservation))
        parameters = repr(self)
        return one_stage_jobs(
            "alike",
            {"generator": "reproduce usage-feedback surface", "seed": seed, "parameters": parameters},
            submit_at_ms=submit_at_ms,
            n_tasks=1,
            shape=np.zeros(self.tasks, np.int64),
            shapes=np.array([[self.reserved_mb, self.vcores_milli]]),
            duration_ms=duration_ms,
            use=constant_use(used, np.full(self.tasks, self.vcores_milli)),
        )


def alike_tasks(settings: Settings, duration_s: float, over: float, load: float, slots: int) -> Alike:
    known = settings.known
    return Alike(
        duration_s,
        over,
        load,
        slots * known["surface.generations"],
        slots,
        known["surface.reserved_mb"],
        known["surface.vcores_milli"],
        known["surface.jitter"],
    )


def surface(settings: Settings) -> Part:
    known, lab = settings.known, settings.lab
    durations = lab.size(known["surface.durations_s"], known["surface.durations_quick_s"])
    overs = lab.size(known["surface.over_reservations"], known["surface.over_reservations_quick"])
    loads = lab.size(known["surface.loads"], known["surface.loads_quick"])
    cluster, slots = roomy_cluster(settings)
    plan: dict[Hashable, Work] = {}
    for duration in durations:
        for load in loads:
            for over in overs:
                alike = alike_tasks(settings, duration, over, load, slots)
                plan.update(runs_of((duration, load, over), alike, cluster, settings.feedback, settings.seeds))
                if over == overs[0]:  # what is used does not matter under reservation
                    plan.update(runs_of((duration, load), alike, cluster, settings.reservation, settings.seeds))
    scores = Scores((yield plan))
    gain = {
        (duration, load, over): verdicts.sooner_pct(
            scores.metric((duration, load), settings.reservation, "makespan_s"),
            scores.metric((duration, load, over), settings.feedback, "makespan_s"),
        )
        for duration in durations
        for load in loads
        for over in overs
    }
    return Findings(
        claims=[_algebra(settings, gain), _short_tasks(settings, gain)],
        drawings=[
            draw_curves(
                f"Gain over task duration, {load_text(load)}", "task duration (s)", "sooner by (%)",
                [
                    curve
                    for slot, over in enumerate(overs)
                    for curve in _beside_algebra(settings, gain, slot, over, load, durations)
                ],
                "Solid: measured, with its 95 % interval. Dashed: the algebra, for a cluster that is always full.",
                log_x=True,
            )
            for load in loads
        ],
        tables=[_region(settings, gain)],
    )  # fmt: skip


def roomy_cluster(settings: Settings) -> tuple[Cluster, int]:
    """V-A's memory, and so much CPU that it never matters; how many tasks fit by reservation."""
    given = settings.known.of("cluster_a")
    to_a_node = given["allowance_mb"] // settings.known["surface.reserved_mb"]
    vcores = given["capacity_vcores"] * MILLI * 10
    node = Node("", (given["capacity_mb"], vcores), (given["allowance_mb"], vcores))
    return settings.of_nodes(node, given["nodes"], "surface"), to_a_node * given["nodes"]


def _beside_algebra(
    settings: Settings, gain: dict[Any, dict[int, float]], slot: int, over: float, load: float, durations: list[float]
) -> list[Curve]:
    measured = Curve.of_seeds(
        f"{over:g}x reserved", {float(duration): gain[duration, load, over] for duration in durations}, colour=slot
    )
    fine = np.geomspace(min(durations), max(durations), 40)
    damping = settings.known["policy.damping"]
    theory = [100 * expected_gain(over, duration, damping) for duration in fine]
    return [measured, Curve(f"{over:g}x: algebra", fine.tolist(), theory, dashed=True, colour=slot)]


def _algebra(settings: Settings, gain: dict[Any, dict[int, float]]) -> Claim:
    damping, within = settings.known["policy.damping"], settings.known["surface.algebra_within"]
    differences = {
        f"{over:g}x, {duration} s": {
            seed: value - 100 * expected_gain(over, duration, damping) for seed, value in seeds.items()
        }
        for (duration, load, over), seeds in gain.items()
        if load == ALL_AT_ONCE
    }
    means = {name: float(np.mean(list(seeds.values()))) for name, seeds in differences.items()}
    worst = max(means, key=lambda name: abs(means[name]))
    return Claim(
        "V-A.4",
        "When the cluster is always full, the gain is 1 - 1/k - g",
        "not in the paper (algebra)",
        "% points off",
        verdicts.sameness(differences, within),
        "From its equations (1), (2) and (4). "
        f"{len(differences)} cells, everything submitted at once; furthest off: {worst} ({means[worst]:+.1f}).",
        Source.OURS,
    )


def _short_tasks(settings: Settings, gain: dict[Any, dict[int, float]]) -> Claim:
    known = settings.known
    cell = gain[known["short_tasks.duration_s"], ALL_AT_ONCE, known["short_tasks.over_reservation"]]
    return Claim(
        "V-A.5",
        f"Short tasks lose ({known['short_tasks.over_reservation']:g}x reserved, {known['short_tasks.duration_s']} s)",
        f"not in the paper; algebra {known['short_tasks.gain_pct']:g} %",
        "% sooner",
        verdicts.effect({"": cell}, known["short_tasks.gain_pct"]),
        what_is_left(known["short_tasks.over_reservation"], known["short_tasks.duration_s"], known["policy.damping"]),
        Source.OURS,
    )


def what_is_left(over: float, duration_s: float, damping: float) -> str:
    """What is not used of a reservation, against what of it the estimate still holds."""
    idle, left = 100 * (1 - 1 / over), 100 * left_of_reservation(duration_s, damping)
    more = "more" if left > idle else "less"
    return (
        f"{idle:.0f} % of a reservation are not used, and {left:.0f} % still held by the estimate on average: {more}."
    )


def _region(settings: Settings, gain: dict[Any, dict[int, float]]) -> Table:
    """Where the gain is about the paper's: within a quarter of it."""
    paper = settings.known["v_a.sooner_pct"]
    rows = []
    for (duration, load, over), seeds in gain.items():
        mean, interval = verdicts.over_seeds({"": seeds})
        if mean is None or interval is None or abs(mean - paper) > paper / 4:
            continue
        most = f"{100 * (1 - 1 / load):.1f}" if load > 1 else "0" if load else "-"
        gain_text = f"{mean:.1f} ({interval[0]:.1f} to {interval[1]:.1f})"
        rows.append((f"{over:g}x", f"{duration} s", load_text(load), gain_text, most))
    return Table(
        f"Where the gain is near the paper's {paper:g} %",
        ("over-reservation", "task duration", "load", "sooner by (%)", "load allows at most (%)"),
        tuple(rows) or (("none of the cells", "", "", "", ""),),
        f"Cells of the surface within a quarter of {paper:g} %. Work that arrives at a load of L cannot be done sooner "
        "by more than 1 - 1/L: where the gain is near that, load caps it and says nothing about the estimate. The "
        "authors' load is not published: none is chosen.",
    )
