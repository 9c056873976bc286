"""How many connections a page takes at a time, and for how long each may take over a request.

Everybody on this machine can connect to a page of ours. What they hold open is this process's: it must not keep the
controller beside the page from opening its own files.
"""

from __future__ import annotations

import resource
from typing import Final

AT_ONCE: Final = 32
REQUEST_S: Final = 10.0  # from the connection to the last byte of the answer
WAITING: Final = 16  # of those that the system holds for us until we take them
_OF_OUR_FILES: Final = 8


def most_connections() -> int:
    """Fewer where this process may open few files: they get an eighth of those."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return AT_ONCE if files == resource.RLIM_INFINITY else max(1, min(AT_ONCE, files // _OF_OUR_FILES))
