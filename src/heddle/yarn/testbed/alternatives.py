"""What a trial compares: YARN left alone or steered by a policy, on one of the local clusters.

stock                     YARN as it was started
stock(order=fair)         its leaf queues order applications by fair shares meanwhile (Capacity)
haste                     steered by this policy
choose(weave)             steered by this policy at first, then by whichever one the twin chooses
stock@second              on the cluster that `heddle yarn up --name second` started
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from heddle.model.errors import BadInput
from heddle.yarn.live.client import RmClient

STOCK: Final = ("stock", "stock again")  # twice, to see how much two equal things differ
ORDERS: Final = ("fifo", "fair")
_ORDERED: Final = re.compile(r"stock\(\s*order\s*=\s*([a-z]+)\s*\)")
_CHOOSING: Final = re.compile(r"choose\((.+)\)")
_ORDER_SETTING: Final = "ordering-policy"


@dataclass(frozen=True)
class Alternative:
    """`policy`: None: YARN is left alone. `order`: of its leaves; None: as they are. `cluster`: None: the trial's.

    `chooses`: the policy is only the first.
    """

    policy: str | None
    order: str | None = None
    cluster: str | None = None
    chooses: bool = False

    @property
    def simulated_as(self) -> str:
        """The policy of a simulation of it; `stock` is what the cluster runs."""
        if self.policy is not None:
            return self.policy
        return STOCK[0] if self.order is None else f"capacity+leaf-order(default={self.order})"


def alternative(text: str) -> Alternative:
    what, _, cluster = (part.strip() for part in text.partition("@"))
    if what in STOCK:
        return Alternative(None, None, cluster or None)
    if ordered := _ORDERED.fullmatch(what):
        if ordered[1] not in ORDERS:
            raise BadInput.of("--policy", f"a leaf orders by {' or '.join(ORDERS)}, not {ordered[1]!r}")
        return Alternative(None, ordered[1], cluster or None)
    if choosing := _CHOOSING.fullmatch(what):
        return Alternative(choosing[1].strip(), None, cluster or None, chooses=True)
    return Alternative(what, None, cluster or None)


@contextmanager
def ordering_by(order: str | None, client: RmClient, leaves: set[str]) -> Iterator[None]:
    """The leaves order their applications so meanwhile; then as they were found."""
    if order is None:
        yield
        return
    settings = client.scheduler_settings()
    found = {leaf: settings.get(f"yarn.scheduler.capacity.{leaf}.{_ORDER_SETTING}") for leaf in sorted(leaves)}
    client.change_queues({leaf: {_ORDER_SETTING: order} for leaf in found})
    try:
        yield
    finally:
        client.change_queues({leaf: {_ORDER_SETTING: before} for leaf, before in found.items()})
