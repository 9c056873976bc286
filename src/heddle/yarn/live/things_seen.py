"""Single things as one look at a cluster shows them: nodes, applications, containers, queues."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from heddle.model.resources import MILLI
from heddle.yarn.live.kinds import MAPS_ALONE, Kinds

IN_SERVICE: Final = ("NEW", "RUNNING", "DECOMMISSIONING")

Size = tuple[int, int]  # memory in MB, vcores in millicores


@dataclass(frozen=True)
class NodeSeen:
    """A node as the RM reports it. Cores used are the machine's; its containers' are counted in its current vcores."""

    id: str
    host: str
    rack: str
    state: str
    label: str
    total: Size
    allocated: Size
    used_memory_mb: int
    physical_cores_used: float
    containers_memory_mb: int
    container_vcores_used: float
    http: str = ""  # where its NodeManager answers
    memory_share: float | None = None  # of the machine's memory in use; None: not told
    cpu_share: float | None = None  # of the machine's cores in use; None: not told

    @property
    def machine_memory_mb(self) -> int | None:
        """What the machine has, whatever of it may be promised; None: not told."""
        return round(self.used_memory_mb / self.memory_share) if self.memory_share else None

    @property
    def alive(self) -> bool:
        return self.state in IN_SERVICE

    @property
    def resizable(self) -> bool:
        """The RM itself shrinks a node that is being decommissioned."""
        return self.state == "RUNNING"


@dataclass(frozen=True)
class Ask:
    """Containers of one kind that an application waits for."""

    priority: int
    size: Size
    containers: int
    # YARN's allocationRequestIds: each is a request of its own. Only the bridge asks for them.
    allocations: tuple[int, ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class AppSeen:
    """An application that waits or runs."""

    id: str
    queue: str
    user: str
    running: bool  # its AM has registered; before, what it waits for is the AM
    priority: int
    started_at_ms: int  # the RM's clock
    has_am: bool
    attempt: str  # "" before the first attempt
    asks: tuple[Ask, ...]
    submitted_to: str = ""  # the queue that it came to, if we have moved it
    kinds: Kinds = MAPS_ALONE
    name: str = ""  # as its user submitted it
    type: str = ""  # MAPREDUCE, SPARK, ...
    am: str = field(default="", compare=False)  # its AM's container, to read the answers about it by; "": not told


@dataclass(frozen=True)
class ContainerSeen:
    """A container that holds its reservation."""

    id: str
    app: str
    node: str
    priority: int
    size: Size
    is_am: bool


@dataclass(frozen=True)
class QueueSeen:
    """A queue of the Capacity scheduler. Shares are permille of the cluster; amounts are None where not told."""

    name: str
    guarantee_permille: int
    maximum_permille: int
    user_limit_percent: int = 100
    user_limit_factor_milli: int = MILLI
    max_running_jobs: int = -1
    guarantee: Size | None = None
    maximum: Size | None = None
    guaranteed: float | None = None  # the share of unlabelled nodes that it is due, as exactly as the RM says it
    used: Size | None = None  # all that it holds, wherever
    am_share_permille: int = -1  # as it was found; -1: not told
    found_permille: tuple[int, int] | None = None  # guarantee and maximum before we set them; None: as they are
    preempts_within: bool = False  # YARN may take from one of its applications what another waits for, by priority
