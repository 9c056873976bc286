"""The bridge's endpoint inside a ResourceManager: how it stands, tables put and taken away, requests that come."""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from heddle.model.access import read_by_others
from heddle.model.errors import BadInput
from heddle.yarn.live.bridge.table import MOST_BYTES, Table
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.wire import YarnError

PATH: Final = "/ws/v1/heddle/bridge"
_NOT_FOUND: Final = 404


@dataclass(frozen=True)
class BridgeState:
    """What a ResourceManager with the bridge says of it."""

    build: str  # of which sources its jar was made
    instance: str  # of the ResourceManager: another one after each start
    active: bool
    needs_secret: bool
    last_version: int
    table: int | None  # the version that holds now
    off: str  # why it has turned itself off; "": it has not
    told: dict[str, Any]  # everything, as it was told


class BridgeEndpoint:
    """`secret`: what tables are signed with, where the ResourceManager wants that. `now_s`: the time on the wall."""

    def __init__(self, client: RmClient, secret: str = "", now_s: Callable[[], float] = time.time) -> None:
        self._client, self._secret, self._now_s = client, secret, now_s
        self._instance, self._version = "", 0

    def state(self, standby: bool = False) -> BridgeState | None:
        """Of the active one; `standby`: of whichever this is. None: this ResourceManager has no bridge."""
        try:
            told = self._client.get(PATH, **({"standby": "true"} if standby else {}))
        except YarnError as error:
            if error.status == _NOT_FOUND:
                return None
            raise
        try:
            table = told["table"]
            state = BridgeState(
                build=str(told["build"]),
                instance=str(told["instance"]),
                active=bool(told["active"]),
                needs_secret=bool(told["needs_secret"]),
                last_version=int(told["last_version"]),
                table=None if table is None else int(table["version"]),
                off=str(told["off"]),
                told=told,
            )
        except (KeyError, TypeError, ValueError) as error:
            raise YarnError(self._client.address + PATH, f"the answer cannot be read ({error!r})") from None
        self._instance = state.instance
        self._version = max(self._version, state.last_version)
        return state

    def put(self, table: Table, lease_ms: int, hold_ms: int = 0, patience_ms: int = 60_000) -> int:
        """The version under which it holds from now on. YarnError where it is refused."""
        version = self._next_version()
        text = table.text(version, lease_ms, hold_ms, patience_ms)
        if len(text.encode()) > MOST_BYTES:
            raise YarnError(
                self._client.address + PATH, f"a table of {len(text)} characters is more than the bridge reads"
            )
        self._change("PUT", "", version, text)
        return version

    def drop(self) -> None:
        """Stock order from now on."""
        self._change("DELETE", "", self._next_version(), "")

    def turn_on(self) -> None:
        """Again, after it has turned itself off."""
        self._change("POST", "/on", self._next_version(), "")

    def requests_after(self, number: int, wait_s: float) -> dict[str, Any]:
        """Requests that came after this one, as soon as there is one. Waits, so it needs a client of its own."""
        return self._client.get(f"{PATH}/requests", after=str(number), wait_ms=str(round(1000 * wait_s)))

    def allocations_after(self, number: int) -> list[dict[str, Any]]:
        """What leaves with the bridge have given out, in the scheduler's own order."""
        found: list[dict[str, Any]] = self._client.get(f"{PATH}/allocations", after=str(number))["allocations"]
        return found

    def _next_version(self) -> int:
        if not self._instance:
            self.state()
        self._version += 1
        return self._version

    def _change(self, method: str, what: str, version: int, body: str) -> None:
        try:
            self._client.send(method, PATH + what, body, self.signed(method, what, version, body))
        except YarnError:
            self._instance = ""  # it may be another one by now, with other versions
            raise

    def signed(self, method: str, what: str, version: int, body: str) -> dict[str, str]:
        """The headers that prove who sends this, and that it was not sent before."""
        headers = {"X-Heddle-Version": str(version)}
        if self._secret:
            time_ms = round(1000 * self._now_s())
            said = f"{method} {PATH}{what}\n{self._instance}\n{version}\n{time_ms}\n{body}"
            signature = hmac.new(self._secret.encode(), said.encode(), hashlib.sha256).hexdigest()
            headers |= {"X-Heddle-Time": str(time_ms), "X-Heddle-Signature": signature}
        return headers


def read_secret(file: Path) -> str:
    """What `bridge install` has written, or `up --bridge`; as the ResourceManager, not from a file that others read."""
    try:
        if read_by_others(file):
            raise BadInput.of(str(file), "others than its owner can read the bridge's secret: chmod 600")
        return file.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput.of(str(file), f"the bridge's secret cannot be read: {error}") from None
