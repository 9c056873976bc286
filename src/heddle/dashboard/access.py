"""Who may see and ask: the token of the printed link, for everything; for an action, also a request of our own page.

Any page that a person has open can make their browser send requests to 127.0.0.1. It cannot read the token, so it
gets nothing; what every page of ours refuses (other_sites.py) stands before that. There are no cookies: browsers share
those among all ports of a host.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Access:
    """`names`: under which the page may be asked for, beside addresses."""

    names: frozenset[str] = frozenset()
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    def right_token(self, headers: Mapping[str, str]) -> bool:
        kind, _, token = headers.get("authorization", "").partition(" ")
        return kind.lower() == "bearer" and hmac.compare_digest(token.encode(), self.token.encode())

    def own_page(self, headers: Mapping[str, str]) -> bool:
        """Whether our own page has sent it: browsers say so with every POST, and no script can say otherwise."""
        origin = urlsplit(headers.get("origin", ""))
        return (
            origin.scheme in ("http", "https")
            and origin.netloc.lower() == headers.get("host", "").lower()
            and headers.get("sec-fetch-site", "same-origin") == "same-origin"
        )
