"""How `heddle yarn steer` waits for its next step."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from heddle.cli.yarn_cluster import client_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from heddle.yarn.live.steering.between_steps import BetweenSteps
    from heddle.yarn.live.steering.session import Session


class Sleeping:
    """Nothing happens until then."""

    def wait(self, seconds: float) -> None:
        time.sleep(max(0.0, seconds))

    def take_tables(self) -> int:
        return 0


@contextmanager
def pausing(rm: str | None, name: str | None, session: Session, bridge: bool) -> Iterator[Sleeping | BetweenSteps]:
    """With the bridge, requests that come meanwhile are named."""
    if not bridge:
        yield Sleeping()
        return
    from heddle.yarn.live.bridge.endpoint import BridgeEndpoint
    from heddle.yarn.live.bridge.listening import POLL_S, Listening
    from heddle.yarn.live.steering.between_steps import BetweenSteps

    with client_of(rm, name, timeout_s=2 * POLL_S) as client:
        listening = Listening(BridgeEndpoint(client))
        with listening.at_work():
            yield BetweenSteps(session, listening, time)
