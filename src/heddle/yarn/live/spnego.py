"""Kerberos over HTTP (SPNEGO), for ResourceManagers that ask for it; needs the extra `kerberos`.

Who we are comes from the user's ticket cache and from nowhere else: no password, key or token is ever in an argument, a
log or a record. A server that knows us gives a signed cookie, which is sent until it is no longer accepted.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any, Final

from heddle.model.errors import RunRefused
from heddle.model.extras import how_to_install

_SPNEGO: Final = "1.3.6.1.5.5.2"
COOKIE: Final = "hadoop.auth="


def wants_kerberos(status: int, challenge: str) -> bool:
    return status == 401 and challenge.strip().lower().startswith("negotiate")


def proof_for(host: str) -> str:
    """The Authorization header that shows a web server on this host who we are. RunRefused says what is missing."""
    gssapi = _library()
    service = gssapi.Name(f"HTTP@{host}", gssapi.NameType.hostbased_service)
    try:
        context = gssapi.SecurityContext(name=service, usage="initiate", mech=gssapi.OID.from_int_seq(_SPNEGO))
        token = context.step()
    except gssapi.exceptions.GSSError as error:
        why = " ".join(str(error).split())
        raise RunRefused(f"no Kerberos ticket for HTTP/{host} is available ({why}); run kinit") from None
    return "Negotiate " + base64.b64encode(token).decode()


def cookie_in(headers: Iterable[str]) -> str | None:
    """The server's signed cookie among Set-Cookie headers; None: it gave none."""
    given = [header.partition(";")[0] for header in headers if header.startswith(COOKIE)]
    return next((cookie for cookie in given if cookie.removeprefix(COOKIE).strip('"')), None)


def _library() -> Any:
    try:
        import gssapi
    except (ImportError, OSError) as error:  # OSError: Kerberos itself is not installed
        raise RunRefused(
            f"it requires Kerberos (SPNEGO), which needs: {how_to_install('kerberos')} ({error})"
        ) from None
    return gssapi
