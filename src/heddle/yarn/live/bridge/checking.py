"""Which ResourceManagers of a cluster have the bridge, and what can work there at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from heddle.model.errors import RunRefused
from heddle.yarn.live.bridge.endpoint import BridgeEndpoint, BridgeState
from heddle.yarn.live.bridge.leaves import ORDERING, bridged_leaves
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.pace import Pace
from heddle.yarn.live.wire import YarnError

STORE: Final = "yarn.scheduler.configuration.store.class"
_IDS: Final = "yarn.resourcemanager.ha.rm-ids"
_HA: Final = "yarn.resourcemanager.ha.enabled"
_WEB_PORTS: Final = {"webapp": 8088, "webapp.https": 8090}
_SCHEDULER: Final = "yarn.resourcemanager.scheduler.class"
_OLDEST: Final = (3, 4)
_KEEPS: Final = {"memory": False, "zk": True, "fs": True, "leveldb": True}  # what is switched, over a restart
_STOCK: Final = "ordering-policy.stock"
_ORDER: Final = "ordering-policy"


@dataclass(frozen=True)
class RmSeen:
    """One ResourceManager: how its bridge stands; None: it has none, or does not answer (`problem`)."""

    address: str
    bridge: BridgeState | None
    problem: str = ""


@dataclass(frozen=True)
class Checked:
    """All ResourceManagers of one cluster."""

    build: str  # of the jar that this heddle makes
    rms: tuple[RmSeen, ...]
    hadoop: str
    store: str  # of the scheduler's configuration
    leaves: frozenset[str]  # that ask the bridge
    impossible: str  # why none of this can work here; "": it can

    @property
    def missing(self) -> list[str]:
        """What keeps leaves from being switched, in words. A failover to one without the jar would lose the cluster."""
        wrong = [self.impossible] if self.impossible else []
        for rm in self.rms:
            if rm.bridge is None:
                wrong.append(f"{rm.address} {rm.problem or 'does not have the bridge'}")
            elif rm.bridge.build != self.build:
                wrong.append(f"{rm.address} has build {rm.bridge.build} of the bridge, not {self.build}")
        return wrong

    @property
    def keeps_switches(self) -> bool | None:
        """Whether a leaf that is switched live stays so over a restart; None: it cannot be switched live."""
        return _KEEPS.get(self.store)

    def about_store(self) -> str:
        if self.keeps_switches is None:
            return (
                f"{STORE} is {self.store}: leaves cannot be switched live; set {_ORDER} in capacity-scheduler.xml"
                " and restart the ResourceManager"
            )
        what = "keeps" if self.keeps_switches else "forgets"
        return f"{STORE} is {self.store}: the ResourceManager {what} over a restart which leaves were switched live"


def check(client: RmClient, user: str | None, build: str, timeout_s: float = 10.0) -> Checked:
    """Asks every ResourceManager, standbys too. `client`: of the active one, or of all."""
    about = client.get("/ws/v1/cluster/info").get("clusterInfo") or {}
    hadoop, scheduler = str(about.get("hadoopVersion", "")), client.setting(_SCHEDULER) or ""
    return Checked(
        build=build,
        rms=tuple(_seen(address, user, timeout_s) for address in addresses(client)),
        hadoop=hadoop,
        store=client.setting(STORE) or "file",
        leaves=bridged_leaves(client.scheduler(), client.address),
        impossible=_impossible(hadoop, scheduler),
    )


def addresses(client: RmClient) -> list[str]:
    """Of all ResourceManagers of the cluster, by its own configuration; without failover, those that were given."""
    given = client.address.split(",")
    ids = [one.strip() for one in (client.setting(_IDS) or "").split(",") if one.strip()]
    if (client.setting(_HA) or "false") != "true" or not ids:
        return given
    tls = given[0].startswith("https")
    kind = "webapp.https" if tls else "webapp"
    found = []
    for one in ids:
        host = client.setting(f"yarn.resourcemanager.hostname.{one}")
        web = client.setting(f"yarn.resourcemanager.{kind}.address.{one}") or (
            f"{host}:{_WEB_PORTS[kind]}" if host else ""
        )
        if not web:
            raise RunRefused(f"{_IDS} names {one}, but no setting says where it is: give all addresses with --rm")
        found.append(f"{'https' if tls else 'http'}://{web}")
    return found


def _seen(address: str, user: str | None, timeout_s: float) -> RmSeen:
    with RmClient(address, timeout_s=timeout_s, user=user, pace=Pace()) as client:
        try:
            return RmSeen(address, BridgeEndpoint(client).state(standby=True))
        except YarnError as error:
            if (
                error.status is not None and 300 <= error.status < 400
            ):  # a standby sends on what it does not know itself
                return RmSeen(address, None)
            return RmSeen(address, None, f"does not tell: {error}")


def _impossible(hadoop: str, scheduler: str) -> str:
    if "CapacityScheduler" not in scheduler:
        what = scheduler.rpartition(".")[2] or "its scheduler"
        return f"{what} never asks our classes: only the Capacity scheduler does"
    numbers = [int(part) for part in hadoop.split(".")[:2] if part.isdigit()]
    if len(numbers) == 2 and tuple(numbers) < _OLDEST:
        return f"Hadoop {hadoop} asks our classes only for applications that name them themselves; 3.4 does for all"
    return ""


def switch_on(client: RmClient, checked: Checked, leaves: list[str]) -> None:
    """Makes leaves ask the bridge, live. What they order by now stays what they fall back to."""
    _refuse_switching(checked)
    if checked.missing:
        raise RunRefused(f"no leaf is switched: {'; '.join(checked.missing)}")
    orders = _orders(client, leaves)
    strange = [f"{leaf} orders by {order}" for leaf, order in orders.items() if order not in ("fifo", "fair", ORDERING)]
    if strange:
        raise RunRefused(f"the bridge falls back to fifo or fair only: {'; '.join(strange)}")
    changes = {leaf: {_ORDER: ORDERING, _STOCK: order} for leaf, order in orders.items() if order != ORDERING}
    if changes:
        client.change_queues(changes)


def switch_off(client: RmClient, checked: Checked, leaves: list[str]) -> None:
    """Back to what they ordered by before."""
    _refuse_switching(checked)
    settings = client.scheduler_settings()
    prefix = "yarn.scheduler.capacity"
    changes = {
        leaf: {_ORDER: settings.get(f"{prefix}.{leaf}.{_STOCK}", "fifo"), _STOCK: None}
        for leaf in leaves
        if leaf in checked.leaves
    }
    if changes:
        client.change_queues(changes)


def _refuse_switching(checked: Checked) -> None:
    if checked.keeps_switches is None:
        raise RunRefused(checked.about_store())


def _orders(client: RmClient, leaves: list[str]) -> dict[str, str]:
    settings = client.scheduler_settings()
    return {leaf: settings.get(f"yarn.scheduler.capacity.{leaf}.{_ORDER}", "fifo") for leaf in leaves}
