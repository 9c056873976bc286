"""What one look at a cluster tells, in columns: one row for a thing, numbers for names (names.py).

Both hosts fill these: the REST client from answers, the simulated YARN from the engine's memory.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

NOT_TOLD: Final = -1  # an amount; of shares it is NaN
_SIZE: Final = (np.int64, (2,))  # memory in MB, vcores in millicores

NODE: Final = np.dtype(
    [
        ("node", np.int64), ("total", *_SIZE), ("allocated", *_SIZE), ("used_memory_mb", np.int64),
        ("physical_cores_used", np.float64), ("containers_memory_mb", np.int64), ("container_vcores_used", np.float64),
        ("memory_share", np.float64), ("cpu_share", np.float64), ("host", np.int64), ("rack", np.int64),
        ("state", np.int64), ("label", np.int64), ("http", np.int64), ("alive", np.int64),
        ("shares_host", np.int64),  # with other nodes
    ],
    align=True,
)  # fmt: skip
APP: Final = np.dtype(
    [
        ("app", np.int64), ("number", np.int64), ("started_at_ms", np.int64), ("queue", np.int64), ("user", np.int64),
        ("running", np.int64), ("priority", np.int64), ("has_am", np.int64), ("attempt", np.int64),
        ("first_ask", np.int64), ("n_asks", np.int64),
        ("submitted_to", np.int64),  # the queue that it came to
        ("iterative", np.int64),
        ("name", np.int64), ("type", np.int64),  # words
    ],
    align=True,
)  # fmt: skip
_KIND: Final = (("early", np.int64), ("iteration", np.int64))  # as far as the application tells it (kinds.py)
ASK: Final = np.dtype([("priority", np.int64), ("size", *_SIZE), ("containers", np.int64), *_KIND], align=True)
CONTAINER: Final = np.dtype(
    [
        ("container", np.int64), ("app", np.int64), ("attempt", np.int64), ("number", np.int64), ("node", np.int64),
        ("priority", np.int64), ("size", *_SIZE), ("is_am", np.int64), *_KIND,
    ],
    align=True,
)  # fmt: skip
QUEUE: Final = np.dtype(
    [
        ("queue", np.int64), ("guarantee_permille", np.int64), ("maximum_permille", np.int64),
        ("user_limit_percent", np.int64), ("user_limit_factor_milli", np.int64), ("max_running_jobs", np.int64),
        ("guarantee", *_SIZE), ("maximum", *_SIZE), ("guaranteed", np.float64), ("used", *_SIZE),
        ("am_share_permille", np.int64),  # as it was found
        ("found_permille", np.int64, (2,)),  # guarantee and maximum before we set them
        ("preempts_within", np.int64),
    ],
    align=True,
)  # fmt: skip
ENDED: Final = np.dtype([("app", np.int64), ("well", np.int64)], align=True)

# A stage that a workload declares of an application, before it asks for anything (declared_rows.py).
STAGE: Final = np.dtype(
    [
        ("priority", np.int64), ("size", *_SIZE), ("n_tasks", np.int64), ("n_after", np.int64),
        ("slow_start_permille", np.int64), ("iteration", np.int64),
    ],
    align=True,
)  # fmt: skip

Rows = npt.NDArray[Any]


class Columns(NamedTuple):
    """The asks of an application stand side by side."""

    nodes: Rows
    apps: Rows
    asks: Rows
    containers: Rows
    queues: Rows
    ended: Rows


def no_rows() -> Columns:
    return Columns(*(np.zeros(0, dtype) for dtype in (NODE, APP, ASK, CONTAINER, QUEUE, ENDED)))
