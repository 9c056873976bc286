"""The configuration files of a local cluster.

Each NodeManager has a folder of its own, since ports and folders differ; the masters and all clients share one. What is
set away from Hadoop's defaults is set for one machine, for seeing use each second, and for being steered live.
"""

from __future__ import annotations

import getpass
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from xml.sax.saxutils import escape

from heddle.yarn.live.bridge.leaves import ORDERING
from heddle.yarn.testbed.local.java import JVM_FLAGS
from heddle.yarn.testbed.local.layout import HOST, Layout

SMALLEST_CONTAINER_MB: Final = 64
NODE_LOST_AFTER_MS: Final = 60_000
TASK_JVM: Final = " ".join((*JVM_FLAGS, "-Xmx200m"))
# What NodeManagers hand on to containers. The last is how `down` finds what a killed NodeManager left running.
MARK: Final = "HEDDLE_YARN_CLUSTER"
HANDED_ON: Final = (
    "JAVA_HOME", "HADOOP_COMMON_HOME", "HADOOP_HDFS_HOME", "HADOOP_CONF_DIR", "HADOOP_YARN_HOME",
    "HADOOP_MAPRED_HOME", "PATH", "LANG", "TZ", "JAVA_TOOL_OPTIONS", MARK,
)  # fmt: skip
HOSTS_FILE: Final = "hosts"
# YARN's own figures are for large clusters and patient people: there a queue waits for minutes.
_PREEMPTION: Final = "yarn.resourcemanager.monitor.capacity.preemption"
_PREEMPTING_SOON: Final = {
    f"{_PREEMPTION}.monitoring_interval": "1000",
    f"{_PREEMPTION}.max_wait_before_kill": "2000",
    f"{_PREEMPTION}.total_preemption_per_round": "1.0",
    f"{_PREEMPTION}.max_ignored_over_capacity": "0.0",
    f"{_PREEMPTION}.natural_termination_factor": "1.0",
}
LOG4J: Final = """log4j.rootLogger=INFO,console
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.target=System.err
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=%d{ISO8601} %p %c{2}: %m%n
"""


def conf_folder(folder: Path) -> Path:
    return folder / "conf"


def node_conf_folder(folder: Path, node: int) -> Path:
    return folder / f"conf-node{node}"


def write_configuration(folder: Path, layout: Layout) -> None:
    _write(conf_folder(folder), folder, layout, {}, {})
    _write_hosts(conf_folder(folder), layout, layout.master_host)
    for node in range(layout.nodes):
        write_node_configuration(folder, layout, node)


def write_node_configuration(folder: Path, layout: Layout, node: int) -> None:
    """Of one NodeManager; also of one that joins later."""
    shuffle = {"mapreduce.shuffle.port": str(layout.node_port(node, "shuffle"))}
    into = node_conf_folder(folder, node)
    _write(into, folder, layout, _of_node(folder, layout, node), shuffle)
    _write_hosts(into, layout, layout.node_host(node))


def java_options(conf: Path, layout: Layout) -> dict[str, str]:
    """What the environment of a Java must hold to find hosts; containers inherit it from their NodeManager."""
    return {"JAVA_TOOL_OPTIONS": f"-Djdk.net.hosts.file={conf / HOSTS_FILE}"} if layout.hosts else {}


def _write_hosts(into: Path, layout: Layout, own: str) -> None:
    """Names as this host sees them: its own leads to the address that others reach it at, and addresses stand for
    themselves, so that what YARN calls a node can be reached from anywhere on this machine.
    """
    if not layout.hosts:
        return
    addresses = [layout.master_host, *(layout.node_host(node) for node in range(layout.nodes))]
    lines = [f"{address} {address}" for address in addresses]
    # The first name of an address is what it is called.
    (into / HOSTS_FILE).write_text("\n".join([*lines, f"{own} {socket.gethostname()}", f"{HOST} localhost"]) + "\n")


def _write(into: Path, folder: Path, layout: Layout, yarn: Mapping[str, str], mapred: Mapping[str, str]) -> None:
    into.mkdir()
    files = {
        "core-site.xml": _core(folder),
        "yarn-site.xml": {**_yarn(folder, layout), **yarn},
        "mapred-site.xml": {**_mapred(folder, layout), **mapred},
        "capacity-scheduler.xml": _capacity(layout),
    }
    for name, settings in files.items():
        (into / name).write_text(xml_of(settings))
    (into / "fair-scheduler.xml").write_text(
        f"<?xml version='1.0'?><allocations><queueMaxAMShareDefault>{layout.am_share}</queueMaxAMShareDefault>"
        "<defaultQueueSchedulingPolicy>drf</defaultQueueSchedulingPolicy></allocations>\n"
    )
    (into / "log4j.properties").write_text(LOG4J)


def _core(folder: Path) -> dict[str, str]:
    return {
        "fs.defaultFS": "file:///",
        "hadoop.tmp.dir": str(folder / "tmp"),
        "hadoop.http.staticuser.user": getpass.getuser(),
        "hadoop.prometheus.endpoint.enabled": "true",
    }


