"""Pages that a controller offers answer people and Prometheus, not web sites that somebody has open in a browser.

A site can let its own name point at this machine (DNS rebinding): the browser then sends requests here and lets the
site read the answers. Such a request names the site in `Host`. A request across sites names it in `Origin`, or says
`Sec-Fetch-Site: cross-site`. A link on another site may be followed: what opens then, that site cannot read.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Mapping
from email.message import Message
from typing import Final
from urllib.parse import urlsplit

KEPT_TO_OURSELVES: Final = {
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def own_names(bound_to: str) -> frozenset[str]:
    """By which names a page on this machine may be asked for; by its addresses it always may."""
    machine = socket.gethostname().lower()
    return frozenset({"localhost", bound_to.lower(), machine, machine.partition(".")[0]})


def why_refused(headers: Message | Mapping[str, str], names: frozenset[str]) -> str | None:
    """Why a request is not answered; None: it is. No site can have an address as its name, so those do no harm."""
    host = headers.get("Host")
    asked_for = host_name(host or "").rstrip(".")
    if not asked_for:
        return "the request does not say which host it is for"
    if asked_for not in names and not is_address(asked_for):
        return f"not offered as {asked_for!r}: ask by address, or as {', '.join(sorted(names))}"
    origin = headers.get("Origin")
    if origin is not None and urlsplit(origin).netloc.lower() != (host or "").lower():
        return "pages of other sites may not read this"
    if headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin") and not _follows_link(headers):
        return "pages of other sites may not read this"
    return None


def _follows_link(headers: Message | Mapping[str, str]) -> bool:
    """In a window of its own, rather than in a frame of the other site's."""
    return (headers.get("Sec-Fetch-Mode"), headers.get("Sec-Fetch-Dest")) == ("navigate", "document")


def host_name(host: str) -> str:
    """Of what a request says in `Host`, the name or address without the port, in small letters; empty: neither."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:  # brackets that hold no address
        return ""


def is_address(name: str) -> bool:
    """An address cannot be made to point elsewhere, as a name can."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
