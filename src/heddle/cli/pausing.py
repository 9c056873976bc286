"""How `heddle yarn steer` waits for its next step."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from heddle.yarn.live.client import RmClient
    from heddle.yarn.live.steering.between_steps import BetweenSteps
    from heddle.yarn.live.steering.session import Session


class Sleeping:
    """Nothing happens until then."""

    def wait(self, seconds: float) -> None:
        time.sleep(max(0.0, seconds))

    def take_tables(self) -> int:
        return 0


@contextmanager
def pausing(client: RmClient, session: Session, bridge: bool) -> Iterator[Sleeping | BetweenSteps]:
    """With the bridge, requests that come meanwhile are named."""
    if not bridge:
        yield Sleeping()
        return
    from heddle.yarn.live.bridge.endpoint import BridgeEndpoint
    from heddle.yarn.live.bridge.listening import POLL_S, Listening
    from heddle.yarn.live.steering.between_steps import BetweenSteps

    with client.beside(2 * POLL_S) as waiting:
        listening = Listening(BridgeEndpoint(waiting))
        with listening.at_work():
            yield BetweenSteps(session, listening, time)
