"""`heddle yarn up|down|status|logs`: a real YARN on this machine."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from heddle.cli.output import DONE, FAILED, Json, print_json, print_line, print_lines, print_tables, say, table
from heddle.model.errors import BadInput

if TYPE_CHECKING:
    from heddle.yarn.testbed.local.cluster import LocalCluster

Name = Annotated[str, typer.Option("--name", help="Name of the local cluster; several can run side by side.")]


def up(
    name: Name = "local",
    nodes: Annotated[int, typer.Option(help="Number of NodeManagers.")] = 3,
    node_memory_mb: Annotated[int, typer.Option(help="Memory that each may allocate.")] = 4096,
    node_vcores: Annotated[int, typer.Option(help="Vcores that each may allocate.")] = 8,
    hadoop: Annotated[str, typer.Option(help="Version of Hadoop; 3.4.2 is the tested one.")] = "3.4.2",
    scheduler: Annotated[Literal["capacity", "fair"], typer.Option(help="YARN's scheduler.")] = "capacity",
    am_share: Annotated[float, typer.Option(help="Share of the cluster that application masters may hold.")] = 0.5,
    port: Annotated[int, typer.Option(help="First of a block of ports; the ResourceManager's web port.")] = 8088,
    queue: Annotated[
        list[str] | None,
        typer.Option(help="NAME=PERCENT: a queue below root (capacity); repeatable [default: default=100]."),
    ] = None,
    hosts: Annotated[
        bool, typer.Option("--hosts", help="Each NodeManager in a network namespace with an address (needs root).")
    ] = False,
    link_mbit: Annotated[int, typer.Option(help="With --hosts: rate of each node's link, each way; 0: unlimited.")] = 0,
    pair_mbit: Annotated[
        list[str] | None, typer.Option(help="With --hosts: 0-1=20, the rate between two nodes, each way; repeatable.")
    ] = None,
    preemption: Annotated[
        bool,
        typer.Option(
            "--preemption", help="Let queues reclaim their guarantees by preemption, within seconds (capacity)."
        ),
    ] = False,
    bridge: Annotated[
        bool, typer.Option("--bridge", help="Its ResourceManager lets `steer` decide request by request (capacity).")
    ] = False,
    json: Json = False,
) -> int:
    """Start a real YARN on this machine and wait until it is healthy.

    Needs Linux, Java 17 and, the first time, Maven, which fetches Hadoop's jars. It listens on 127.0.0.1 only, but for
    MapReduce's shuffle; with --hosts on addresses of its own. What it promises is not checked against what this machine
    has: containers share it.

    \b
    Examples:
      heddle yarn up
      heddle yarn up --name second --nodes 2 --node-memory-mb 2048 --port 9088
      heddle yarn up --queue pool-0=90 --queue pool-1=10
      heddle yarn up --hosts --link-mbit 100 --pair-mbit 0-1=20
      heddle yarn up --bridge
    """
    from heddle.yarn.testbed.local.cluster import bring_up
    from heddle.yarn.testbed.local.layout import Layout

    queues = tuple(_queue(text) for text in queue) if queue else Layout.queues
    layout = Layout(
        nodes, node_memory_mb, node_vcores, hadoop, scheduler, am_share, port, queues, hosts, link_mbit,
        preemption=preemption, bridge=bridge, pairs=tuple(_pair(text) for text in pair_mbit or ()),
    )  # fmt: skip
    cluster = bring_up(name, layout, say)
    _show([cluster], json)
    return DONE


def _queue(text: str) -> tuple[str, int]:
    name, equals, percent = text.partition("=")
    if not equals or not name.replace("-", "").replace("_", "").isalnum() or not percent.isdigit():
        raise BadInput.of("--queue", f"write NAME=PERCENT, such as pool-0=90, not {text!r}")
    return name, int(percent)


def _pair(text: str) -> tuple[int, int, int]:
    found = re.fullmatch(r"(\d+)-(\d+)=(\d+)", text)
    if found is None:
        raise BadInput.of("--pair-mbit", f"write NODE-NODE=MBIT, such as 0-1=20, not {text!r}")
    return int(found[1]), int(found[2]), int(found[3])


def links(name: Name = "local", json: Json = False) -> int:
    """Show how many bytes each node of a cluster with --hosts has sent to each other node.

    \b
    Example:
      heddle yarn links --name second
    """
    from heddle.yarn.testbed.local.cluster import find_cluster
    from heddle.yarn.testbed.local.namespaces import sent_bytes

    cluster = find_cluster(name)
    if not cluster.layout.hosts:
        raise BadInput.of("--name", f"nodes of {name!r} have no links of their own: it was started without --hosts")
    sent = sent_bytes(cluster.folder, cluster.layout)
    if json:
        print_json({"links": [{"from": one, "to": other, "bytes": count} for (one, other), count in sent.items()]})
        return DONE
    nodes = range(cluster.layout.nodes)
    rows = [
        (f"node {one}", *(f"{sent.get((one, to), 0) / 1e6:.1f}" if to != one else "" for to in nodes)) for one in nodes
    ]
    print_tables([table(("MB sent by", *(f"to node {node}" for node in nodes)), rows, title=f"links of {name}")])
    return DONE


def down(name: Name = "local", json: Json = False) -> int:
    """Stop a local cluster, whatever its state, and remove its folder.

    \b
    Example:
      heddle yarn down --name second
    """
    from heddle.yarn.testbed.local.cluster import take_down
    from heddle.yarn.testbed.local.folders import cluster_folder

    there = cluster_folder(name).exists()
    ended = take_down(name)
    if json:
        print_json({"name": name, "processes_ended": ended})
    elif ended or there:
        say(f"cluster {name!r} is down: {ended} processes ended, folder removed")
    else:
        say(f"there was no cluster {name!r}")
    return DONE


def status(
    name: Annotated[str | None, typer.Option("--name", help="Only this cluster [default: all].")] = None,
    json: Json = False,
) -> int:
    """Show local clusters, their addresses and their daemons. Exit code 1 if one is not healthy.

    \b
    Example:
      heddle yarn status --json
    """
    from heddle.yarn.testbed.local.cluster import find_cluster
    from heddle.yarn.testbed.local.folders import cluster_names

    clusters = [find_cluster(each) for each in ([name] if name else cluster_names())]
    healthy = _show(clusters, json)
    return DONE if healthy else FAILED


def logs(
    daemon: Annotated[
        str | None, typer.Argument(help="resourcemanager, nodemanager-0, ..., historyserver [default: list them].")
    ] = None,
    name: Name = "local",
    lines: Annotated[int, typer.Option(min=1, help="Number of lines to print.")] = 40,
) -> int:
    """Print the end of a daemon's log.

    \b
    Examples:
      heddle yarn logs
      heddle yarn logs nodemanager-0 --lines 100
    """
    from heddle.yarn.testbed.local.cluster import find_cluster

    cluster = find_cluster(name)
    if daemon is None:
        for role in cluster.roles():
            print_line(f"{role} {cluster.log(role)}")
        return DONE
    if daemon not in cluster.roles():
        raise BadInput.of("DAEMON", f"there is no {daemon!r}; there are: {', '.join(cluster.roles())}")
    log = cluster.log(daemon)
    text = log.read_text(errors="replace").splitlines() if log.exists() else []
    print_lines("\n".join(text[-lines:]))
    return DONE


def _show(clusters: list[LocalCluster], json: bool) -> bool:
    """Prints what there is; whether all of it is healthy."""
    found: list[dict[str, Any]] = []
    for cluster in clusters:
        health = cluster.health()
        layout = cluster.layout
        found.append(
            {
                "name": cluster.name, "rm": layout.rm, "history": layout.history,
                "node_urls": [layout.node_url(node) for node in range(layout.nodes)],
                "folder": str(cluster.folder), **layout.as_json(), **health,
            }
        )  # fmt: skip
    if json:
        print_json({"clusters": found})
    elif not found:
        say("no local cluster; `heddle yarn up` starts one")
    else:
        for cluster, one in zip(clusters, found, strict=True):
            rows = [
                ("healthy", "yes" if one["healthy"] else "no"),
                ("ResourceManager", one["rm"]),
                ("history server", one["history"]),
                ("nodes", f"{one['nodes_running'] or 0} of {one['nodes']} running, {one['node_memory_mb']} MB"
                          f" and {one['node_vcores']} vcores each"),
                ("Hadoop", f"{one['hadoop']}, {one['scheduler']} scheduler"),
                *(_network_rows(cluster) if cluster.layout.hosts else ()),
                ("folder", one["folder"]),
                *((role, f"pid {pid}" if pid else "not running") for role, pid in one["daemons"].items()),
            ]  # fmt: skip
            print_tables([table(("", ""), rows, title=f"cluster {one['name']}")])
    return all(one["healthy"] for one in found)


def _network_rows(cluster: LocalCluster) -> list[tuple[str, str]]:
    from heddle.yarn.testbed.local.namespaces import namespace_of

    layout = cluster.layout
    rate = f"{layout.link_mbit} Mbit/s each way" if layout.link_mbit else "not limited"
    where = [f"{namespace_of(cluster.folder, node)} at {layout.node_host(node)}" for node in range(layout.nodes)]
    return [("namespaces", ", ".join(where)), ("links", rate)]
