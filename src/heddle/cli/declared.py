"""`--declared` and `--network` of `heddle yarn steer`: what no ResourceManager knows of data and links."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from heddle.model.errors import BadInput

if TYPE_CHECKING:
    from heddle.yarn.live.client import RmClient
    from heddle.yarn.live.declared_data import DeclaredData

DeclaredOption = Annotated[
    str | None,
    typer.Option(
        "--declared",
        metavar="WORKLOAD",
        help="Workload that declares what applications read, by their names: for network-aware.",
    ),
]
NetworkOption = Annotated[
    str | None,
    typer.Option(
        "--network",
        metavar="CLUSTER",
        help="With --declared: cluster file with the bandwidth of nodes, by their hosts [default: a local cluster's].",
    ),
]


def say_unknown_hosts(client: RmClient, data: DeclaredData) -> None:
    """A name that is spelt differently would be ignored in silence."""
    from heddle.cli.output import say
    from heddle.yarn.live.declared_data import unknown_hosts
    from heddle.yarn.live.rm_answers import read_nodes

    if unknown := unknown_hosts(data, read_nodes(client.nodes(), client.address)):
        say(f"note: no node is called {', '.join(unknown)}: the input declared there is ignored until one comes")


def declared_data(workload: str | None, network: str | None, rm: str | None, name: str | None) -> DeclaredData | None:
    """None: nothing is declared."""
    from heddle.cli.inputs import workload_for
    from heddle.traces.clusters import load_cluster
    from heddle.yarn.live.declared_data import declared_by_name
    from heddle.yarn.testbed.local.cluster import find_cluster
    from heddle.yarn.testbed.local.declaring import declared_on

    if workload is None:
        if network is not None:
            raise BadInput.of("--network", "only with --declared, which says what is read from where")
        return None
    declared = workload_for(workload)
    if network is None and rm is None:
        return declared_on(find_cluster(name or "local").layout, declared)
    return declared_by_name(declared, load_cluster(network) if network is not None else None)
