"""How often the interval of one resampled trace contains the truth: `python -m benchmarks.interval_coverage`.

The truth is the mean over many traces of the same generator, which nobody has of a real cluster. Each of some further
traces is treated as the only one: run as it is, resampled in time blocks, and judged by the interval that
`heddle compare` would give. Takes three minutes.
"""

from __future__ import annotations

import numpy as np

from heddle.analysis.certainty.sampling import Sampling
from heddle.analysis.measures.metrics import run_metrics
from heddle.experiments.rearrange import block_length_ms, n_blocks_of, resampled
from heddle.model.workload import Workload
from heddle.run import simulate
from heddle.traces.catalogue import make_workload
from heddle.traces.clusters import load_cluster

SPEC = "over-reserved-day(tasks=14000)"
CLUSTER = load_cluster("6x65536x24")
TRUTH, TRACES, RESAMPLES = 80, 60, 9
NAMES = ("mean completion under fifo", "its change under srpt")


def measured(workload: Workload, seed: int) -> tuple[float, float]:
    """Mean completion under FIFO (s), and how SRPT changes it (%)."""
    fifo, srpt = (
        run_metrics(simulate(workload, CLUSTER, policy, seed=seed))["jct_s"]["mean"] for policy in ("fifo", "srpt")
    )
    return fifo, 100.0 * (srpt / fifo - 1.0)


def main() -> None:
    truth = np.mean([measured(make_workload(SPEC, 1000 + seed), 0) for seed in range(TRUTH)], axis=0)
    covered = [0, 0]
    blocks = []
    for seed in range(TRACES):
        trace = make_workload(SPEC, seed)
        length = block_length_ms(trace, CLUSTER)
        blocks.append(n_blocks_of(trace, length))
        values = {0: measured(trace, 0)}
        values |= {place: measured(resampled(trace, length, place), place) for place in range(1, RESAMPLES + 1)}
        for which in range(2):
            interval = Sampling("blocks", blocks[-1]).estimate({place: pair[which] for place, pair in values.items()})[
                1
            ]
            assert interval is not None
            covered[which] += interval[0] <= truth[which] <= interval[1]
    for name, value, count in zip(NAMES, truth, covered, strict=True):
        print(f"{name}: truth {value:.4g}, inside the interval of {count} of {TRACES} traces")
    print(f"{min(blocks)} to {max(blocks)} blocks, {RESAMPLES} resamples")


if __name__ == "__main__":
    main()
