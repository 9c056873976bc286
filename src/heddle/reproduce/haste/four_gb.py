"""The paper's figure on first-fit decreasing: tasks of 1 and 3 GB on a node of 4 GB, under FIFO and under FFD-DP."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import partial

import numpy as np

from heddle.model.cluster import Cluster, Node
from heddle.model.resources import MILLI
from heddle.model.workload import Workload
from heddle.reproduce import verdicts
from heddle.reproduce.claims import Claim
from heddle.reproduce.haste.settings import Settings
from heddle.reproduce.job_times import job_results
from heddle.reproduce.lab import Findings, Part, Work
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build


@dataclass(frozen=True)
class Tasks:
    """So many of each size, in any order, all at once and all equally long."""

    sizes_mb: tuple[int, ...]
    of_each: int
    task_s: int

    def jobs(self, seed: int) -> Workload:
        order = np.random.default_rng([3, seed]).permutation(np.repeat(self.sizes_mb, self.of_each)).tolist()
        specs = [
            JobSpec(f"t{number}", 0, [StageSpec("task", (int(mb), MILLI), [TaskSpec(1000 * self.task_s)])])
            for number, mb in enumerate(order)
        ]
        return build("figure", specs, about={"generator": "reproduce haste figure", "seed": seed})


def four_gb(settings: Settings) -> Part:
    known, memory = settings.known, settings.known["figure.memory_mb"]
    counts, sizes = known["figure.tasks_of_each"], tuple(known["figure.tasks_mb"])
    cluster = Cluster((Node("node", (memory, 64 * MILLI), (memory, 64 * MILLI)),), name="figure")
    fifo, packed = known["policy.reference"], "ffd-dp"
    plan: dict[Hashable, Work] = {
        (count, policy, seed): partial(job_results, Tasks(sizes, count, known["figure.task_s"]), cluster, policy, seed)
        for count in counts
        for policy in (fifo, packed)
        for seed in settings.seeds
    }
    results = yield plan
    spans = {
        (count, policy): {seed: results[count, policy, seed].makespan_s for seed in settings.seeds}
        for count in counts
        for policy in (fifo, packed)
    }
    sooner = {f"{count} of each": verdicts.sooner_pct(spans[count, fifo], spans[count, packed]) for count in counts}
    steps = {key: np.mean(list(span.values())) / known["figure.task_s"] for key, span in spans.items()}
    said = "; ".join(f"{n} of each: {steps[n, fifo]:.1f} and {steps[n, packed]:.1f}" for n in counts)
    return Findings(
        claims=[
            Claim(
                "figure.1",
                f"On a node of {memory // 1024} GB first-fit decreasing does tasks of "
                f"{' and '.join(str(mb // 1024) for mb in sizes)} GB sooner than FIFO",
                "sooner; how many tasks is lost",
                "% sooner",
                verdicts.order({"": sooner}),
                f"Steps of one task's time, FIFO's and FFD-DP's, mean over orders of arrival: {said}. One of each size "
                "fills the node, so that fewer steps than tasks of a size are impossible.",
            )
        ]
    )
