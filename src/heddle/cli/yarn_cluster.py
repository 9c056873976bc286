"""Which ResourceManager a command means."""

from __future__ import annotations

import getpass
from typing import TYPE_CHECKING

from heddle.model.errors import BadInput

if TYPE_CHECKING:
    from heddle.yarn.client import RmClient


def address_of(rm: str | None, name: str | None) -> str:
    """What --rm or --name means; a local cluster called `local` if neither was given."""
    from heddle.yarn.local.cluster import find_cluster

    if rm is not None and name is not None:
        raise BadInput.of("--rm", "say either --rm or --name")
    return rm if rm is not None else find_cluster(name or "local").layout.rm


def client_of(rm: str | None, name: str | None, timeout_s: float = 10.0) -> RmClient:
    from heddle.yarn.client import RmClient

    return RmClient(address_of(rm, name), timeout_s=timeout_s, user=getpass.getuser())
