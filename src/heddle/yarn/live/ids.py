"""The ids that YARN gives, and nothing else: they become parts of addresses, of files' names and of tables."""

from __future__ import annotations

import re
from typing import Any, Final

CONTAINER_ID: Final = re.compile(
    r"container_(?:e(?P<epoch>\d+)_)?(?P<cluster>\d+)_(?P<app>\d+)_(?P<attempt>\d+)_(?P<number>\d+)", re.ASCII
)
_APPLICATION_ID: Final = re.compile(r"application_\d+_\d+", re.ASCII)
_ATTEMPT_ID: Final = re.compile(r"appattempt_\d+_\d+_\d+", re.ASCII)
_NODE_ID: Final = re.compile(r"[\w.:\[\]-]+:\d+", re.ASCII)  # a host's name or address, and its port
_JOB_ID: Final = re.compile(r"job(_\d+_\d+)", re.ASCII)
_TASK_ID: Final = re.compile(r"task_\d+_\d+_[mr]_\d+", re.ASCII)


def application_id(value: Any) -> str:
    return _found(_APPLICATION_ID, value, "application")[0]


def application_of_job(value: Any) -> str:
    """MapReduce's history server calls an application by the id of its job."""
    return "application" + _found(_JOB_ID, value, "job")[1]


def attempt_id(value: Any) -> str:
    return _found(_ATTEMPT_ID, value, "attempt")[0]


def node_id(value: Any) -> str:
    return _found(_NODE_ID, value, "node")[0]


def task_id(value: Any) -> str:
    return _found(_TASK_ID, value, "task")[0]


def container_name(value: Any) -> re.Match[str]:
    """The parts of a container's id."""
    return _found(CONTAINER_ID, value, "container")


def _found(pattern: re.Pattern[str], value: Any, what: str) -> re.Match[str]:
    found = pattern.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise ValueError(f"{value!r:.80} is no {what} id")
    return found
