"""What could not be known, and the one setting or option that would make it known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from heddle.check.checked import Checked
from heddle.yarn.observe.remote_tracker import PERIOD


@dataclass(frozen=True)
class Unknown:
    what: str
    tells: str  # what to do to know it


def unknown(checked: Checked, *, history: bool, spark: bool, conf: bool) -> list[Unknown]:
    """`history`, `spark`, `conf`: whether they were given."""
    return list(_unknown(checked, history, spark, conf))


def _unknown(checked: Checked, history: bool, spark: bool, conf: bool) -> Iterator[Unknown]:
    gathered = checked.gathered
    if gathered.mapreduce and not history:
        yield Unknown(f"what the tasks of {gathered.mapreduce:,} MapReduce jobs reserved and used", "--history URL")
    if gathered.spark and not spark:
        yield Unknown(
            f"executors and tasks of {gathered.spark:,} Spark applications",
            "--spark-history URL or FOLDER (with spark.eventLog.enabled=true in spark-defaults.conf)",
        )
    elif gathered.spark > gathered.spark_read and spark:
        less = gathered.spark - gathered.spark_read
        yield Unknown(f"{less:,} Spark applications have no readable event log", "spark.eventLog.enabled=true")
    if not conf and gathered.present.policy == "fair":
        yield Unknown("weights, maxima and AM shares of queues", "--conf FOLDER with the cluster's fair-scheduler.xml")
    elif not conf and any(one.setting.startswith("resource calculator") for one in gathered.present.assumed):
        yield Unknown(
            "the resource calculator and assignments per heartbeat",
            "--conf FOLDER with the cluster's capacity-scheduler.xml",
        )
    if gathered.now.silent:
        yield Unknown(
            f"what containers use on {gathered.now.silent:,} node{'s' if gathered.now.silent > 1 else ''} "
            "(or they have only just started)",
            "yarn.nodemanager.resource-monitor.interval-ms above 0 in their yarn-site.xml",
        )
    if checked.watched is None:
        yield Unknown("what each container used, and how it ended", "--for 30m")
    elif checked.watched.telling[0] < checked.watched.telling[1] or not checked.watched.telling[1]:
        yield Unknown(
            "what each container used on nodes that do not report it", f"{PERIOD}=1000 in their yarn-site.xml"
        )
    for trouble in gathered.troubles[:3]:
        yield Unknown(trouble, "run the same command again once this is mended")


def use_told_by(checked: Checked) -> str:
    """Where figures of use come from."""
    if checked.use_is_measured:
        return "use is per container, as reported by the NodeManagers while heddle watched"
    parts = []
    if checked.gathered.sample:
        parts.append(f"the counters of {len(checked.gathered.sample):,} MapReduce jobs")
    if checked.gathered.spark_read:
        parts.append(f"the event logs of {checked.gathered.spark_read:,} Spark applications")
    share = checked.gathered.now.use.memory
    if share is not None:
        others = "for all others, " if parts else ""
        parts.append(f"{others}what nodes report now: {100 * share:.0f} % of what they have reserved")
    return "use comes from " + ", ".join(parts) if parts else "nothing reports use, so it is unknown"
