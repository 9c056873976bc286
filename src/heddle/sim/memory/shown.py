"""What levers see of the engine's memory: the view's tables (model/view.py has their columns) at time 0."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from heddle.model.view import view_dtypes
from heddle.model.workload import JOB, STAGE
from heddle.sim.memory.declaring import Array, Table, fixed, of_run, one
from heddle.sim.memory.run_inputs import RunInputs
from heddle.sim.memory.sizes import Sizes


def _seen(
    name: str,
    per: Callable[[Sizes], int],
    fill: Callable[[RunInputs, Array], None] | None = None,
    fixed: bool = False,
    **initial: Any,
) -> tuple[str, Table]:
    """Columns that are not named are 0."""

    def dtype(n_resources: int) -> np.dtype[Any]:
        found: np.dtype[Any] = getattr(view_dtypes(n_resources), name)
        return found

    return name, Table(dtype, per, initial=initial, fill=fill, fixed=fixed)


def _queues(run: RunInputs, rows: Array) -> None:
    run.trees.fill(rows, run.counted)


SHOWN: Final[dict[str, Table]] = dict(
    [
        _seen(
            "clock",
            one,
            seed=of_run(lambda run: run.seed),
            allowance=of_run(lambda run: run.total_allowance),
            total=of_run(lambda run: run.total_allowance),
            root_total=of_run(lambda run: run.trees.allowance[0]),
            increment=of_run(lambda run: run.cluster.increment),
            report_ms=of_run(lambda run: run.cluster.timing.usage_report_ms),
            counts=of_run(lambda run: run.counted),
            exclusive=of_run(lambda run: run.exclusive),
            labels_apart=of_run(lambda run: run.by_label),
        ),
        _seen(
            "node",
            lambda n: n.nodes,
            capacity=of_run(lambda run: [node.capacity for node in run.cluster.nodes]),
            allowance=of_run(lambda run: run.node_allowances),
            total=of_run(lambda run: run.node_allowances),
            rack=of_run(lambda run: run.racks),
            label=of_run(lambda run: run.labels),
            reported_at_ms=-1,
            first_container=-1,
            reserved_for=-1,
            alive=1,
        ),
        _seen("queue", lambda n: n.queues, fill=_queues),
        _seen(
            "member",
            lambda n: n.members,
            queue=of_run(lambda run: run.trees.once_for_each(run.members.queue, len(run.queues.names))),
            user=of_run(lambda run: run.trees.once_for_each(run.members.user)),
        ),
        _seen("pool", lambda n: n.pools),
        _seen("shape", lambda n: n.shapes, fixed=True, demand=of_run(lambda run: run.workload.shapes)),
        _seen("container", lambda n: n.slots, stage=-1),
        ("job_spec", fixed(JOB, lambda run: run.workload.jobs)),
        _seen(
            "job",
            lambda n: n.jobs,
            arrived_at_ms=-1,
            number=of_run(lambda run: run.numbers.job),
            queue=of_run(lambda run: run.members.leaf_of_job[0]),
            member=of_run(lambda run: run.members.of_job[0]),
            priority=of_run(lambda run: run.workload.jobs["priority"]),
        ),
        ("stage_spec", fixed(STAGE, lambda run: run.workload.stages)),
        _seen(
            "stage",
            lambda n: n.stages,
            asked_at_ms=-1,
            queue=of_run(lambda run: run.leaf_of_stage),
            member=of_run(lambda run: run.member_of_stage),
        ),
    ]
)
