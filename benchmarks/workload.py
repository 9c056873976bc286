"""The benchmark workload of `heddle bench`, from a seed."""

import numpy as np

from benchmarks.rival import Nodes, Tasks

NODES = Nodes(number=150, vcores=24, memory_mb=65536)


def make(count: int, load: float, seed: int, nodes: Nodes = NODES) -> Tasks:
    """`count` tasks arriving as a Poisson process that asks for `load` of the scarcer resource of `nodes`."""
    draw = np.random.default_rng(seed)
    duration_s = np.clip(draw.lognormal(np.log(100), 1, count), 10, 1000)
    duration_ms = np.rint(duration_s * 1000).astype(np.int64)
    vcores = draw.choice(np.array([1, 2, 4]), count)
    memory_mb = draw.choice(np.array([1, 2, 4, 8]), count) * 1024
    # How long the whole cluster would need for an average task, if it were nothing but that resource.
    vcores_ms = (duration_ms * vcores).mean() / (nodes.number * nodes.vcores)
    memory_ms = (duration_ms * memory_mb).mean() / (nodes.number * nodes.memory_mb)
    gaps_ms = draw.exponential(max(vcores_ms, memory_ms) / load, count)
    submit_ms = np.floor(np.cumsum(gaps_ms)).astype(np.int64)
    return Tasks(submit_ms.tolist(), duration_ms.tolist(), vcores.tolist(), memory_mb.tolist())
