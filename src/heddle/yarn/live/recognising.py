"""Is there a ResourceManager at this address, and one that is new enough? Asked once, before anything else."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from heddle.model.errors import RunRefused
from heddle.yarn.live.client import ROOT, RmClient
from heddle.yarn.live.rm_answers import Reading, whole
from heddle.yarn.live.wire import YarnError

OLDEST: Final = (
    3,
    3,
)  # before it, nodes cannot be resized over REST and applications do not say when they were launched
_TITLE: Final = re.compile(r"<title>([^<]*)</title>", re.IGNORECASE)
# Where other daemons of Hadoop say who they are.
_OTHERS: Final = {
    "/ws/v1/node/info": "a NodeManager",
    "/ws/v1/history/info": "a MapReduce history server",
    "/ws/v1/applicationhistory/about": "a timeline server",
    "/api/v1/version": "a Spark history server",
}


@dataclass(frozen=True)
class ResourceManager:
    version: str
    started_at_ms: int


def recognise(client: RmClient) -> ResourceManager:
    """What answers there. RunRefused, in one line, where it is no ResourceManager that heddle can work with."""
    try:
        told = client.get(f"{ROOT}/info").get("clusterInfo")
    except YarnError as error:
        if error.status is None:
            raise RunRefused(f"{client.address}: {error.what}") from None
        if error.status in (401, 403):
            raise RunRefused(str(error)) from None
        raise RunRefused(f"{client.address} is not a ResourceManager: {_what_instead(client, error)}") from None
    if not isinstance(told, dict) or not told.get("resourceManagerVersion"):
        raise RunRefused(f"{client.address} is not a ResourceManager: it answers {ROOT}/info with something else")
    version = str(told["resourceManagerVersion"])[:40]
    numbers = tuple(int(part) for part in re.findall(r"\d{1,9}", version)[:2])
    if numbers < OLDEST:
        least = ".".join(map(str, OLDEST))
        raise RunRefused(f"{client.address} is Hadoop {version}: heddle needs a ResourceManager of {least} or newer")
    with Reading(f"{client.address}: clusterInfo"):
        return ResourceManager(version, whole(told.get("startedOn") or 0))


def _what_instead(client: RmClient, error: YarnError) -> str:
    for path, name in _OTHERS.items():
        try:
            client.get(path)
        except YarnError:
            continue
        return f"this is {name}. A ResourceManager's web address usually has the port 8088"
    if error.status != 200:
        return f"there is no {ROOT}/info (HTTP {error.status})"
    title = _TITLE.search(error.text)
    return (
        f"it answers with a web page{f', “{title[1].strip()[:80]}”' if title else ''}"
        if "<" in error.text
        else str(error)
    )
