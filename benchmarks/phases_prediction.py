"""What the simulator expects of the trial of four phases: `python -m benchmarks.phases_prediction`.

By knobs, HaSTE through the bridge: as the trial is steered. Seeds move heartbeats only. The last column is of the same
nodes on machines that have no more memory than nodes promise, where tasks crash that the trial's machine has room for.
"""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean
from typing import Final

from benchmarks.phases_workload import CLUSTER, PHASES, four_phases, phase_of
from heddle.analysis.measures.metrics import run_metrics
from heddle.model.cluster import Cluster
from heddle.run import Executor, simulate
from heddle.traces.clusters import load_cluster

# As it is named in the trial, and as it is simulated: `steer` counts new containers in full for 10 s at least.
POLICIES: Final = {
    "stock": "capacity",
    "weave": "capacity+weave(young_reports=10)",
    "usage-feedback": "capacity+usage-feedback(young_reports=10)",
    "admission-control": "capacity+admission-control",
    "dress": "capacity+dress",
    "haste": "capacity+haste",
    "(not in the trial) weave, 2 s": "capacity+weave",
    "(not in the trial) admission-control(backlog=0.75)": "capacity+admission-control(backlog=0.75)",
    "(not in the trial) smallest-first": "capacity+smallest-first",
}
AM_SHARES_PERMILLE: Final = (100, 250, 500)  # of stock YARN, beside the trial's 750
SEEDS: Final = range(10)
HEADINGS: Final = ("all", *PHASES.values(), "makespan", "crashed")


def predicted(policy: str, cluster: Cluster) -> dict[str, float]:
    """Completion in s, of all jobs and by phase, makespan, and tasks crashed where memory ends: means over seeds."""
    walled = replace(cluster, nodes=tuple(replace(node, capacity=node.allowance) for node in cluster.nodes))
    executor: Executor = "bridge" if policy == POLICIES["haste"] else "yarn-knobs"
    found: dict[str, list[float]] = {heading: [] for heading in HEADINGS}
    for seed in SEEDS:
        run = simulate(four_phases(), cluster, policy, seed=seed, executor=executor)
        times = {job["name"]: (job["ended_at_ms"] - job["submit_at_ms"]) / 1000 for job in run.jobs.to_dicts()}
        found["all"].append(fmean(times.values()))
        for phase in PHASES.values():
            found[phase].append(fmean(time for job, time in times.items() if phase_of(job) == phase))
        found["makespan"].append(run_metrics(run)["makespan_s"])
        hit = simulate(four_phases(), walled, policy, seed=seed, executor=executor)
        found["crashed"].append(run_metrics(hit)["crashed_tasks"])
    return {heading: fmean(values) for heading, values in found.items()}


def main() -> None:
    cluster = load_cluster(CLUSTER)
    tried = [(name, policy, cluster) for name, policy in POLICIES.items()]
    for permille in AM_SHARES_PERMILLE:
        queues = tuple(
            replace(queue, am_share_permille=permille) if queue.am_share_permille >= 0 else queue
            for queue in cluster.queues
        )
        name = f"(not in the trial) stock, AM share {permille / 1000:g}"
        tried.append((name, POLICIES["stock"], replace(cluster, queues=queues)))
    print(f"{'four phases, mean completion (s)':52}", *(f"{heading:>9.9}" for heading in HEADINGS))
    for name, policy, own in tried:
        print(f"{name:52}", *(f"{value:9.1f}" for value in predicted(policy, own).values()))


if __name__ == "__main__":
    main()
