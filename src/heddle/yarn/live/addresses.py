"""Addresses of daemons as people give them."""

from __future__ import annotations

from urllib.parse import urlsplit, urlunsplit

from heddle.model.errors import BadInput


def with_port(given: str, option: str, plain: int, tls: int) -> str:
    """With the port that such daemons have unless told otherwise. BadInput, without what may be a password in it."""
    try:
        parts = urlsplit(given if "//" in given else f"http://{given}")
        port = parts.port
    except ValueError as error:
        why = "" if "@" in given else f" ({error})"  # which may quote it
        raise BadInput.of(option, f"{given.rpartition('@')[2]!r} is no address{why}") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadInput.of(option, f"{given.rpartition('@')[2]!r} is no http(s) address")
    place = (
        parts.netloc if port is not None else f"{parts.netloc.rstrip(':')}:{tls if parts.scheme == 'https' else plain}"
    )
    return urlunsplit((parts.scheme, place, parts.path, "", ""))
