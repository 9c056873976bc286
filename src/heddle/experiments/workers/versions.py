"""Which heddle a worker has: before any work, so that no result comes from another one."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from heddle.model.errors import RunRefused
from heddle.model.own_sources import source_digest

_SHOWN: Final = 5


class Version(NamedTuple):
    """The digest tells heddles apart that have the same number; levers that come with it are part of it."""

    heddle: str
    python: str


def version_here() -> Version:
    return Version(source_digest("**/*.py"), ".".join(platform.python_version_tuple()[:2]))


def asking() -> Callable[..., tuple[str, tuple[str, str] | None]]:
    """A function for a worker to call, which may have no heddle: it is sent as code, not by its name.

    It gives the host, and the version or None.
    """

    def ask(*_: object) -> tuple[str, tuple[str, str] | None]:
        import socket

        try:
            from heddle.experiments.workers.versions import version_here

            heddle, python = version_here()
        except ImportError:
            return socket.gethostname(), None
        return socket.gethostname(), (heddle, python)

    return ask


def check_versions(found: Mapping[str, tuple[str, str] | None], wanted: Version) -> None:
    """RunRefused, with every worker that cannot take part and why. `found`: by the name of the worker."""
    problems = []
    for worker, version in sorted(found.items()):
        if version is None:
            problems.append(f"{worker} has no heddle, or an older one")
        elif version[1] != wanted.python:
            problems.append(f"{worker} has Python {version[1]}, not {wanted.python}")
        elif version[0] != wanted.heddle:
            problems.append(f"{worker} has another heddle: sources {version[0]}, not {wanted.heddle}")
    if problems:
        more = f"; and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
        raise RunRefused(f"{'; '.join(problems[:_SHOWN])}{more}. Install there the heddle that starts the runs")
