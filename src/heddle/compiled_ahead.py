"""Compiles what a native run needs, into the cache: `python -m heddle.compiled_ahead`, when a wheel is built.

The engine for memory and vcores, every built-in lever, and the loops of the measures. Runs with more kinds of
resources, by knobs, and levers of users compile where they run.
"""

from __future__ import annotations

from heddle.analysis.best_possible.alone import alone_ms
from heddle.analysis.best_possible.bounds import bounds
from heddle.model.resources import BASE_RESOURCES
from heddle.policy.hooks import ready_hook
from heddle.policy.presets import LEVERS
from heddle.policy.question import HOOKS
from heddle.sim.loading import load_engine
from heddle.traces.catalogue import make_workload, suggested_cluster


def main() -> None:
    load_engine(len(BASE_RESOURCES))
    for lever in LEVERS.values():
        for hook in HOOKS[lever.question]:
            ready_hook(lever, hook, len(BASE_RESOURCES))
    workload, cluster = make_workload("mix"), suggested_cluster("mix")
    alone_ms(workload, cluster)
    bounds(workload, cluster)


if __name__ == "__main__":
    main()
