"""The knobs of a ResourceManager: sizes of nodes, settings of queues, queues and priorities of applications."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any, Final

from heddle.model.resources import MEMORY, MILLI, VCORES
from heddle.policy.lever import Question
from heddle.policy.policy import Policy
from heddle.yarn.live.applying.standing import GUARANTEE, LEAVES, PRIORITIES, SIZES, Standing, changes_at_once
from heddle.yarn.live.applying.wanted import HIGHEST_PRIORITY, has_opinion, pool_leaves
from heddle.yarn.live.client import OK, RmClient
from heddle.yarn.live.rm_answers import read_app, read_apps, read_nodes
from heddle.yarn.live.snapshot import Snapshot
from heddle.yarn.live.things_seen import AppSeen, QueueSeen, Size
from heddle.yarn.live.wire import YarnError

PREFIX: Final = "yarn.scheduler.capacity"
_PRIORITIES: Final = "yarn.cluster.max-application-priority"
_STORE: Final = "yarn.scheduler.configuration.store.class"
_MONITOR: Final = "yarn.resourcemanager.scheduler.monitor.enable"
_FAIR_PREEMPTION: Final = "yarn.scheduler.fair.preemption"


class RmKnobs:
    """Every read asks the ResourceManager anew, but for applications that have ended: they stay so."""

    def __init__(self, client: RmClient) -> None:
        self._client = client
        self._ended: set[str] = set()

    def read(self, names: Standing) -> Standing:
        client = self._client
        nodes = read_nodes(client.nodes(), client.address) if names.sizes else {}
        apps = self._apps({*names.leaves, *names.priorities})
        settings = self._settings(names) if names.queues else {}
        return Standing(
            sizes={name: nodes[name].total for name in names.sizes if name in nodes and nodes[name].resizable},
            queues={
                queue: {key: settings.get(f"{PREFIX}.{queue}.{key}") for key in of_queue}
                for queue, of_queue in names.queues.items()
            },
            priorities={name: apps[name].priority for name in names.priorities if name in apps},
            leaves={name: apps[name].queue for name in names.leaves if name in apps},
        )

    def _settings(self, names: Standing) -> Mapping[str, str]:
        """All of the scheduler's. A queue always has a guarantee: an answer that leaves one out is not whole."""
        settings = self._client.scheduler_settings()
        for queue, of_queue in names.queues.items():
            if GUARANTEE in of_queue and f"{PREFIX}.{queue}.{GUARANTEE}" not in settings:
                raise YarnError(self._client.address, f"its settings lack the {GUARANTEE} of {queue}", OK)
        return settings

    def _apps(self, names: Set[str]) -> dict[str, AppSeen]:
        """Those of these that have not ended. One that the list leaves out is asked for by its id."""
        if not names:
            return {}
        client = self._client
        apps = read_apps(client.apps(), client.address)
        for name in sorted(names - apps.keys() - self._ended):
            if app := read_app(client.app(name), client.address):
                apps[name] = app
            else:
                self._ended.add(name)
        return apps

    def requests(self, what: str, values: Mapping[str, Any]) -> Iterable[Standing]:
        return changes_at_once(what, values)

    def held(self, nodes: Iterable[str]) -> dict[str, Size]:
        there = read_nodes(self._client.nodes(), self._client.address)
        return {name: there[name].allocated for name in nodes if name in there and there[name].resizable}

    def set(self, change: Standing) -> None:
        for node, size in change.sizes.items():
            self._client.resize_node(node, size[MEMORY], size[VCORES] // MILLI)
        if change.queues:
            self._client.change_queues(change.queues)
        for app, queue in change.leaves.items():
            self._client.move(app, queue)
        for app, priority in change.priorities.items():
            self._client.set_priority(app, priority)


def shown_by(snapshot: Snapshot) -> dict[str, Mapping[str, Any]]:
    """Where the knobs stand that a poll has just reported: sizes of nodes that may be resized, all of applications."""
    return {
        SIZES: {node.id: node.total for node in snapshot.nodes.values() if node.resizable},
        LEAVES: {app.id: app.queue for app in snapshot.apps.values()},
        PRIORITIES: {app.id: app.priority for app in snapshot.apps.values()},
    }


def may_preempt(client: RmClient) -> bool:
    """Whether YARN takes containers from queues that hold more than they are due. What it does not tell counts as yes.

    The Capacity scheduler's setting has a default, so that every ResourceManager that shows its settings knows it; it
    may have been changed live. The Fair scheduler's has none.
    """
    try:
        told = client.setting(_MONITOR), client.setting(_FAIR_PREEMPTION) or "false"
    except YarnError as error:
        if error.status is None:
            raise
        return True
    try:
        live = client.scheduler_settings().get(_MONITOR, "false")
    except YarnError as error:
        if error.status is None:
            raise
        live = "false"  # it cannot be changed live, or is not ours to see: then what it began with is all we know
    return any(value != "false" for value in (*told, live))


def missing_knobs(client: RmClient, policy: Policy, queues: tuple[QueueSeen, ...], bridge: bool = False) -> str:
    """Which knobs that the policy turns this YARN does not have, and what would give it them; empty: it has them.

    `bridge`: it has that, which needs no priorities.
    """
    levers = policy.by_question
    missing = []
    if has_opinion(levers[Question.ADMISSION]) or has_opinion(levers[Question.PARTITION]):
        try:
            client.scheduler_settings()
        except YarnError as error:
            missing.append(
                f"queues cannot be changed live ({error}): it needs the Capacity scheduler and, in yarn-site.xml,"
                f" {_STORE}=memory"
            )
    if has_opinion(levers[Question.ORDERING]) and not bridge and not _most_priority(client):
        missing.append(f"applications have no priorities: set {_PRIORITIES} to {HIGHEST_PRIORITY} in yarn-site.xml")
    pools = pool_leaves(policy)
    below_root = {queue.name for queue in queues if queue.name.count(".") == 1}
    if pools and below_root != set(pools):
        missing.append(
            f"{levers[Question.PARTITION].name} shares the cluster between {' and '.join(pools)}: exactly these"
            f" must be the queues below root in capacity-scheduler.xml (there are {', '.join(sorted(below_root))})"
        )
    if pools and may_preempt(client):
        missing.append(
            f"{levers[Question.PARTITION].name} changes the shares of queues, and a YARN that preempts would kill"
            f" containers of the queue that gets less: set {_MONITOR} to false in yarn-site.xml"
        )
    return "; ".join(missing)


def _most_priority(client: RmClient) -> int:
    try:
        return int(client.setting(_PRIORITIES) or 0)
    except (YarnError, ValueError):  # an RM that does not show its configuration
        return 0
