"""What the commands for a live YARN share: which ResourceManager they mean, and how they are told to end."""

from __future__ import annotations

import getpass
import signal
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heddle.model.errors import BadInput
from heddle.yarn.live.pace import CALLS_PER_S

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from heddle.yarn.live.client import RmClient

Rm = Annotated[
    str | None,
    typer.Option(
        "--rm", help="Address of a ResourceManager, or several separated by commas [default: a local cluster's]."
    ),
]
MaxCalls = Annotated[
    int,
    typer.Option(
        "--max-calls-per-s",
        min=1,
        help="Maximum calls per second to the ResourceManager; a step that needs more takes longer.",
    ),
]
MAX_CALLS = CALLS_PER_S
Name = Annotated[str | None, typer.Option("--name", help="A cluster of `heddle yarn up` [default: local].")]


def address_of(rm: str | None, name: str | None) -> str:
    """What --rm or --name means; a local cluster called `local` if neither was given."""
    from heddle.yarn.testbed.local.cluster import find_cluster

    if rm is not None and name is not None:
        raise BadInput.of("--rm", "use either --rm or --name")
    return rm if rm is not None else find_cluster(name or "local").layout.rm


def client_of(
    rm: str | None, name: str | None, timeout_s: float = 10.0, max_calls_per_s: int | None = MAX_CALLS
) -> RmClient:
    """`max_calls_per_s`: None: no limit, for a cluster of our own."""
    from heddle.yarn.live.client import RmClient
    from heddle.yarn.live.pace import Pace

    pace = None if max_calls_per_s is None else Pace(max_calls_per_s)
    return RmClient(address_of(rm, name), timeout_s=timeout_s, user=getpass.getuser(), pace=pace)


class Stretched:
    """Says when --max-calls-per-s makes steps longer than they should be, and again when one is twice as long."""

    def __init__(self, client: RmClient, every_s: float, say: Callable[[str], None]) -> None:
        self._client, self._every_s, self._say = client, every_s, say
        self._said_s = every_s
        self._calls = 0
        self._began_s = time.monotonic()

    def begin(self) -> None:
        self._began_s = time.monotonic()
        self._calls = 0 if self._client.pace is None else self._client.pace.calls

    def end(self) -> None:
        pace, took_s = self._client.pace, time.monotonic() - self._began_s
        if pace is None or not pace.take_waited_s() or took_s < 2 * self._said_s:
            return
        self._said_s = took_s
        self._say(
            f"a step took {took_s:.0f} s instead of {self._every_s:g} s: it needs {pace.calls - self._calls} calls, and"
            f" --max-calls-per-s allows {pace.calls_per_s} a second"
        )


def secret_of(file: Path | None, rm: str | None, name: str | None) -> str:
    """The bridge's secret: from a file, or a local cluster's own; "" where there is none."""
    from heddle.yarn.live.bridge.endpoint import read_secret
    from heddle.yarn.testbed.bridge.settings import SECRET_NAME
    from heddle.yarn.testbed.local.cluster import find_cluster

    if file is None and rm is None:
        cluster = find_cluster(name or "local")
        file = cluster.bridge / SECRET_NAME if cluster.layout.bridge else None
    return read_secret(file) if file is not None else ""


@contextmanager
def until_told() -> Iterator[list[int]]:
    """A list that fills when the process is asked to end, so that it can still write or put back what it must."""
    told: list[int] = []
    before = {number: signal.signal(number, lambda n, _: told.append(n)) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield told
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def interruptible() -> Iterator[None]:
    """Being told to end is an interrupt, by whatever signal: what was started must be ended too.

    A shell that starts a program in the background lets it ignore Ctrl-C, and SIGTERM ends Python without a word.
    """

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