def _yarn(folder: Path, layout: Layout) -> dict[str, str]:
    def at(what: str) -> str:
        return f"{layout.master_host}:{layout.master_port(what)}"

    package = "org.apache.hadoop.yarn.server.resourcemanager"
    scheduler = f"{package}.scheduler.{layout.scheduler}.{layout.scheduler.capitalize()}Scheduler"
    return {
        "yarn.resourcemanager.hostname": layout.master_host,
        "yarn.resourcemanager.address": at("client"),
        "yarn.resourcemanager.scheduler.address": at("scheduler"),
        "yarn.resourcemanager.resource-tracker.address": at("tracker"),
        "yarn.resourcemanager.admin.address": at("admin"),
        "yarn.resourcemanager.webapp.address": at("web"),
        "yarn.resourcemanager.scheduler.class": scheduler,
        # Applications survive a restart of the ResourceManager.
        "yarn.resourcemanager.recovery.enabled": "true",
        "yarn.resourcemanager.store.class": f"{package}.recovery.FileSystemRMStateStore",
        "yarn.resourcemanager.fs.state-store.uri": (folder / "rm-state").as_uri(),
        "yarn.nm.liveness-monitor.expiry-interval-ms": str(NODE_LOST_AFTER_MS),
        # Nodes of one host are told apart by their ports.
        "yarn.scheduler.include-port-in-node-name": "true",
        "yarn.scheduler.minimum-allocation-mb": str(SMALLEST_CONTAINER_MB),
        "yarn.resource-types.memory-mb.increment-allocation": str(SMALLEST_CONTAINER_MB),
        "yarn.scheduler.maximum-allocation-mb": str(layout.node_memory_mb),
        "yarn.scheduler.maximum-allocation-vcores": str(layout.node_vcores),
        "yarn.scheduler.configuration.store.class": "memory",  # queues can be changed live, until a restart
        "yarn.resourcemanager.scheduler.monitor.enable": str(layout.preemption).lower(),
        **(_PREEMPTING_SOON if layout.preemption else {}),
        "yarn.scheduler.fair.assignmultiple": "true",
        "yarn.cluster.max-application-priority": "10",
        "yarn.nodemanager.resource.memory-mb": str(layout.node_memory_mb),
        "yarn.nodemanager.resource.cpu-vcores": str(layout.node_vcores),
        "yarn.nodemanager.resource-monitor.interval-ms": "1000",
        "yarn.nodemanager.container-monitor.interval-ms": "1000",
        "yarn.nodemanager.container-metrics.period-ms": "1000",
        "yarn.nodemanager.vmem-check-enabled": "false",
        # A disk that is nearly full is this machine's ordinary state, not a reason to refuse work.
        "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage": "99.9",
        "yarn.nodemanager.aux-services": "mapreduce_shuffle",
        "yarn.nodemanager.env-whitelist": ",".join(HANDED_ON),
        "yarn.log-aggregation-enable": "false",
    }


def _of_node(folder: Path, layout: Layout, node: int) -> dict[str, str]:
    def at(what: str) -> str:
        return f"{layout.node_host(node)}:{layout.node_port(node, what)}"

    return {
        "yarn.nodemanager.hostname": layout.node_host(node),
        "yarn.nodemanager.address": at("node"),
        "yarn.nodemanager.localizer.address": at("localizer"),
        "yarn.nodemanager.webapp.address": at("web"),
        "yarn.nodemanager.collector-service.address": at("collector"),
        "yarn.nodemanager.local-dirs": str(folder / f"node{node}" / "local"),
        "yarn.nodemanager.log-dirs": str(folder / f"node{node}" / "logs"),
    }


def _mapred(folder: Path, layout: Layout) -> dict[str, str]:
    return {
        "mapreduce.framework.name": "yarn",
        "mapreduce.jobhistory.address": f"{layout.master_host}:{layout.master_port('history')}",
        "mapreduce.jobhistory.webapp.address": f"{layout.master_host}:{layout.master_port('history_web')}",
        "mapreduce.jobhistory.admin.address": f"{layout.master_host}:{layout.master_port('history_admin')}",
        "mapreduce.jobhistory.move.interval-ms": "1000",
        "yarn.app.mapreduce.am.staging-dir": str(folder / "staging"),
        "yarn.app.mapreduce.am.resource.mb": "512",
        "yarn.app.mapreduce.am.command-opts": TASK_JVM,
        "mapreduce.map.memory.mb": "512",
        "mapreduce.reduce.memory.mb": "512",
        "mapred.child.java.opts": TASK_JVM,
        "mapreduce.task.io.sort.mb": "50",
        "mapreduce.cluster.local.dir": str(folder / "tmp" / "mapred"),
    }


def _capacity(layout: Layout) -> dict[str, str]:
    root = "yarn.scheduler.capacity"
    return {
        f"{root}.resource-calculator": "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator",
        f"{root}.maximum-am-resource-percent": str(layout.am_share),
        f"{root}.root.queues": ",".join(name for name, _ in layout.queues),
        **{f"{root}.root.{name}.capacity": str(percent) for name, percent in layout.queues},
        **{f"{root}.root.{name}.maximum-capacity": "100" for name, _ in layout.queues},
        **{f"{root}.root.{name}.user-limit-factor": "100" for name, _ in layout.queues},
        **({f"{root}.root.{name}.ordering-policy": ORDERING for name, _ in layout.queues} if layout.bridge else {}),
        f"{root}.node-locality-delay": "-1",
        # By default one container that may run anywhere for each heartbeat of a node: 1 a second.
        f"{root}.per-node-heartbeat.maximum-offswitch-assignments": "100",
    }


def xml_of(settings: Mapping[str, str]) -> str:
    """A configuration file as Hadoop reads it."""
    lines = [
        f"<property><name>{escape(name)}</name><value>{escape(value)}</value></property>"
        for name, value in settings.items()
    ]
    return "<?xml version='1.0'?>\n<configuration>\n" + "\n".join(lines) + "\n</configuration>\n"
