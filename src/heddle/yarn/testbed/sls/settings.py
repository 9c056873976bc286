"""The configuration that a load simulator needs to stand for a cluster of ours: queues, heartbeats, rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final, Literal
from xml.sax.saxutils import quoteattr

from heddle.model.cluster import Calculator, Cluster, Queue
from heddle.model.errors import BadInput
from heddle.model.resources import MEMORY, MILLI, VCORES
from heddle.yarn.testbed.local.configuration import LOG4J, xml_of
from heddle.yarn.testbed.local.layout import HOST

Scheduler = Literal["capacity", "fair"]
# Where a queue says nothing.
RESERVED_INCREMENTS: Final = 1
AM_SHARE_PERMILLE: Final[dict[Scheduler, int]] = {"capacity": 100, "fair": 500}
MAIN_CLASS: Final = "org.apache.hadoop.yarn.sls.appmaster.SchedulerLoad"
NO_LIMIT: Final = 1_000_000  # more than anything here can be
FAIR_POLICY: Final[dict[Calculator, str]] = {"memory": "fair", "dominant": "drf"}  # of the Fair scheduler
_SCHEDULERS: Final = "org.apache.hadoop.yarn.server.resourcemanager.scheduler"
_CALCULATORS: Final = {"memory": "DefaultResourceCalculator", "dominant": "DominantResourceCalculator"}


def write_settings(
    folder: Path,
    cluster: Cluster,
    scheduler: Scheduler,
    heartbeats_ms: tuple[int, int],
    more: Mapping[str, Mapping[str, str]] | None = None,
) -> None:
    """`heartbeats_ms`: of nodes and of AMs. `more`: what else stands in a file, by its name."""
    files = {
        "core-site.xml": {"fs.defaultFS": "file:///", "hadoop.tmp.dir": str(folder / "tmp")},
        "yarn-site.xml": _yarn(folder, cluster, scheduler),
        "capacity-scheduler.xml": _capacity(cluster),
        "sls-runner.xml": {
            "yarn.sls.nm.heartbeat.interval.ms": str(heartbeats_ms[0]),
            "yarn.sls.am.heartbeat.interval.ms": str(heartbeats_ms[1]),
            "yarn.sls.am.type.mapreduce": f"{MAIN_CLASS}$TimedJob",
            "yarn.sls.runner.pool.size": "20",
            "yarn.sls.metrics.switch": "false",  # measures the scheduler itself
        },
    }
    for name, settings in files.items():
        (folder / name).write_text(xml_of({**settings, **(more or {}).get(name, {})}))
    (folder / "fair-scheduler.xml").write_text(_fair(cluster))
    (folder / "log4j.properties").write_text(LOG4J.replace("=INFO,", "=WARN,"))


def _amount(size: tuple[int, ...]) -> str:
    """As the Capacity scheduler reads amounts; nothing where there is none."""
    return f"[memory={size[MEMORY]},vcores={size[VCORES] // MILLI}]" if size else ""


def _yarn(folder: Path, cluster: Cluster, scheduler: Scheduler) -> dict[str, str]:
    at_any_port = f"{HOST}:0"
    most = cluster.off_switch_per_heartbeat
    return {
        **{
            f"yarn.resourcemanager.{what}address": at_any_port
            for what in ("", "scheduler.", "resource-tracker.", "admin.", "webapp.")
        },
        "yarn.resourcemanager.hostname": HOST,
        "yarn.resourcemanager.scheduler.class": f"{_SCHEDULERS}.{scheduler}.{scheduler.capitalize()}Scheduler",
        "yarn.resourcemanager.max-completed-applications": "1000000",
        # SLS switches preemption on; a simulation has it only where the cluster says so.
        "yarn.resourcemanager.monitor.capacity.preemption.observe_only": "true",
        "yarn.scheduler.minimum-allocation-mb": "1",
        "yarn.resource-types.memory-mb.increment-allocation": "1",
        "yarn.scheduler.maximum-allocation-mb": str(max(node.allowance[MEMORY] for node in cluster.nodes)),
        "yarn.scheduler.maximum-allocation-vcores": str(max(node.allowance[VCORES] // MILLI for node in cluster.nodes)),
        "yarn.scheduler.fair.allocation.file": str(folder / "fair-scheduler.xml"),
        "yarn.scheduler.fair.assignmultiple": str(most != 1).lower(),
        "yarn.scheduler.fair.dynamic.max.assign": "false",  # half of what is free: has no counterpart in a simulation
        "yarn.scheduler.fair.max.assign": str(most or -1),
        "yarn.scheduler.fair.preemption": "false",
        # Fair keeps nodes for requests of so many increments that do not fit: of one MB and one vcore, that is for all.
        "yarn.scheduler.reservation-threshold.increment-multiple": str(RESERVED_INCREMENTS),
    }


def _capacity(cluster: Cluster) -> dict[str, str]:
    root = "yarn.scheduler.capacity"
    settings = {
        f"{root}.resource-calculator": f"org.apache.hadoop.yarn.util.resource.{_CALCULATORS[cluster.calculator]}",
        f"{root}.per-node-heartbeat.maximum-offswitch-assignments": str(cluster.off_switch_per_heartbeat or NO_LIMIT),
        f"{root}.node-locality-delay": "-1",
        f"{root}.maximum-am-resource-percent": str(AM_SHARE_PERMILLE["capacity"] / MILLI),
    }
    for queue in cluster.queues:
        own = f"{root}.{queue.name}"
        if children := _children(cluster, queue):
            settings[f"{own}.queues"] = ",".join(child.name.rpartition(".")[2] for child in children)
        if queue.name == "root":
            continue
        settings |= {
            f"{own}.capacity": _amount(queue.guarantee) or str(queue.guarantee_permille / 10),
            f"{own}.maximum-capacity": _amount(queue.maximum) or str(queue.maximum_permille / 10),
            f"{own}.minimum-user-limit-percent": str(queue.user_limit_percent),
            f"{own}.user-limit-factor": str(queue.user_limit_factor_milli / MILLI),
        }
        if queue.am_share_permille >= 0:
            settings[f"{own}.maximum-am-resource-percent"] = str(queue.am_share_permille / MILLI)
        if queue.max_running_jobs >= 0:
            settings[f"{own}.max-parallel-apps"] = str(queue.max_running_jobs)
        if queue.order and not children:
            settings[f"{own}.ordering-policy"] = queue.order
    return settings


def _fair(cluster: Cluster) -> str:
    share = AM_SHARE_PERMILLE["fair"] / MILLI
    return (
        "<?xml version='1.0'?>\n<allocations>\n"
        f"<queueMaxAMShareDefault>{share}</queueMaxAMShareDefault>\n"
        f"<defaultQueueSchedulingPolicy>{FAIR_POLICY[cluster.calculator]}</defaultQueueSchedulingPolicy>\n"
        f"{_fair_queue(cluster, cluster.queues[0])}</allocations>\n"
    )


def _fair_queue(cluster: Cluster, queue: Queue) -> str:
    inside = f"<weight>{queue.weight_milli / MILLI}</weight>" if queue.name != "root" else ""
    if queue.min_share:
        memory_mb, vcores = queue.min_share[MEMORY], queue.min_share[VCORES] // MILLI
        inside += f"<minResources>{memory_mb} mb, {vcores} vcores</minResources>"
    if queue.maximum_permille < MILLI:
        inside += f"<maxResources>{queue.maximum_permille / 10}%</maxResources>"
    if queue.am_share_permille >= 0:
        inside += f"<maxAMShare>{queue.am_share_permille / MILLI}</maxAMShare>"
    if queue.max_running_jobs >= 0:
        inside += f"<maxRunningApps>{queue.max_running_jobs}</maxRunningApps>"
    if queue.order:
        inside += f"<schedulingPolicy>{queue.order}</schedulingPolicy>"
    children = "".join(_fair_queue(cluster, child) for child in _children(cluster, queue))
    return f"<queue name={quoteattr(queue.name.rpartition('.')[2])}>{inside}{children}</queue>\n"


def _children(cluster: Cluster, queue: Queue) -> list[Queue]:
    return [child for child in cluster.queues if child.name.rpartition(".")[0] == queue.name]


def with_queues_of(cluster: Cluster, used: tuple[str, ...]) -> Cluster:
    """The cluster with a queue for each that the workload names; YARN wants shares that add up to 100%."""
    known = {queue.name for queue in cluster.queues}
    missing = [name for name in used if name not in known]
    if missing and (len(missing) > 1 or len(known) > 1):
        raise BadInput.of("--cluster", f"has no queue {', '.join(missing)}: name a file that gives each its share")
    return replace(cluster, queues=(*cluster.queues, *(Queue(name) for name in missing)))
